"""A tree with numbers in place of its parameters, arranged so that it reads well."""

from collections.abc import Mapping
from typing import assert_never

from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import operator


def with_values(expr: Expr, values: Mapping[str, float]) -> Expr:
    """Put numbers in place of parameters; `x + -2*y` becomes `x - 2*y`.

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
            if row.name in ("add", "sub"):
                negative, right = _without_sign(parts[1])
                minus = (row.name == "sub") != negative
                return Apply(operator("sub" if minus else "add"), (parts[0], right))
            return Apply(operator("pow") if row.name == "powp" else row, parts)
        case _:
            assert_never(expr)


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
