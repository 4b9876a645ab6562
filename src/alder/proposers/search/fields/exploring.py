r"""One space of relations: the sparsest of them, as laws with short numbers and free ones."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import size
from alder.proposers.search.fields.description import Fields
from alder.proposers.search.fields.monomials import Exponents
from alder.proposers.search.fields.ratio import Ratio, Sum, divided
from alder.proposers.search.fields.relation import COEFFICIENT_BITS, EPSILON, Scaled, sparsest
from alder.proposers.search.fields.settling import settle
from alder.proposers.search.fields.spaces import Space
from alder.records.short import FREE_BITS, bits_of, shorten

# Residuals above this are inexact; such relations are looked for among so many columns at most.
_NEARLY, _SMALL = 1e-11, 16
# A column that others leave less of than this follows from them.
_IDENTITY = 1e-14
# Columns eliminated in one stage: spaces that hold nothing cost none.
_EFFORT = 1_200
# Division leaves numbers exact to about this.
_DIVIDED = 1e-11


def look(fields: Fields, spaces: Iterable[Space]) -> None:
    """Look through spaces, the smallest first, until a law of short numbers is exact.

    Each call has an effort of its own, in columns that were eliminated one by one.
    """
    left = _EFFORT
    for space in spaces:
        left -= explore(fields, space)
        if fields.is_settled() or left <= 0:
            break


def explore(fields: Fields, space: Space, inner: Mapping[str, float] | None = None) -> int:
    """Find the sparsest relations of one space, and keep the laws they make.

    `inner` are values of parameters inside atoms. Return how many columns were eliminated.
    """
    columns = space.columns(fields.y)
    scaled = independent(columns, len(space.above))
    with_target = np.array([j >= len(space.above) for j in scaled.kept])
    if not with_target.any():
        return 0
    price = COEFFICIENT_BITS + float(np.log2(space.n_columns))
    left = len(scaled.kept) - 1
    if len(space.below) == 1:
        smallest = abs(float(scaled.triangle[-1, -1]))
    else:
        smallest, vector = scaled.null_vector()
        left = int(np.argmax(np.abs(vector)))
    if not _is_worth_it(fields, space, scaled.n_rows, smallest, price):
        return 0
    for relation in sparsest(scaled, left, with_target, price):
        support = relation.support
        ones = [k for k, j in enumerate(support) if j >= len(space.above)]
        short, free = settle(columns[:, list(support)], ones)
        for settled in (short, free):
            if np.isfinite(settled.bits):
                _keep(fields, space, support, settled.coefficients, inner or {})
    return len(scaled.kept)


def _is_worth_it(fields: Fields, space: Space, n_rows: int, smallest: float, price: float) -> bool:
    """Say whether a space may hold something shorter than what was found.

    Inexact relations are looked for in small spaces of polynomials only: among many columns they
    are no laws, and noise that is multiplied out is no longer noise of the target.
    Where a law is exact to rounding, a much larger space can bring but longer ones.
    """
    if smallest > _NEARLY and (space.n_columns > _SMALL or len(space.below) > 1):
        return False
    exact = [one for one in fields.found.values() if one.rest <= one.rounding]
    if exact and space.n_columns > _SMALL + 2 * min(size(one.structure) for one in exact):
        return False
    return n_rows * float(np.log2(max(smallest, EPSILON))) + price <= fields.best


def independent(columns: FloatArray, n_above: int) -> Scaled:
    """Scale columns without those above that follow from the ones before them.

    Such an identity of states alone holds on these rows, and says nothing about the target.
    """
    scaled = Scaled.of(columns)
    m = len(scaled.kept)
    diagonal = np.zeros(m)
    diagonal[: len(scaled.triangle)] = np.abs(np.diag(scaled.triangle))
    follows = [k for k, j in enumerate(scaled.kept) if j < n_above and diagonal[k] < _IDENTITY]
    if not follows:
        return scaled
    kept = [j for k, j in enumerate(scaled.kept) if k not in follows]
    again = Scaled.of(columns[:, kept])
    return replace(again, kept=tuple(kept[j] for j in again.kept))


def _keep(
    fields: Fields,
    space: Space,
    support: tuple[int, ...],
    coefficients: FloatArray,
    inner: Mapping[str, float],
) -> None:
    n_above = len(space.above)
    above: dict[Exponents, float] = {}
    below: dict[Exponents, float] = {}
    for j, value in zip(support, coefficients.tolist(), strict=True):
        if value == 0.0:
            continue
        if j < n_above:
            above[space.above[j]] = -value
        else:
            below[space.below[j - n_above]] = value
    if not (above and below):
        return
    fields.add(_tidied(divided(Ratio(space.atoms, above, below, inner=inner))), space.label)


def _tidied(ratio: Ratio) -> Ratio:
    """Write numbers that division made short again."""

    def tidy(terms: Sum) -> dict[Exponents, float]:
        found: dict[Exponents, float] = {}
        for e, value in terms.items():
            short = shorten(value, _DIVIDED) if bits_of(value) >= FREE_BITS else None
            found[e] = value if short is None else short.value
        return found

    return Ratio(ratio.atoms, tidy(ratio.above), tidy(ratio.below), tidy(ratio.whole), ratio.inner)
