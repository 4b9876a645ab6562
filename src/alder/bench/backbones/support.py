"""Term support: do the variables act together in a law as they do in the truth?"""

from alder.expr.nodes import Apply, Expr, variables

Support = frozenset[frozenset[str]]
"""Sets of variables that act together, none of them part of another."""


def support(law: Expr) -> Support:
    """Return the sets of variables of the terms of a law, products of sums multiplied out.

    Sets within others are left out: (1 - tanh(r))*v and v/(1 + exp(r)) may be the same function,
    and only one of them, multiplied out, has a term of v alone.

    >>> from alder.expr.text import parse
    >>> found = support(parse("k*(v - c*u)/r + d*v", ("r", "u", "v")))
    >>> sorted(sorted(term) for term in found)
    [['r', 'u'], ['r', 'v']]
    """
    terms = _terms(law)
    return frozenset(term for term in terms if term and not any(term < other for other in terms))


def _terms(law: Expr) -> Support:
    if not isinstance(law, Apply):
        return frozenset({frozenset(variables(law))})
    first, *others = law.arguments
    match law.operator.name:
        case "add" | "sub":
            return _terms(first) | _terms(others[0])
        case "neg":
            return _terms(first)
        case "mul":
            return frozenset(a | b for a in _terms(first) for b in _terms(others[0]))
        case "div":
            return frozenset(a | frozenset(variables(others[0])) for a in _terms(first))
        case _:
            return frozenset({frozenset(variables(law))})
