"""Typed edits of trees: what a proposer or a rival may do to a law.

A position is the tuple of argument indices that leads from the root to a node. An edit that would
not give a well-formed tree returns None, so that a search can try edits without asking first.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from alder.errors import MalformedLaw
from alder.expr.canonical import rename
from alder.expr.nodes import Apply, Const, Expr, Param, parameters, variables
from alder.expr.operators import OPERATORS, Operator

Position: TypeAlias = tuple[int, ...]


def positions(expr: Expr) -> tuple[Position, ...]:
    """List the positions of all nodes, parents before children, left before right.

    >>> from alder.expr.text import parse
    >>> positions(parse("x + y", ["x", "y"]))
    ((), (0,), (1,))
    """
    return tuple(_positions(expr, ()))


def at(expr: Expr, position: Position) -> Expr | None:
    """Return the node at a position, or None where there is none."""
    node: Expr = expr
    for index in position:
        if not isinstance(node, Apply) or not 0 <= index < len(node.arguments):
            return None
        node = node.arguments[index]
    return node


def replace(expr: Expr, position: Position, new: Expr) -> Expr | None:
    """Put a tree in the place of the node at a position."""
    path: list[tuple[Apply, int]] = []
    node: Expr = expr
    for index in position:
        if not isinstance(node, Apply) or not 0 <= index < len(node.arguments):
            return None
        path.append((node, index))
        node = node.arguments[index]
    result: Expr | None = new
    for parent, index in reversed(path):
        arguments = (*parent.arguments[:index], result, *parent.arguments[index + 1 :])
        result = _apply(parent.operator, arguments)
        if result is None:
            return None
    return result


def wrap(
    expr: Expr,
    position: Position,
    operator_name: str,
    *,
    siblings: Sequence[Expr] = (),
    slot: int = 0,
) -> Expr | None:
    """Make the node at a position the argument `slot` of an operator, beside its siblings.

    >>> from alder.expr.text import parse, to_text
    >>> wrapped = wrap(parse("k*x", ["x"]), (1,), "add", siblings=[Param("b")])
    >>> wrapped and to_text(wrapped)
    'k*(x + b)'
    """
    node, operator = at(expr, position), OPERATORS.get(operator_name)
    if node is None or operator is None or not 0 <= slot <= len(siblings):
        return None
    wrapped = _apply(operator, (*siblings[:slot], node, *siblings[slot:]))
    return None if wrapped is None else replace(expr, position, wrapped)


def prune(expr: Expr, position: Position) -> Expr | None:
    """Take a term out of its sum or a factor out of its product; elsewhere, unwrap the node.

    A difference without its first term is the negated second; a quotient without its numerator
    is an inverse. An extremum loses the argument.

    >>> from alder.expr.text import parse, to_text
    >>> pruned = prune(parse("k*x - c", ["x"]), (0, 0))
    >>> pruned and to_text(pruned)
    'x - c'
    """
    node = at(expr, position)
    parent = at(expr, position[:-1]) if position else None
    if node is None or not isinstance(parent, Apply):
        return unwrap(expr, position)
    left_out = position[-1]
    match parent.operator.name:
        case "add" | "mul" | "max" | "min":
            rest: Expr | None = parent.arguments[1 - left_out]
        case "sub":
            rest = parent.arguments[0] if left_out else _apply("neg", parent.arguments[1:])
        case "div":
            inverse = (Const(1.0), parent.arguments[1])
            rest = parent.arguments[0] if left_out else _apply("div", inverse)
        case _:
            return unwrap(expr, position)
    return None if rest is None else replace(expr, position[:-1], rest)


def unwrap(expr: Expr, position: Position) -> Expr | None:
    """Replace a function of one argument by its argument, and a power by its base."""
    match at(expr, position):
        case Apply(operator, arguments) if operator.arity == 1 or operator.name in ("pow", "powp"):
            return replace(expr, position, arguments[0])
        case _:
            return None


def factor(expr: Expr, position: Position = ()) -> Expr | None:
    """Take the factors two terms share out of their sum: a*x + a*y becomes a*(x + y).

    >>> from alder.expr.text import parse, to_text
    >>> factored = factor(parse("a*x - y*a", ["x", "y"]))
    >>> factored and to_text(factored)
    'a*(x - y)'
    """
    match at(expr, position):
        case Apply(operator, (left, right)) if operator.name in ("add", "sub"):
            ours, theirs = _factors(left), _factors(right)
            common: list[Expr] = []
            for candidate in tuple(ours):
                if candidate in theirs:
                    ours.remove(candidate)
                    theirs.remove(candidate)
                    common.append(candidate)
            if not common:
                return None
            inner = _apply(operator, (_product(ours), _product(theirs)))
            return None if inner is None else replace(expr, position, _product([*common, inner]))
        case _:
            return None


def share(expr: Expr, old: str, new: str) -> Expr | None:
    """Make one parameter of two: every `old` becomes `new`, which the law must have already."""
    names = parameters(expr)
    if old == new or old not in names or new not in names:
        return None
    return rename(expr, {old: new})


def fresh_parameter(expr: Expr, stem: str = "p") -> Param:
    """Return a parameter whose name the law does not use yet, for variables neither.

    >>> from alder.expr.text import parse
    >>> fresh_parameter(parse("k*x + k1", ["x"]), "k")
    Param(name='k2')
    """
    taken = {*parameters(expr), *variables(expr)}
    number = 0
    name = stem
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    return Param(name)


def _positions(expr: Expr, here: Position) -> Iterator[Position]:
    yield here
    if isinstance(expr, Apply):
        for index, argument in enumerate(expr.arguments):
            yield from _positions(argument, (*here, index))


def _apply(operator: Operator | str, arguments: Sequence[Expr | None]) -> Expr | None:
    """Apply an operator, or return None where the number or kind of arguments forbids it."""
    row = OPERATORS[operator] if isinstance(operator, str) else operator
    given = tuple(argument for argument in arguments if argument is not None)
    try:
        return Apply(row, given)
    except MalformedLaw:
        return None


def _factors(expr: Expr) -> list[Expr]:
    match expr:
        case Apply(operator, (left, right)) if operator.name == "mul":
            return [*_factors(left), *_factors(right)]
        case _:
            return [expr]


def _product(factors: Sequence[Expr]) -> Expr:
    result: Expr = factors[0] if factors else Const(1.0)
    for factor_ in factors[1:]:
        result = Apply(OPERATORS["mul"], (result, factor_))
    return result
