"""The human syntax: people type laws as they write them, and read them back the same.

`parse(to_text(law, names), names) == law` for every tree. Declared names are variables, all other
names parameters; `@name` is a parameter that shares its name with a variable; names that are no
identifiers stand in backquotes. `^` binds tighter than the unary minus, which binds tighter than
`*` and `/`; those group from the left.
"""

from collections.abc import Collection, Mapping
from math import copysign
from typing import assert_never

from alder.expr.nodes import Apply, Const, Expr, Param, Var, walk
from alder.expr.operators import OPERATORS
from alder.expr.parsing import Parser
from alder.expr.tokens import quote

_SUM, _PRODUCT, _MINUS, _POWER, _ATOM = range(5)
_INFIX = {
    "add": (" + ", _SUM),
    "sub": (" - ", _SUM),
    "mul": ("*", _PRODUCT),
    "div": ("/", _PRODUCT),
}


def parse(text: str, variables: Collection[str]) -> Expr:
    """Read a law; raise `MalformedLaw` with the column where it is not one.

    >>> parse("k*r^-1.5 - c*v", ["r", "v"]) == parse("(k * r**(-3/2)) - c·v", ["r", "v"])
    True
    """
    return Parser(text, variables).parse()


def to_text(expr: Expr, variables: Collection[str] = ()) -> str:
    """Write a law with the fewest brackets that read back as the same tree.

    >>> to_text(parse("(k*(r^-1.5)*m2)/(m1+m2) - (c*v)", ["r", "m1", "m2", "v"]))
    'k*r^-1.5*m2/(m1 + m2) - c*v'
    """
    taken = frozenset(variables) | {node.name for node in walk(expr) if isinstance(node, Var)}
    return _render(expr, taken)[0]


def to_display(expr: Expr, coefficients: Mapping[str, float], digits: int = 4) -> str:
    """Write a law with its coefficients in place, rounded, for reading only.

    >>> to_display(parse("k*r^p + c*v", ["r", "v"]), {"k": 2.00004, "p": -1.5, "c": -0.1})
    '2*r^-1.5 - 0.1*v'
    """
    return to_text(_filled(expr, coefficients, digits))


def number_text(value: float) -> str:
    """Write a float so that it reads back exactly, without a useless `.0`."""
    return repr(float(value)).removesuffix(".0")


def _render(expr: Expr, taken: frozenset[str]) -> tuple[str, int]:
    """Return the text and how tightly it binds."""
    match expr:
        case Const(value):
            return number_text(value), _MINUS if copysign(1.0, value) < 0 else _ATOM
        case Param(name):
            return f"@{quote(name)}" if name in taken else quote(name), _ATOM
        case Var(name):
            return quote(name), _ATOM
        case Apply():
            return _render_apply(expr, taken)
        case _:
            assert_never(expr)


def _render_apply(expr: Apply, taken: frozenset[str]) -> tuple[str, int]:
    name = expr.operator.name
    parts = [_render(argument, taken) for argument in expr.arguments]
    if name in _INFIX:
        sign, level = _INFIX[name]
        left, right = parts
        # A minus right after another sign reads badly, so it is bracketed there too.
        loose = right[1] <= level or right[0].startswith("-")
        return _bracket(left, left[1] < level) + sign + _bracket(right, loose), level
    if name == "neg":
        # -2 is a literal, so the negation of a literal needs its bracket.
        loose = parts[0][1] <= _MINUS or isinstance(expr.arguments[0], Const)
        return "-" + _bracket(parts[0], loose), _MINUS
    if name in ("pow", "powp"):
        return f"{_bracket(parts[0], parts[0][1] <= _POWER)}^{parts[1][0]}", _POWER
    return f"{name}({', '.join(text for text, _ in parts)})", _ATOM


def _bracket(part: tuple[str, int], needed: bool) -> str:  # noqa: FBT001 - a fact, not a switch
    return f"({part[0]})" if needed else part[0]


def _filled(expr: Expr, coefficients: Mapping[str, float], digits: int) -> Expr:
    match expr:
        case Param(name):
            value = coefficients.get(name)
            return expr if value is None else Const(float(f"{value:.{digits}g}"))
        case Const() | Var():
            return expr
        case Apply(operator, arguments):
            filled = tuple(_filled(argument, coefficients, digits) for argument in arguments)
            if operator.name == "powp" and isinstance(filled[1], Const):
                return Apply(OPERATORS["pow"], filled)
            return _without_double_sign(Apply(operator, filled))
        case _:
            assert_never(expr)


def _without_double_sign(expr: Apply) -> Apply:
    """Turn `a + (-2*x)` into `a - 2*x`, and `a - (-2*x)` into `a + 2*x`."""
    opposite = {"add": "sub", "sub": "add"}.get(expr.operator.name)
    flipped = _negated(expr.arguments[-1])
    if opposite is None or flipped is None:
        return expr
    return Apply(OPERATORS[opposite], (expr.arguments[0], flipped))


def _negated(expr: Expr) -> Expr | None:
    """Return minus the tree if it starts with a negative literal."""
    match expr:
        case Const(value) if value < 0:
            return Const(-value)
        case Apply(operator, (first, second)) if operator.name in ("mul", "div"):
            flipped = _negated(first)
            return None if flipped is None else Apply(operator, (flipped, second))
        case _:
            return None
