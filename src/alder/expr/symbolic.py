"""A tree as a SymPy expression: what the law says in mathematics, without floors or saturation."""

from collections.abc import Mapping
from typing import Any, assert_never

from alder.expr.nodes import Apply, Const, Expr, Param, Var


def to_sympy(expr: Expr, symbols: Mapping[Var | Param, str] | None = None) -> Any:  # noqa: ANN401 - sympy has no types
    """Return a SymPy expression over real symbols.

    A variable and a parameter of one name would be one symbol to SymPy, so `symbols` may give each
    leaf a name of its own. Integers stay exact; other literals are floats.

    >>> from alder.expr.nodes import Apply, Var
    >>> from alder.expr.operators import operator
    >>> to_sympy(Apply(operator("exp"), (Var("x"),)))
    exp(x)
    """
    sympy = _sympy()
    names = symbols or {}
    match expr:
        case Const(value):
            return sympy.Integer(int(value)) if float(value).is_integer() else sympy.Float(value)
        case Param(name) | Var(name):
            return sympy.Symbol(names.get(expr, name), real=True)
        case Apply(operator, arguments):
            return _apply(operator.name, [to_sympy(argument, symbols) for argument in arguments])
        case _:
            assert_never(expr)


def _apply(name: str, a: list[Any]) -> Any:  # noqa: ANN401 - sympy has no types
    sympy = _sympy()
    table: dict[str, Any] = {
        "add": lambda: a[0] + a[1],
        "sub": lambda: a[0] - a[1],
        "mul": lambda: a[0] * a[1],
        "div": lambda: a[0] / a[1],
        "neg": lambda: -a[0],
        "pow": lambda: a[0] ** a[1],
        "powp": lambda: a[0] ** a[1],
        "max": lambda: sympy.Max(a[0], a[1]),
        "min": lambda: sympy.Min(a[0], a[1]),
        "abs": lambda: sympy.Abs(a[0]),
        "softsign": lambda: a[0] / (1 + sympy.Abs(a[0])),
        "gate": lambda: 1 / (1 + sympy.exp(-a[0])),
        "where": lambda: sympy.Piecewise((a[1], a[0] > 0), (a[2], True)),
    }
    return table[name]() if name in table else getattr(sympy, name)(a[0])


def _sympy() -> Any:  # noqa: ANN401 - sympy has no types
    import sympy  # pyright: ignore[reportMissingTypeStubs] - here, because it takes half a second

    return sympy
