"""Shapes with numbers inside: what saturates, decays, switches, waves and bends."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.proposers.summands.building import (
    BEYOND,
    FEW,
    N_SCALES,
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

_SCALED, _SWITCHING, RARE = 5, 6, 7  # levels
_RISING, _STEEPEST_HILLS = (2, 3, 4, 5), (6, 8, 10)  # powers of a saturation that waits
_MIDDLES = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles at which a switch may be half way
_WIDTHS = (0.1, 0.3, 1.0, 3.0)  # of a switch, in standard deviations
_TURNS = (0.15, 5.0)  # of a wave over the span of a column: fewer are a polynomial, more are noise
_EXPONENTS = (-2.5, -1.5, -0.5, 0.3, 0.5, 0.7, 1.3, 1.5, 1.7, 2.5, 3.5)
_STEEPEST = 10.0  # of an exponential over the span of a column

_Rows: TypeAlias = Mapping[str, FloatArray]


def saturating(
    columns: Sequence[str], allowed: set[str], rows: _Rows
) -> Iterator[tuple[bool, Term]]:
    """Yield Hill's saturations and decays, alone and times a column; say which are the few."""
    k = Param("k")
    for name in columns:
        x, scales = Var(name), scales_of(rows[name])
        shapes: list[tuple[Expr, float]] = []
        # A decay or a saturation of a quantity that changes its sign would be a spike somewhere.
        if "div" in allowed:
            if is_positive(rows[name]):
                shapes.append((over(x, plus(k, x)), 1.0))
            shapes.append((over(Const(1.0), plus(k, square(x))), 2.0))
        if "exp" in allowed and is_positive(rows[name]):
            shapes.append((of("exp", of("neg", times(k, x))), -1.0))
        few = set(scales[FEW])
        for shape, power in shapes:
            for scale in scales:
                for one in (shape, *(times(Var(factor), shape) for factor in columns)):
                    yield scale in few, Term(one, _SCALED, (scale**power,))


def switching(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield what rises from one plateau to another, and what a quantity inhibits itself by."""
    for name in columns:
        if "div" in allowed:
            others = [Var(other) for other in columns if other != name]
            yield from _hills(Var(name), rows[name], others)
        if {"div", "exp"} <= allowed:
            yield from _steps(Var(name), rows[name], columns)


def _hills(x: Var, column: FloatArray, others: Sequence[Var]) -> Iterator[Term]:
    k, scales = Param("k"), scales_of(column)
    inhibited = over(x, plus(k, square(x)))
    for y in others:
        yield from (Term(times(y, inhibited), _SWITCHING, (s**2,)) for s in scales)
    for power in (*_RISING, *_STEEPEST_HILLS) if (column > 0.0).all() else ():
        high = of("pow", x, Const(float(power)))
        below = plus(k, high)
        level = RARE if power in _STEEPEST_HILLS else _SWITCHING
        for hill in (over(Const(1.0), below), over(high, below)):
            yield from (Term(hill, level, (s**power,)) for s in scales)


def _steps(x: Var, column: FloatArray, columns: Sequence[str]) -> Iterator[Term]:
    logistic = over(Const(1.0), plus(Param("k"), of("exp", times(Param("w"), x))))
    middles = np.quantile(column, _MIDDLES).tolist()
    for middle, share, sign in product(middles, _WIDTHS, (1.0, -1.0)):
        numbers = _step(middle, sign * (share * float(np.std(column)) or 1.0))
        yield Term(logistic, _SWITCHING, numbers)
        for factor in columns:
            yield Term(times(Var(factor), logistic), RARE, numbers)


def _step(middle: float, width: float) -> tuple[float, float]:
    """Return the numbers of 1/(k + exp(w*x)), half way in the middle; it rises with w < 0."""
    return float(np.exp(np.clip(middle / width, -30.0, 30.0))), 1.0 / width


def curved(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield waves of any length, exponentials and steps of any width, and broken powers."""
    for name in columns:
        x, column = Var(name), rows[name]
        factors = (None, *(Var(factor) for factor in columns))
        for shape, scales in _curves(x, column, allowed):
            for factor, scale in product(factors, scales):
                if factor is None or not _is_wave(shape):
                    yield Term(maybe_times(factor, shape), RARE, (scale,))


def _curves(x: Var, column: FloatArray, allowed: set[str]) -> Iterator[tuple[Apply, list[float]]]:
    k, span = Param("k"), float(np.ptp(column)) or 1.0
    for function in sorted({"sin", "cos"} & allowed):
        turns = 2.0 * np.pi * np.geomspace(*_TURNS, N_SCALES) / span
        yield of(function, times(k, x)), turns.tolist()
    if "exp" in allowed:
        rates = np.geomspace(1.0 / (BEYOND * span), _STEEPEST / span, N_SCALES).tolist()
        yield of("exp", times(k, x)), rates
        if not is_positive(column):
            yield of("exp", of("neg", times(k, x))), rates
        yield of("exp", of("neg", times(k, square(x)))), [1.0 / s**2 for s in scales_of(column)]
    if "tanh" in allowed and not is_positive(column):
        yield of("tanh", times(k, x)), [1.0 / scale for scale in scales_of(column)]
    if "powp" in allowed and (column > 0.0).all():
        yield of("powp", x, k), list(_EXPONENTS)


def _is_wave(shape: Apply) -> bool:
    return shape.operator.name in ("sin", "cos")


def mixed(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield what saturates in two quantities at once, or in one and then sinks."""
    if "div" not in allowed:
        return
    k, w = Param("k"), Param("w")
    positive = [name for name in columns if is_positive(rows[name])]
    for name in positive:
        x, few = Var(name), scales_of(rows[name])[FEW]
        sinking = over(x, plus(plus(k, x), over(square(x), w)))
        for factor in (None, *(Var(other) for other in columns if other != name)):
            yield from (Term(maybe_times(factor, sinking), RARE, (a, b)) for a in few for b in few)
    for one, other in permutations(positive, 2):
        x, y = Var(one), Var(other)
        ratios = [s / largest_of(rows[other]) for s in scales_of(rows[one])]
        shared = over(times(x, y), plus(x, times(k, y)))
        yield from (Term(shared, RARE, (ratio,)) for ratio in ratios)
        crowded = over(times(x, y), plus(plus(k, x), times(w, y)))
        few = scales_of(rows[one])[FEW]
        yield from (Term(crowded, RARE, (a, b)) for a in few for b in ratios[FEW])
