"""What a term of a law may be: products of shapes of single variables, as the grammar allows."""

from collections.abc import Iterator
from itertools import combinations

from alder.expr.edits import fresh_parameter
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import OPERATORS
from alder.records.grammar import Grammar

# Shapes of one variable that carry a scale: f(v / p).
_SCALED = ("exp", "tanh", "sin", "cos", "softsign", "gate", "atan", "log", "sqrt")
_EXPONENTS = (2.0, -1.0, -2.0, 3.0, 0.5, -0.5)
_PARAMETER = "p"


def apply(name: str, *arguments: Expr) -> Expr:
    """Apply an operator by name."""
    return Apply(OPERATORS[name], arguments)


def shapes(variable: str, grammar: Grammar) -> Iterator[Expr]:
    """Yield shapes of one variable, the plain one first; `p` stands for a parameter to be named."""
    allowed = set(grammar.operators)
    v, p = Var(variable), Param(_PARAMETER)
    yield v
    if "pow" in allowed:
        yield from (apply("pow", v, Const(exponent)) for exponent in _EXPONENTS)
    elif "div" in allowed:
        yield apply("div", Const(1.0), v)
    if "powp" in allowed:
        yield apply("powp", v, p)
    scaled = _scaled(v, p, allowed)
    if scaled is not None:
        yield from (apply(name, scaled) for name in _SCALED if name in allowed)
    yield from (apply(name, v) for name in ("abs", "sign") if name in allowed)
    if {"add", "div"} <= allowed:
        yield apply("div", Const(1.0), apply("add", v, p))


def _scaled(v: Expr, p: Expr, allowed: set[str]) -> Expr | None:
    if "mul" in allowed:
        return apply("mul", p, v)
    return apply("div", v, p) if "div" in allowed else None


def pairs(grammar: Grammar) -> Iterator[Expr]:
    """Yield shapes of two variables: shares, contrasts and sums."""
    allowed = set(grammar.operators)
    for a, b in combinations(grammar.variable_names, 2):
        first, second = Var(a), Var(b)
        if {"add", "div"} <= allowed:
            total = apply("add", first, second)
            yield apply("div", first, total)
            yield apply("div", second, total)
            if "sub" in allowed:
                yield apply("div", apply("sub", first, second), total)


def factors(grammar: Grammar) -> tuple[Expr, ...]:
    """Return every factor a term may have."""
    single = [shape for name in grammar.variable_names for shape in shapes(name, grammar)]
    return (*single, *pairs(grammar))


def with_fresh_parameters(term: Expr, law: Expr | None) -> Expr:
    """Name each placeholder of a term by a parameter that the law does not have yet."""
    taken: Expr = law if law is not None else Const(0.0)

    def visit(node: Expr) -> Expr:
        nonlocal taken
        if isinstance(node, Param):
            fresh = fresh_parameter(taken, _PARAMETER)
            taken = apply("add", taken, fresh)
            return fresh
        if isinstance(node, Apply):
            return Apply(node.operator, tuple(visit(argument) for argument in node.arguments))
        return node

    return visit(term)
