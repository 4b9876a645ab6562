"""The laws one edit away from a law: what a rival may be, and where a repair may lead."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from alder.expr.edits import (
    Position,
    at,
    factor,
    fresh_parameter,
    positions,
    prune,
    replace,
    share,
)
from alder.expr.nodes import Apply, Const, Expr, Param, Var, parameters, variables
from alder.expr.operators import OPERATORS
from alder.expr.sample import EXPONENTS

# Operators of one shape on part of their domain, which only other experiments tell apart.
_ALIKE = (
    ("tanh", "softsign", "atan", "sin", "gate"),
    ("exp", "cos", "sqrt", "log", "abs"),
    ("mul", "div"),
    ("max", "min", "add"),
)


def neighbours(expr: Expr, names: Sequence[str]) -> Iterator[Expr]:
    """Yield every single edit of a law over these variables; a grammar may permit fewer."""
    terms = _terms(expr)
    for position in positions(expr):
        made = _alternatives(expr, position, names, is_term=position in terms)
        edited = [replace(expr, position, new) for new in made]
        edited += [prune(expr, position), factor(expr, position)]
        yield from (tree for tree in edited if tree is not None)
    shared = (share(expr, new, old) for old, new in combinations(parameters(expr), 2))
    yield from (tree for tree in shared if tree is not None)


def _alternatives(
    expr: Expr, position: Position, names: Sequence[str], *, is_term: bool
) -> Iterator[Expr]:
    """Yield what may stand in the place of one node."""
    node = at(expr, position)
    if node is None:
        return
    yield from _swapped(node, expr, names)
    yield from _exponents(node, expr)
    if variables(node):
        yield from _saturated(node, expr)
    if is_term:
        yield from _enriched(node, expr, names)


def _swapped(node: Expr, whole: Expr, names: Sequence[str]) -> Iterator[Expr]:
    """Another variable for a variable, a coefficient for a literal, a like operator."""
    match node:
        case Var(name):
            yield from (Var(other) for other in names if other != name)
        case Apply(operator, arguments):
            for family in _ALIKE:
                if operator.name in family:
                    yield from (
                        Apply(OPERATORS[other], arguments)
                        for other in family
                        if other != operator.name and OPERATORS[other].arity == operator.arity
                    )
        case Const():
            yield fresh_parameter(whole, "p")
        case Param():
            return


def _exponents(node: Expr, whole: Expr) -> Iterator[Expr]:
    """A power of a variable, another exponent, a fitted exponent for a literal, and back."""
    match node:
        case Var():
            yield _op("powp", node, fresh_parameter(whole, "p"))
            yield from (_op("pow", node, Const(n)) for n in (-1.0, 0.5, 2.0, 3.0))
        case Apply(operator, (base, _)) if operator.name == "pow":
            yield _op("powp", base, fresh_parameter(whole, "p"))
            yield from (_op("pow", base, Const(n)) for n in EXPONENTS)
        case Apply(operator, (base, _)) if operator.name == "powp":
            yield from (_op("pow", base, Const(n)) for n in EXPONENTS)
        case _:
            return


def _saturated(node: Expr, whole: Expr) -> Iterator[Expr]:
    """The same near zero, but levelling off: s tanh(x/s), and without the outer scale."""
    s = fresh_parameter(whole, "s")
    for name in ("tanh", "softsign"):
        bent = _op(name, _op("div", node, s))
        yield bent
        yield _op("mul", s, bent)


def _enriched(term: Expr, whole: Expr, names: Sequence[str]) -> Iterator[Expr]:
    """One more variable in a term: as a factor, a decay, a gate, or a term beside it."""
    p, c = fresh_parameter(whole, "p"), fresh_parameter(whole, "c")
    yield _op("add", term, c)
    for name in names:
        x = Var(name)
        yield _op("mul", term, x)
        yield _op("div", term, x)
        yield _op("mul", term, _op("powp", x, p))
        yield _op("mul", term, _op("exp", _op("neg", _op("div", x, p))))
        yield _op("div", term, _op("add", Const(1.0), _op("div", x, p)))
        yield _op("mul", term, _op("gate", _op("mul", p, _op("sub", x, c))))
        yield _op("add", term, _op("mul", c, x))
        yield _op("add", term, _op("mul", c, _op("mul", x, x)))


def _terms(expr: Expr, here: Position = ()) -> tuple[Position, ...]:
    """List the whole law and the terms of its outermost sum."""
    match at(expr, here):
        case Apply(operator, (_, _)) if operator.name in ("add", "sub"):
            left, right = (_terms(expr, (*here, i)) for i in (0, 1))
            return ((), *left, *right) if here == () else (*left, *right)
        case _:
            return (here,)


def _op(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)
