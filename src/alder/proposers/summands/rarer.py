"""Shapes of which there are too many to compare all: those that promise most are kept."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Const, Expr, Param, Var
from alder.proposers.summands.building import (
    FEW,
    is_positive,
    largest_of,
    maybe_times,
    of,
    over,
    plus,
    scales_of,
    square,
    times,
)
from alder.proposers.summands.terms import Term

MANY = 8
"""Their level."""
_MOST_MULTIPLIED = 3  # columns beyond which these shapes are not multiplied by a column
_STEEPNESSES = (0.7, 1.5, 3.0, 6.0)  # of a function of a sum, over the spread of the columns
_DIRECTIONS = tuple(np.pi * turn for turn in (0.1, 0.25, 0.4, 0.6, 0.75, 0.9))
_POWERS = (-1.5, -0.5, 0.5, 1.5)
_HILL_POWERS = (1.5, 2.5)  # from where the others are found
_BEFORE = (1.1, 1.6, 3.0)  # times the largest number: where a root may end
_BENDINGS = (0.1, 0.4, 1.5)  # of an exponential's exponent over the column
_PACES = (0.3, 1.0, 3.0, 9.0)  # of an exponential over the size of the column
_FINE_PACES = (0.3, 0.6, 1.0, 1.7, 3.0, 5.0, 9.0)
_SHARES = (0.05, 0.3, 1.5)  # of the size of a column: half of a saturation
_MIDDLES, _WIDTHS = (0.1, 0.3, 0.5, 0.7, 0.9), (0.2, 0.6, 2.0)  # quantiles; standard deviations

_Rows: TypeAlias = Mapping[str, FloatArray]
_Numbers: TypeAlias = tuple[float, ...]
_K, _W = Param("k"), Param("w")


def rarer(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield roots and powers of sums, slowed exponentials, hills of any power, bells; products."""
    for name in columns:
        factors = [None, *(map(Var, columns) if len(columns) <= _MOST_MULTIPLIED else ())]
        alone = [
            *_roots_to(Var(name), rows[name], allowed),
            *_bells(Var(name), rows[name], allowed),
        ]
        multiplied = [
            *_roots_from(Var(name), rows[name], allowed),
            *_slowed(Var(name), rows[name], allowed),
            *_any_hills(Var(name), rows[name], allowed),
        ]
        yield from (Term(shape, MANY, numbers) for shape, numbers in alone)
        for factor, (shape, numbers) in product(factors, multiplied):
            yield Term(maybe_times(factor, shape), MANY, numbers)
    yield from _saturating_twice(columns, allowed, rows)
    yield from _summed(columns, allowed, rows)


def _roots_from(x: Var, column: FloatArray, allowed: set[str]) -> Iterator[tuple[Expr, _Numbers]]:
    """Yield powers and logarithms of a quantity, or its square, and a number."""
    few = scales_of(column)[FEW]
    if "powp" in allowed:
        bases = [(plus(_K, square(x)), 2.0)]
        if is_positive(column):
            bases.append((plus(_K, x), 1.0))
        for (base, power), scale, p in product(bases, few, _POWERS):
            yield of("powp", base, _W), (scale**power, p)
        if not is_positive(column) and "abs" in allowed:
            yield from ((times(x, of("powp", of("abs", x), _K)), (p,)) for p in (-0.5, 0.5))
    if "log" in allowed and is_positive(column):
        yield from ((of("log", plus(_K, x)), (scale,)) for scale in few)


def _roots_to(x: Var, column: FloatArray, allowed: set[str]) -> Iterator[tuple[Expr, _Numbers]]:
    """Yield powers that end where a quantity, or its square, reaches a number."""
    if not {"powp", "sub"} <= allowed:
        return
    size = float(np.abs(column).max()) or 1.0
    for share, p in product(_BEFORE, _POWERS):
        yield of("powp", of("sub", _K, square(x)), _W), (share * size**2, p)
        if is_positive(column):
            yield of("powp", of("sub", _K, x), _W), (share * size, p)


def _slowed(x: Var, column: FloatArray, allowed: set[str]) -> Iterator[tuple[Expr, _Numbers]]:
    """Yield Arrhenius's exponentials: of x/(k + w x), of either sign, and of -k/x."""
    if not {"exp", "div"} <= allowed or not is_positive(column):
        return
    size = largest_of(column)
    slowed = over(x, plus(_K, times(_W, x)))
    for pace, bending in product(_PACES, _BENDINGS):
        yield of("exp", slowed), (size / pace, bending / pace)
        yield of("exp", of("neg", slowed)), (size / pace, bending / pace)
    if (column > 0.0).all():
        yield from ((of("exp", of("neg", over(_K, x))), (pace * size,)) for pace in _FINE_PACES)


def _any_hills(x: Var, column: FloatArray, allowed: set[str]) -> Iterator[tuple[Expr, _Numbers]]:
    if {"div", "powp"} <= allowed and (column > 0.0).all():
        hill = over(Const(1.0), plus(_K, of("powp", x, _W)))
        for scale, power in product(scales_of(column)[FEW], _HILL_POWERS):
            yield hill, (scale**power, power)


def _bells(x: Var, column: FloatArray, allowed: set[str]) -> Iterator[tuple[Expr, _Numbers]]:
    if not {"exp", "sub"} <= allowed:
        return
    bell = of("exp", of("neg", times(_K, square(of("sub", x, _W)))))
    for middle, share in product(np.quantile(column, _MIDDLES).tolist(), _WIDTHS):
        width = share * float(np.std(column)) or 1.0
        yield bell, (0.5 / width**2, middle or width)


def _saturating_twice(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield what saturates in one quantity and saturates, or is inhibited, in another."""
    positive = [name for name in columns if is_positive(rows[name])]
    if "div" not in allowed or not 1 < len(positive) <= _MOST_MULTIPLIED + 1:
        return
    for one, other in combinations(positive, 2):
        x, y = Var(one), Var(other)
        below = times(plus(_K, x), plus(_W, y))
        numbers = [
            (a * largest_of(rows[one]), b * largest_of(rows[other]))
            for a, b in product(_SHARES, _SHARES)
        ]
        others = [Var(name) for name in positive if name not in (one, other)]
        for above in (x, y, times(x, y)):
            for factor, pair in product((None, *others), numbers):
                yield Term(maybe_times(factor, over(above, below)), MANY, pair)


def _summed(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield functions of a sum of two columns, in several directions and at several scales."""
    v = Param("v")
    for one, other in combinations(columns, 2):
        x, y = rows[one], rows[other]
        unit, its = float(np.std(x)) or 1.0, float(np.std(y)) or 1.0
        inside = plus(times(_W, Var(one)), times(v, Var(other)))
        functions = [f for f in ("exp", "tanh", "sin", "cos") if f in allowed]
        for steep, turn, sign in product(_STEEPNESSES, _DIRECTIONS, (1.0, -1.0)):
            a, b = steep * np.cos(turn) / unit, steep * np.sin(turn) / its
            if "exp" in functions and sign < 0.0:
                yield Term(of("exp", inside), MANY, (-a, -b))
                continue
            yield from (Term(of(f, inside), MANY, (a, b)) for f in functions)
            if {"div", "exp"} <= allowed:
                step = over(Const(1.0), plus(_K, of("exp", inside)))
                for middle in np.quantile(a * x + b * y, (0.2, 0.5, 0.8)).tolist():
                    yield Term(step, MANY, (float(np.exp(np.clip(middle, -30.0, 30.0))), a, b))
