"""Shapes of two variables: arithmetic of both, equal functions once, then functions of that."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Expr, Param, Var, variables
from alder.expr.operators import Floors
from alder.proposers.search.growth import EXPONENTS, functions, power, shifted_down
from alder.proposers.search.shapes import Shape, evaluate_grid, op

_OPERATORS = ("add", "sub", "mul", "div")
# How much the second variable of a sum weighs, in units of the ratio of the two.
_WEIGHTS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
# Values of trees that agree to this share of the largest are equal: the rest is rounding.
_ROUNDING = 1e-9


def pairs(
    names: tuple[str, str],
    columns: Mapping[str, FloatArray],
    allowed: set[str],
    *,
    alike: bool,
) -> list[Shape]:
    """Grow shapes of two variables: arithmetic of x and y, and of x and s y, then functions.

    Only where the two are `alike`, of one unit or of none, may they be added as they are.
    """
    x, y = columns[names[0]], columns[names[1]]
    tame = float(np.median(np.abs(y)))
    ratio = float(np.median(np.abs(x))) / tame if tame > 0.0 else 1.0
    scales = np.array([ratio * k for k in _WEIGHTS])[:, None]
    found: list[Shape] = []
    for leaves, tree in arithmetic(frozenset(allowed & set(_OPERATORS))):
        adds = _adds(tree)
        if adds and "mul" in allowed:
            found.append(Shape(_placed(tree, names, scaled=True), ("s",), scales))
        if alike or not adds:
            plain = Shape(_placed(tree, names, scaled=False))
            with np.errstate(all="ignore"):
                values = evaluate_grid(plain, columns, Floors())[0]
            found.append(plain)
            if np.isfinite(values).all():
                large = leaves > 3 and adds
                grown = _roots if large else _grown if leaves == 2 else _few
                found += grown(plain.expr, values, names, allowed)
    return found


def _roots(
    g: Expr, values: FloatArray, names: tuple[str, str], allowed: set[str]
) -> Iterator[Shape]:
    """Roots and logarithms of a larger tree: its functions would be too many."""
    return _times(_roots_alone(g, values, allowed), names, allowed)


def _roots_alone(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    if values.min() > 0.0:
        written = [power(g, exponent, allowed) for exponent in (-1.0, -0.5, 0.5)]
        yield from (Shape(one) for one in written if one is not None)
    if "log" in allowed and np.abs(values).min() > 1e-6 * np.abs(values).max():
        yield Shape(op("log", g if values.min() > 0.0 else op("abs", g)))


def _few(g: Expr, values: FloatArray, names: tuple[str, str], allowed: set[str]) -> Iterator[Shape]:
    """Functions of a scaled argument only: a tree of three leaves has enough to fit with."""
    yield from functions(g, values, allowed, most_parameters=1)
    yield from _times(shifted_down(g, values, allowed), names, allowed)


def _grown(
    g: Expr, values: FloatArray, names: tuple[str, str], allowed: set[str]
) -> Iterator[Shape]:
    """All functions, and free powers, of a sum, difference, product or ratio."""
    yield from functions(g, values, allowed)
    yield from _times(shifted_down(g, values, allowed), names, allowed)
    if values.min() > 0.0 and {"pow", "powp"} & allowed:
        yield Shape(op("powp", g, Param("p")), ("p",), EXPONENTS)


def _times(shapes: Iterable[Shape], names: tuple[str, str], allowed: set[str]) -> Iterator[Shape]:
    """Yield shapes, and each times one of its variables: v (1 - v^2/c^2)^-0.5."""
    for shape in shapes:
        yield shape
        if "mul" in allowed:
            for name in names:
                yield Shape(op("mul", Var(name), shape.expr), shape.names, shape.points)


@lru_cache(maxsize=64)
def arithmetic(allowed: frozenset[str], most_leaves: int = 4) -> tuple[tuple[int, Expr], ...]:
    """Grow trees over two variables `x` and `y`, equal functions up to scale once.

    Only trees that scale with their variables are kept (x + x y does not): the others depend on
    the units, and arise as products with parameters. Each comes with its number of leaves.
    """
    rng = np.random.default_rng(20261116)
    trees = _Trees({name: rng.uniform(0.5, 2.0, 12) for name in ("x", "y")})
    for name in ("x", "y"):
        trees.admit(1, Var(name))
    for leaves in range(2, most_leaves + 1):
        for tree in _joined(trees.levels, leaves, allowed):
            trees.admit(leaves, tree)
    return tuple(
        (leaves, tree)
        for leaves, level in trees.levels.items()
        for tree in level
        if len(variables(tree)) == 2
    )


def _joined(
    levels: Mapping[int, list[Expr]], leaves: int, allowed: frozenset[str]
) -> Iterator[Expr]:
    """Yield two smaller trees under one operator, with so many leaves together."""
    for left in range(1, leaves):
        for a, b in product(levels.get(left, []), levels.get(leaves - left, [])):
            yield from (op(name, a, b) for name in _OPERATORS if name in allowed)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Trees:
    """Trees by number of leaves, told apart by their values at a few random points."""

    points: Mapping[str, FloatArray]
    levels: dict[int, list[Expr]] = field(default_factory=dict[int, list[Expr]])
    seen: set[bytes] = field(default_factory=set[bytes])

    def admit(self, leaves: int, tree: Expr) -> None:
        """Keep a tree that is a function of its own."""
        if len(set(_summands(tree))) < len(_summands(tree)):
            return
        values = self._values(tree)
        if not (self._is_sound(tree, values) and (leaves == 1 or self._needs_all(tree, values))):
            return
        key = np.round(values / float(values[int(np.argmax(np.abs(values)))]), 9).tobytes()
        if key not in self.seen:
            self.seen.add(key)
            self.levels.setdefault(leaves, []).append(tree)

    def _values(self, tree: Expr, **factors: float) -> FloatArray:
        moved = {name: factors.get(name, 1.0) * column for name, column in self.points.items()}
        return evaluate_grid(Shape(tree), moved, Floors())[0]

    def _is_sound(self, tree: Expr, values: FloatArray) -> bool:
        """Say whether a tree is finite, not constant, and scales with its variables."""
        if not np.isfinite(values).all() or np.abs(values).max() < _ROUNDING:
            return False
        if np.ptp(values) < _ROUNDING * np.abs(values).max():
            return False
        ratio = self._values(tree, x=2.0, y=2.0) / values
        return not np.ptp(ratio) > _ROUNDING * ratio.max()

    def _needs_all(self, tree: Expr, values: FloatArray) -> bool:
        """Say whether a tree changes with each of its variables: x/(x*y) does not with x."""
        least = _ROUNDING * np.abs(values).max()
        return all(
            np.abs(self._values(tree, **{name: 1.37}) - values).max() > least
            for name in variables(tree)
        )


def _summands(tree: Expr) -> list[Expr]:
    """List the members of the outermost sum: x + (x + y) says 2 x + y, which no one writes."""
    match tree:
        case Apply(operator, (left, right)) if operator.name in ("add", "sub"):
            return [*_summands(left), *_summands(right)]
        case _:
            return [tree]


def _adds(tree: Expr) -> bool:
    match tree:
        case Apply(operator, arguments):
            return operator.name in ("add", "sub") or any(map(_adds, arguments))
        case _:
            return False


def _placed(tree: Expr, names: tuple[str, str], *, scaled: bool) -> Expr:
    """Write a tree over `x` and `y` with the names of two variables, the second times `s`."""
    match tree:
        case Var("x"):
            return Var(names[0])
        case Var(_):
            return op("mul", Param("s"), Var(names[1])) if scaled else Var(names[1])
        case Apply(operator, arguments):
            return Apply(operator, tuple(_placed(a, names, scaled=scaled) for a in arguments))
        case _:
            return tree
