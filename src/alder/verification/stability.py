"""Does a law stay what it is between rows and under rounding? Outcomes take no part."""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.consistency import Errors
from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.nodes import Apply, Const, Expr, Param, variables, walk
from alder.records.law import Law

# Predictions between rows may exceed those on rows by this factor before a law counts as unstable:
# a pole exceeds any factor, a law that merely peaks between rows does not exceed this one.
_PEAK = 1e3
# Two implementations differ by this much at every node; what that moves must drown in the noise.
_NODE_ERROR = 1e-12
# Lines between pairs of rows, points on each, and halvings of an interval in which a pole lies.
_LINES, _POINTS, _HALVINGS = 48, 33, 50


def is_finite(law: Law, errors: Errors) -> bool:
    """Say whether every prediction is a number that neither saturates nor comes from a clip."""
    ceiling = 0.999 * min(law.floors.saturation, math.exp(min(law.floors.exponent, 700.0)))
    return bool((np.abs(errors.at_rows) < ceiling).all())


def is_stable(
    law: Law, columns: Mapping[str, FloatArray], errors: Errors, time: str | None = None
) -> bool:
    """Say whether a law's values between rows and under rounding stay what they are on rows.

    Lines between pairs of rows are searched, not a box around them: a pole where no row can lie, as
    in 1/(a - b) with a > b throughout, is none of the law's faults. Outcomes take no part, so that
    this answer reveals nothing about them. With `time`, lines join rows that follow each other on
    a trajectory: the states of a system cannot pass a pole of its rates, so that one between two
    trajectories is where no row can lie.
    """
    f = errors.at_rows
    ends = _ends(len(f), None if time is None else columns[time])
    if not _peak_between(law, columns, ends) <= _PEAK * float(np.abs(f).max()) + 1e-300:
        return False
    moved = _NODE_ERROR * rounding_bound(law.structure, columns, law.values, law.floors)
    scale = np.maximum(errors.noise, 1e-3 * float(np.std(errors.prediction)))
    return bool(np.median(errors.segments.total(moved) / scale) < 1.0)


def _ends(n_rows: int, time: FloatArray | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Choose the rows that lines join, the same for all laws."""
    rng = np.random.default_rng(0)
    if time is None:
        first, second = rng.integers(n_rows, size=(2, _LINES))
        return first, second
    followed = np.flatnonzero(np.diff(time) > 0.0)
    if not len(followed):
        return np.zeros(_LINES, dtype=np.intp), np.zeros(_LINES, dtype=np.intp)
    first = followed[rng.integers(len(followed), size=_LINES)]
    return first, first + 1


def _peak_between(
    law: Law, columns: Mapping[str, FloatArray], ends: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> float:
    """Return the largest value on lines between rows, and where a denominator vanishes on them."""
    names = [variable.name for variable in law.variables]
    if not names:
        return 0.0
    first, second = ends
    starts = {name: columns[name][first][:, None] for name in names}
    steps = {name: columns[name][second][:, None] - starts[name] for name in names}

    def along(expr: Expr, share: FloatArray) -> FloatArray:
        rows = {name: (starts[name] + share * steps[name]).ravel() for name in names}
        return evaluate(expr, rows, law.values, law.floors).reshape(share.shape)

    grid = np.broadcast_to(np.linspace(0.0, 1.0, _POINTS), (_LINES, _POINTS))
    peak = float(np.abs(along(law.structure, grid)).max())
    for divisor in set(_divisors(law.structure, law.values)):
        signs = np.sign(along(divisor, grid))
        crossed = np.asarray(signs[:, 1:] * signs[:, :-1] < 0.0)
        if crossed.any():
            at = np.argmax(crossed, axis=1, keepdims=True)
            low = np.take_along_axis(grid, at, axis=1)
            width = np.where(np.any(crossed, axis=1, keepdims=True), 1.0 / (_POINTS - 1), 0.0)
            sign = np.take_along_axis(signs, at, axis=1)
            for _ in range(_HALVINGS):
                width = width / 2.0
                low = np.where(np.sign(along(divisor, low + width)) == sign, low + width, low)
            peak = max(peak, float(np.abs(along(law.structure, low)).max()))
    return peak


def _divisors(expr: Expr, values: Mapping[str, float]) -> Iterator[Expr]:
    """Yield what is divided by, and its parts: a square vanishes without changing sign."""
    for node in walk(expr):
        if isinstance(node, Apply):
            below = _below(node, values)
            if below is not None:
                yield from (part for part in walk(below) if variables(part))


def _below(node: Apply, values: Mapping[str, float]) -> Expr | None:
    if node.operator.name == "div":
        return node.arguments[1]
    if node.operator.name not in ("pow", "powp"):
        return None
    base, exponent = node.arguments
    match exponent:
        case Const(value):
            power = value
        case Param(name):
            power = values[name]
        case _:
            power = 0.0
    return base if power < 0.0 else None
