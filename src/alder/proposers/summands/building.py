"""Trees of terms, and the sizes at which numbers inside of them begin."""

from collections.abc import Sequence

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Var
from alder.expr.operators import operator

N_SCALES = 14
"""Inside a shape, from a column's smallest numbers to beyond its largest."""
BEYOND = 4.0
"""Times the largest numbers."""
_SMALLEST = 0.02  # times the same
FEW = slice(2, None, 3)
"""Of the scales, where a comparison costs more."""


def scales_of(column: FloatArray) -> list[float]:
    """Return sizes from a column's small numbers to beyond its large ones."""
    largest = largest_of(column)
    return np.geomspace(_SMALLEST * largest, BEYOND * largest, N_SCALES).tolist()


def largest_of(column: FloatArray) -> float:
    """Return the size of a column, without its few largest numbers."""
    return float(np.quantile(np.abs(column), 0.95)) or 1.0


def is_positive(column: FloatArray) -> bool:
    """Say whether a column has no negative numbers but those of noise."""
    return bool((column > -1e-9 * largest_of(column)).all())


def monomial(names: Sequence[str]) -> Expr:
    """Return a product of columns; those that repeat have powers."""
    found: Expr = Const(1.0)
    for name in dict.fromkeys(names):
        count = names.count(name)
        factor: Expr = Var(name) if count == 1 else of("pow", Var(name), Const(float(count)))
        found = factor if isinstance(found, Const) else times(found, factor)
    return found


def of(name: str, *arguments: Expr) -> Apply:
    """Apply an operator."""
    return Apply(operator(name), arguments)


def times(left: Expr, right: Expr) -> Expr:
    """Multiply two trees."""
    return of("mul", left, right)


def maybe_times(factor: Expr | None, shape: Expr) -> Expr:
    """Multiply by a factor, if there is one."""
    return shape if factor is None else times(factor, shape)


def square(x: Expr) -> Expr:
    """Square a tree."""
    return of("pow", x, Const(2.0))


def plus(left: Expr, right: Expr) -> Expr:
    """Add two trees."""
    return of("add", left, right)


def over(left: Expr, right: Expr) -> Expr:
    """Divide one tree by another."""
    return of("div", left, right)
