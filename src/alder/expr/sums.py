"""Sums taken apart into their terms, and terms into a number and the rest."""

from collections.abc import Iterator, Mapping

from alder.expr.nodes import Apply, Const, Expr, Param


def summands(expr: Expr) -> Iterator[tuple[float, Expr]]:
    """Yield the terms of a sum with their signs.

    >>> from alder.expr.text import parse, to_text
    >>> [(sign, to_text(term)) for sign, term in summands(parse("a*x - (b - y)", ("x", "y")))]
    [(1.0, 'a*x'), (-1.0, 'b'), (1.0, 'y')]
    """
    match expr:
        case Apply(row, (left, right)) if row.name in ("add", "sub"):
            yield from summands(left)
            turn = 1.0 if row.name == "add" else -1.0
            yield from ((turn * sign, term) for sign, term in summands(right))
        case Apply(row, (only,)) if row.name == "neg":
            yield from ((-sign, term) for sign, term in summands(only))
        case _:
            yield 1.0, expr


def apart(term: Expr, values: Mapping[str, float]) -> tuple[float, Expr | None]:
    """Return the number in front of a term, and the rest of it; None where nothing is left.

    >>> from alder.expr.text import parse, to_text
    >>> number, rest = apart(parse("2*a*x/(b + x)", ("x",)), {"a": 1.5, "b": 3.0})
    >>> number, to_text(rest)
    (3.0, 'x/(b + x)')
    """
    number, rest = 1.0, term
    match term:
        case Const(value):
            number, rest = float(value), None
        case Param(name):
            number, rest = values[name], None
        case Apply(row, (left, right)) if row.name == "mul":
            (a, first), (b, second) = apart(left, values), apart(right, values)
            number, rest = a * b, first if second is None else second
            if first is not None and second is not None:
                rest = Apply(row, (first, second))
        case Apply(row, (above, below)) if row.name == "div":
            number, top = apart(above, values)
            rest = Apply(row, (Const(1.0) if top is None else top, below))
        case Apply(row, (only,)) if row.name == "neg":
            number, rest = apart(only, values)
            number = -number
        case _:
            pass
    return number, rest
