"""Literal exponents as parameters: how a law would move with them."""

from collections.abc import Collection

from alder.expr.nodes import Apply, Const, Expr, Param, walk
from alder.expr.operators import OPERATORS


def literal_exponents(expr: Expr) -> tuple[float, ...]:
    """Return the literal exponents of a tree, each once, in order."""
    found = (
        node.arguments[1].value
        for node in walk(expr)
        if isinstance(node, Apply)
        and node.operator.name == "pow"
        and isinstance(node.arguments[1], Const)
    )
    return tuple(dict.fromkeys(found))


def loosen(expr: Expr, exponents: Collection[float]) -> tuple[Expr, tuple[str, ...]]:
    r"""Give every power with one of these exponents a parameter that moves it.

    $b^n$ becomes $b^n e^{p \ln|b|}$, which at $p = 0$ is what it was, whatever the sign of $b$, and
    whose slope there is that of the exponent. Return the tree and the names of the parameters.
    """
    names: list[str] = []

    def visit(node: Expr) -> Expr:
        if not isinstance(node, Apply):
            return node
        made = Apply(node.operator, tuple(map(visit, node.arguments)))
        exponent = node.arguments[1] if node.operator.name == "pow" else None
        if not isinstance(exponent, Const) or exponent.value not in exponents:
            return made
        again = sum(name.startswith(f"exponent {exponent.value:g}") for name in names)
        names.append(f"exponent {exponent.value:g}" + (f" ({again + 1})" if again else ""))
        logarithm = _op("log", _op("abs", made.arguments[0]))
        return _op("mul", made, _op("exp", _op("mul", Param(names[-1]), logarithm)))

    return visit(expr), tuple(names)


def _op(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)
