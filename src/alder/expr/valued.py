"""A tree with numbers in place of its parameters, arranged so that it reads well."""

from collections.abc import Mapping
from typing import assert_never

from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import operator


def with_values(expr: Expr, values: Mapping[str, float]) -> Expr:
    """Put numbers in place of parameters; `x + -2*y` becomes `x - 2*y`, `1/x^3.1` `x^-3.1`.

    A parameter exponent becomes a literal one, so the result is for reading and for mathematics;
    where a base can be negative, only the original says that the base is floored.
    """
    match expr:
        case Const() | Var():
            return expr
        case Param(name):
            return Const(values[name])
        case Apply(row, arguments):
            parts = tuple(with_values(argument, values) for argument in arguments)
            return _tidy("pow" if row.name == "powp" else row.name, parts)
        case _:
            assert_never(expr)


def with_some(expr: Expr, values: Mapping[str, float]) -> Expr:
    """Put numbers in place of those parameters that have one, and leave all else as it is.

    >>> from alder.expr.text import parse, to_text
    >>> to_text(with_some(parse("a*x^p - b", ("x",)), {"p": 1.5, "b": -2.0}))
    'a*x^1.5 - (-2)'
    """
    match expr:
        case Param(name):
            return Const(values[name]) if name in values else expr
        case Apply(row, arguments):
            put = tuple(with_some(argument, values) for argument in arguments)
            plain = row.name == "powp" and isinstance(put[1], Const)
            return Apply(operator("pow") if plain else row, put)
        case Const() | Var():
            return expr
        case _:
            assert_never(expr)


def _tidy(name: str, parts: tuple[Expr, ...]) -> Expr:
    """Apply an operator, its signs drawn together."""
    match name, parts:
        case (("add" | "sub"), (left, right)):
            negative, right = _without_sign(right)
            minus = (name == "sub") != negative
            return Apply(operator("sub" if minus else "add"), (left, right))
        case "neg", (only,):
            negative, rest = _without_sign(only)
            return rest if negative else _negated(rest)
        case "div", (Const(1.0), Apply(row, (base, Const(exponent)))) if row.name == "pow":
            return Apply(row, (base, Const(-exponent)))
        case _:
            return Apply(operator(name), parts)


def _negated(expr: Expr) -> Expr:
    """Put a minus sign before the first number of a product, or before the whole."""
    match expr:
        case Const(value):
            return Const(-value)
        case Apply(row, (left, right)) if row.name in ("mul", "div") and _leads(left):
            return Apply(row, (_negated(left), right))
        case _:
            return Apply(operator("neg"), (expr,))


def _leads(expr: Expr) -> bool:
    """Say whether a product begins with a number."""
    match expr:
        case Const():
            return True
        case Apply(row, (left, _)) if row.name in ("mul", "div"):
            return _leads(left)
        case _:
            return False


def _without_sign(expr: Expr) -> tuple[bool, Expr]:
    """Take a minus sign out of a product; say whether there was one."""
    match expr:
        case Const(value) if value < 0.0:
            return True, Const(-value)
        case Apply(row, (only,)) if row.name == "neg":
            negative, rest = _without_sign(only)
            return not negative, rest
        case Apply(row, (left, right)) if row.name in ("mul", "div"):
            left_negative, left = _without_sign(left)
            right_negative, right = _without_sign(right)
            return left_negative != right_negative, Apply(row, (left, right))
        case _:
            return False, expr
