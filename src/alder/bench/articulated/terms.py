"""Which declared terms a law has, however it is written and its coefficients are called."""

from collections.abc import Sequence
from functools import reduce

from alder.expr.canonical import canonical, digest
from alder.expr.nodes import Apply, Const, Expr, variables
from alder.expr.operators import OPERATORS
from alder.expr.text import to_text
from alder.proposers.additive import Term


def kinds_in(law: Expr, terms: Sequence[Term]) -> frozenset[str]:
    """Return the kinds of the terms of a law, products of sums multiplied out.

    Factors without variables count as coefficients, inside a function of one argument too: a step
    is the same step wherever it bends. A term that is not declared stands as its text.

    >>> from alder.expr.text import parse
    >>> declared = (Term("bias", Const(1.0)), Term("position", parse("q", ["q"])))
    >>> sorted(kinds_in(parse("k*(q - c)", ["q"]), declared))
    ['bias', 'position']
    """
    known = {digest(shape): term.kind for term in terms for shape in _shapes(term.expr)}
    return frozenset(known.get(digest(shape), to_text(shape)) for shape in _shapes(law))


def _shapes(law: Expr) -> list[Expr]:
    """Return the terms of a sum, their coefficients left out."""
    return [canonical(reduce(_times, factors, Const(1.0))) for factors in _products(law)]


def _products(law: Expr) -> list[tuple[Expr, ...]]:
    """Return the factors with variables of each term."""
    if not isinstance(law, Apply):
        return [(law,) if variables(law) else ()]
    first, *others = law.arguments
    match law.operator.name:
        case "add" | "sub":
            return _products(first) + _products(others[0])
        case "neg":
            return _products(first)
        case "mul":
            return [(*a, *b) for a in _products(first) for b in _products(others[0])]
        case "div":
            below = Apply(law.operator, (Const(1.0), others[0]))
            return [(*a, below) if variables(below) else a for a in _products(first)]
        case _:
            return [(_unscaled(law),) if variables(law) else ()]


def _unscaled(function: Apply) -> Expr:
    """Return a function of one argument without the factor its argument is multiplied by."""
    if len(function.arguments) != 1:
        return function
    inside = _shapes(function.arguments[0])
    return Apply(function.operator, (inside[0],)) if len(inside) == 1 else function


def _times(a: Expr, b: Expr) -> Expr:
    return Apply(OPERATORS["mul"], (a, b))
