r"""What the laws of several rates have in common: a term of one is a multiple of a term of another.

What flows out of one state flows into another, and what saturates one rate saturates another.
Terms are compared by their values over the ranges of the laws, so that it does not matter how they
are written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr, Var, variables, walk
from alder.expr.sums import apart, summands
from alder.expr.text import to_display
from alder.records.law import Law

_N_POINTS = 64
# Values and numbers that agree to this share are equal.
_EQUAL = 1e-6
_DIGITS = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """A term of the law of one rate: its number, the rest of it in words, and values of the rest.

    What is `common` is a variable or a product of two: in many laws by chance.
    """

    target: str
    number: float
    text: str
    common: bool
    values: FloatArray


def shared_terms(laws: Mapping[str, Law]) -> tuple[str, ...]:
    """Say which terms two laws have in common, up to a number, one sentence each.

    A variable alone, or a product of two, is in many laws by chance: it counts only where its
    number is the same too.
    """
    columns = _points(laws)
    with np.errstate(all="ignore"):
        terms = {state: list(_terms(law, columns)) for state, law in laws.items()}
    return tuple(
        sentence
        for first, second in combinations(laws, 2)
        for a in terms[first]
        for b in terms[second]
        if (sentence := _sentence(a, b)) is not None
    )


def _points(laws: Mapping[str, Law]) -> dict[str, FloatArray]:
    """Return points inside the ranges that laws have seen, always the same ones."""
    ranges: dict[str, tuple[float, float]] = {}
    for law in laws.values():
        for variable in law.variables:
            ranges.setdefault(variable.name, law.scope.ranges.get(variable.name, (0.5, 2.0)))
    rng = np.random.default_rng(0)
    return {name: rng.uniform(low, high, _N_POINTS) for name, (low, high) in ranges.items()}


def _terms(law: Law, columns: Mapping[str, FloatArray]) -> Iterator[_Term]:
    for sign, term in summands(law.structure):
        number, rest = apart(term, law.values)
        if rest is None or number == 0.0:
            continue
        values = np.broadcast_to(evaluate(rest, columns, law.values, law.floors), _N_POINTS)
        if np.isfinite(values).all() and np.ptp(values) > 0.0:
            text = to_display(rest, law.values, _DIGITS)
            yield _Term(law.target.name, sign * number, text, _is_common(rest), values)


def _sentence(a: _Term, b: _Term) -> str | None:
    """Say that two terms are one, or return None."""
    scale = float(a.values @ b.values) / float(a.values @ a.values)
    if not np.allclose(b.values, scale * a.values, rtol=_EQUAL, atol=0.0):
        return None
    factor = b.number * scale / a.number
    same = abs(abs(factor) - 1.0) <= _EQUAL
    if not same and a.common:
        return None
    how = "" if same else f" times {factor:.6g}"
    if same and factor < 0.0:
        how = " with the opposite sign"
    return f"{a.text} in {a.target} is also in {b.target}{how}."


def _is_common(rest: Expr) -> bool:
    """Say whether a term is a variable or a product of two, which proves nothing."""
    return len(list(walk(rest))) <= 3 and all(
        isinstance(node, Var) or not variables(node) or node is rest for node in walk(rest)
    )
