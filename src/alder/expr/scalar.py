r"""A tree as a function of one point: for solvers, which ask for one point at a time.

The meaning is that of `evaluate`. The usual operators are written out for plain numbers, which is
some thirty times as fast as arrays of one; all others ask the operator table.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

import numpy as np

from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import Floors, Operator, is_integer

AtPoint: TypeAlias = Callable[[Sequence[float]], float]


def at_point(
    expr: Expr, names: Sequence[str], coefficients: Mapping[str, float], floors: Floors
) -> AtPoint:
    """Return the value of a tree as a function of one point, its numbers ordered as `names`.

    >>> from alder.expr.text import parse
    >>> at_point(parse("a*x + y", ["x", "y"]), ["x", "y"], {"a": 2.0}, Floors())([3.0, 1.0])
    7.0
    """
    match expr:
        case Const(value):
            return _constant(value)
        case Param(name):
            return _constant(coefficients[name])
        case Var(name):
            place = list(names).index(name)
            return lambda point: point[place]
        case Apply(row, arguments):
            parts = tuple(at_point(a, names, coefficients, floors) for a in arguments)
            return _applied(row, parts, arguments, floors)
        case _:
            assert_never(expr)


def _constant(value: float) -> AtPoint:
    return lambda _point: value


def _applied(
    row: Operator, parts: tuple[AtPoint, ...], arguments: tuple[Expr, ...], floors: Floors
) -> AtPoint:
    limit = floors.saturation
    if len(parts) == 1:
        return _unary(row, parts[0], floors)
    if len(parts) == 2 and row.name in _BINARY:
        first, second = parts
        return _BINARY[row.name](first, second, limit)
    if row.name == "div":
        return _quotient(parts[0], parts[1], floors)
    if row.name == "pow" and isinstance(arguments[1], Const):
        n = arguments[1].value
        if is_integer(n) and 0.0 < n <= 4.0:
            return _small_power(parts[0], int(n), limit)
    return _from_table(row, parts, floors)


def _sum(first: AtPoint, second: AtPoint, limit: float) -> AtPoint:
    return lambda point: _held(first(point) + second(point), limit)


def _difference(first: AtPoint, second: AtPoint, limit: float) -> AtPoint:
    return lambda point: _held(first(point) - second(point), limit)


def _product(first: AtPoint, second: AtPoint, limit: float) -> AtPoint:
    return lambda point: _held(first(point) * second(point), limit)


_BINARY = {"add": _sum, "sub": _difference, "mul": _product}


def _held(value: float, limit: float) -> float:
    return value if -limit <= value <= limit else max(-limit, min(limit, value))


def _quotient(first: AtPoint, second: AtPoint, floors: Floors) -> AtPoint:
    floor, limit = floors.denominator, floors.saturation

    def value(point: Sequence[float]) -> float:
        below = second(point)
        if abs(below) < floor:
            below = math.copysign(floor, below)
        return _held(first(point) / below, limit)

    return value


def _small_power(base: AtPoint, n: int, limit: float) -> AtPoint:
    def value(point: Sequence[float]) -> float:
        x = base(point)
        power = x
        for _ in range(n - 1):
            power *= x
        return _held(power, limit)

    return value


def _unary(row: Operator, part: AtPoint, floors: Floors) -> AtPoint:
    match row.name:
        case "neg":
            return lambda point: -part(point)
        case "abs":
            return lambda point: abs(part(point))
        case "sin":
            return lambda point: math.sin(part(point))
        case "cos":
            return lambda point: math.cos(part(point))
        case "tanh":
            return lambda point: math.tanh(part(point))
        case _:
            return _from_table(row, (part,), floors)


def _from_table(row: Operator, parts: tuple[AtPoint, ...], floors: Floors) -> AtPoint:
    limit = floors.saturation

    def value(point: Sequence[float]) -> float:
        arguments = tuple(np.array([part(point)]) for part in parts)
        with np.errstate(all="ignore"):
            return _held(float(row.value(arguments, floors)[0]), limit)

    return value
