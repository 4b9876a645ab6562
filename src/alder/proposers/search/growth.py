"""Shapes of one argument: every function the grammar has, of a scaled and a shifted argument.

Shapes are grown, not listed: what the grammar allows and the range of the rows permits is tried,
with parameters on a grid as wide as the rows can tell apart.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Const, Expr, Param, Var
from alder.proposers.search.shapes import Shape, op

# Scales, in units of the argument's spread, and shifts, as shares of its range.
_SCALES = tuple(0.1 * 1.45**k for k in range(12))
_STEEP = (0.4, 0.7, 1.2, 2.0, 3.5, 7.0)
_SHIFTS = (-0.3, 0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.2)
_OFFSETS = tuple(0.05 * 1.75**k for k in range(11))
# Scales of an argument that must stay within one, as shares of the largest, and places beyond it.
_INSIDE = (0.3, 0.6, 0.9, 1.0)
_BEYOND = (1.01, 1.05, 1.15, 1.4, 2.0, 4.0)
_ROOTS = (-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 2.0)
_PERIODIC_OR_BENT = ("tanh", "atan", "softsign", "sin", "cos")
_STEPS = ("tanh", "atan", "softsign", "gate", "sin")

EXPONENTS = np.array([k / 4 for k in range(-16, 17) if k not in (0, 4)])[:, None]
"""Exponents of a free power, by quarters; the first power is the argument itself."""

_Writing: TypeAlias = tuple[frozenset[str], Callable[[Expr], Expr]]


def _inverse(base: Expr) -> Expr:
    return op("div", Const(1.0), base)


# What a power needs and how it is written: shorter than a literal exponent, or in its place.
_SHORT: Mapping[float, _Writing] = {
    1.0: (frozenset(), lambda base: base),
    -1.0: (frozenset({"div"}), _inverse),
    0.5: (frozenset({"sqrt"}), lambda base: op("sqrt", base)),
}
_LONG: Mapping[float, _Writing] = {
    -0.5: (frozenset({"div", "sqrt"}), lambda base: _inverse(op("sqrt", base))),
    2.0: (frozenset({"mul"}), lambda base: op("mul", base, base)),
    -2.0: (frozenset({"div", "mul"}), lambda base: _inverse(op("mul", base, base))),
}


def power(base: Expr, exponent: float, allowed: set[str]) -> Expr | None:
    """Write a literal power with what the grammar has; None where it has nothing for it."""
    short, long = _SHORT.get(exponent), _LONG.get(exponent)
    if short is not None and short[0] <= allowed:
        return short[1](base)
    if {"pow", "powp"} & allowed:
        return op("pow", base, Const(exponent))
    return long[1](base) if long is not None and long[0] <= allowed else None


def singles(name: str, column: FloatArray, allowed: set[str]) -> list[Shape]:
    """Grow shapes of one variable, the plain one first."""
    x = Var(name)
    found = [Shape(x), *_powers(x, column, allowed)]
    inner: list[tuple[Expr, FloatArray]] = [(x, column)]
    squared = power(x, 2.0, allowed)
    if squared is not None:
        inner.append((squared, np.square(column)))
    inverse = power(x, -1.0, allowed)
    if inverse is not None and column.min() > 0.0:
        inner.append((inverse, 1.0 / column))
    for expr, values in inner:
        found += functions(expr, values, allowed)
    if {"pow", "add", "div"} <= allowed and column.min() > 0.0:
        middle = np.median(column)  # an array's number: its powers overflow without a word
        steep = (1.5, 2.5, 3.0, 4.0)
        points = [(k, float(o * middle**k)) for k in steep for o in _OFFSETS[1:10:2]]
        hill = op("add", op("powp", x, Param("q")), Param("p"))
        found.append(Shape(_inverse(hill), ("q", "p"), np.array(points)))
    return found


def _powers(x: Expr, column: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    if column.min() > 0.0 and {"pow", "powp"} & allowed:
        yield Shape(op("powp", x, Param("p")), ("p",), EXPONENTS)
        return
    away = float(np.abs(column).min()) > 0.02 * float(np.std(column))
    for exponent in (2.0, 3.0, 4.0, 0.5, -0.5, -1.0, -2.0, -3.0):
        whole = float(exponent).is_integer()
        if (exponent < 0.0 and not away) or (not whole and column.min() <= 0.0):
            continue
        written = power(x, exponent, allowed)
        if written is not None:
            yield Shape(written)
    if "abs" in allowed and column.min() < 0.0:
        yield Shape(op("abs", x))
        if "mul" in allowed:
            yield Shape(op("mul", x, op("abs", x)))


def functions(
    g: Expr, values: FloatArray, allowed: set[str], *, most_parameters: int = 2
) -> Iterator[Shape]:
    """Apply every function of the grammar to a scaled, or scaled and shifted, argument.

    `values` are those of `g`: they say what scales and shifts the rows can tell apart.
    """
    if not 0.0 < float(np.std(values)) < 1e100 or not np.isfinite(values).all():
        return
    for family in (_scaled, _stepped, _shifted_up, _pieces):
        for shape in family(g, values, allowed):
            if len(shape.names) <= most_parameters:
                yield shape


def _scaled(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Functions of p g."""
    scaled = _times_p(g, allowed)
    if scaled is None:
        return
    spread, typical = float(np.std(values)), _typical(values)
    if "exp" in allowed:
        both = np.sort([sign * k / spread for k in _SCALES for sign in (1.0, -1.0)])[:, None]
        yield Shape(op("exp", scaled), ("p",), both)
    above = np.array([k / typical for k in _SCALES])[:, None]
    yield from (Shape(op(f, scaled), ("p",), above) for f in _PERIODIC_OR_BENT if f in allowed)
    inside = np.array([k / float(np.abs(values).max()) for k in _INSIDE])[:, None]
    yield from (Shape(op(f, scaled), ("p",), inside) for f in ("asin", "acos") if f in allowed)


def _stepped(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Steps at q, as steep as p: functions of p (g - q), and 1/(exp(p g) + q)."""
    scaled, shifted = _times_p(g, allowed), _minus_q(g, allowed)
    if scaled is None:
        return
    spread, shifts = float(np.std(values)), _shifts(values)
    steps = np.array([(k / spread, q0) for k in _STEEP for q0 in shifts])
    if shifted is not None and "mul" in allowed:
        bent = op("mul", Param("p"), shifted)
        yield from (Shape(op(f, bent), ("p", "q"), steps) for f in _STEPS if f in allowed)
    if {"exp", "add", "div"} <= allowed and "gate" not in allowed:
        grid = [
            (s * k, np.exp(np.clip(s * k * q0, -300, 300))) for s in (1.0, -1.0) for k, q0 in steps
        ]
        logistic = _inverse(op("add", op("exp", scaled), Param("q")))
        yield Shape(logistic, ("p", "q"), np.array(grid))


def _pieces(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Logarithm, sign and kinks of g as it is."""
    low = float(values.min())
    if "log" in allowed and low > 0.0:
        yield Shape(op("log", g))
    elif "log" in allowed and float(np.abs(values).min()) > 1e-6 * _typical(values):
        yield Shape(op("log", op("abs", g)))
    if "sign" in allowed and low < 0.0:
        yield Shape(op("sign", g))
    kinks = np.array(_shifts(values)[1:-1])[:, None]
    yield from (Shape(op(f, g, Param("p")), ("p",), kinks) for f in ("max", "min") if f in allowed)


def _shifted_up(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Powers and logarithms of g + p and of p - g, where those stay positive."""
    if "add" not in allowed:
        return
    p, q = Param("p"), Param("q")
    low, width = float(values.min()), float(np.ptp(values))
    middle = float(np.median(np.abs(values)))
    offsets = [o * middle if low >= 0.0 else o * width - low for o in _OFFSETS]
    if low > 0.0:
        offsets += [-0.9 * low, -0.5 * low]
    grid = np.array(offsets)[:, None]
    shifted = op("add", g, p)
    for exponent in _ROOTS:
        written = power(shifted, exponent, allowed)
        if written is not None:
            yield Shape(written, ("p",), grid)
    if {"pow", "powp"} & allowed:
        points = np.array(list(product(offsets[::2], (-4.0, -3.0, -2.5, -0.75, 1.5, 2.5))))
        yield Shape(op("powp", shifted, q), ("p", "q"), points)
    if "log" in allowed:
        yield Shape(op("log", shifted), ("p",), grid)
    yield from shifted_down(g, values, allowed)


def shifted_down(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Grow powers and logarithms of p - g, where that stays positive: (1 - v^2/c^2)^-0.5."""
    if "sub" not in allowed or values.min() < 0.0:
        return
    beyond = np.array([float(values.max()) * k for k in _BEYOND])
    down = op("sub", Param("p"), g)
    for exponent in (-1.0, -0.5, 0.5):
        written = power(down, exponent, allowed)
        if written is not None:
            yield Shape(written, ("p",), beyond[:, None])
    if "log" in allowed:
        yield Shape(op("log", down), ("p",), beyond[:, None])


def _times_p(g: Expr, allowed: set[str]) -> Expr | None:
    if "mul" in allowed:
        return op("mul", Param("p"), g)
    return op("div", g, Param("p")) if "div" in allowed else None


def _minus_q(g: Expr, allowed: set[str]) -> Expr | None:
    if "sub" in allowed:
        return op("sub", g, Param("q"))
    return op("add", g, Param("q")) if "add" in allowed else None


def _typical(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _shifts(values: FloatArray) -> list[float]:
    low, width = float(values.min()), float(np.ptp(values))
    return [low + width * share for share in _SHIFTS]
