r"""Parts of the laws of other rates: what saturates one rate often saturates another.

A part is a term without its number, the reciprocal of a denominator, or a function with numbers
inside, such as $x y/(k + x)$, $1/(k + x)$ or $\exp(-a x)$. Its numbers were found with another
rate, so that none has to be looked for here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Param, parameters, size, variables, walk
from alder.expr.operators import OPERATORS, Floors
from alder.expr.sums import apart, summands
from alder.expr.text import to_display
from alder.proposers.search.fields.description import Fields
from alder.proposers.search.fields.exploring import explore
from alder.proposers.search.fields.monomials import Atoms
from alder.proposers.search.fields.spaces import Space, plain_atoms
from alder.records.law import Law

# The most parts that are tried, nodes of one, and columns of a space with it.
_MOST, _LARGEST, _COLUMNS = 8, 21, 90
_DEGREES = (1, 2, 3)
# Parts whose numbers agree to so many digits are one.
_DIGITS = 6
_ARITHMETIC = frozenset(("add", "sub", "mul", "neg"))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a law, and the values of the parameters in it."""

    expr: Expr
    values: Mapping[str, float]


def parts_of(laws: Iterable[Law]) -> list[Part]:
    """Return the parts that laws may lend, whole terms first, equal ones once."""
    found: dict[str, Part] = {}
    known = list(laws)
    whole = [(law, expr) for law in known for expr in _whole(law)]
    inner = [(law, expr) for law in known for expr in _inner(law.structure)]
    for law, expr in (*whole, *inner):
        if size(expr) <= _LARGEST:
            old = parameters(expr)
            new = {name: f"s{k}" for k, name in enumerate(old)}
            part = Part(rename(expr, new), {new[name]: law.values[name] for name in old})
            found.setdefault(to_display(part.expr, part.values, _DIGITS), part)
    return list(found.values())[:_MOST]


def borrow(fields: Fields, parts: Iterable[Part], floors: Floors) -> None:
    """Look for laws that are polynomials of the variables and one part of another rate."""
    for part in parts:
        values = np.broadcast_to(evaluate(part.expr, fields.columns, part.values, floors),
                                 len(fields.y))  # fmt: skip
        if not np.isfinite(values).all() or np.ptp(values) == 0.0:
            continue
        for space in _spaces(fields, part, values):
            explore(fields, space, part.values)
            if fields.is_exact() or fields.is_settled():
                return


def _spaces(fields: Fields, part: Part, values: FloatArray) -> Iterator[Space]:
    plain = plain_atoms(fields.columns)
    atoms = Atoms(
        (*plain.exprs, part.expr), np.column_stack([plain.values, values]), (*plain.at_most, 1)
    )
    one = (0,) * len(atoms.exprs)
    for degree in _DEGREES:
        above = atoms.monomials(degree)
        if len(above) <= min(_COLUMNS, len(fields.y) / 3.0):
            yield Space("a part of another rate", atoms, above, (one,))


def _whole(law: Law) -> Iterator[Expr]:
    """Yield terms that hold a part worth lending, without the number in front."""
    for _, term in summands(law.structure):
        rest = apart(term, law.values)[1]
        if rest is not None and any(True for _ in _inner(rest)):
            yield rest


def _inner(law: Expr) -> Iterator[Expr]:
    """Yield reciprocals of denominators, and functions with numbers of their own."""
    for node in walk(law):
        if not isinstance(node, Apply):
            continue
        if node.operator.name == "div":
            below = node.arguments[1]
            if variables(below) and isinstance(below, Apply):
                yield Apply(OPERATORS["div"], (Const(1.0), below))
        elif node.operator.name not in _ARITHMETIC and variables(node) and _has_number(node):
            yield node


def _has_number(node: Apply) -> bool:
    """Say whether a function holds a number: without one it is looked for anyway."""
    if node.operator.name == "pow":
        exponent = node.arguments[1]
        return not (isinstance(exponent, Const) and float(exponent.value).is_integer())
    return any(isinstance(inner, Const | Param) for inner in walk(node))
