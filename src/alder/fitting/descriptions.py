r"""Which terms belong to a law: several of the shortest descriptions, not one.

The length of a description is that of `subsets`. Sets of terms grow by one term at a time, and at
every size the shortest of all are grown on, beside the shortest that hold each kind of term. So
pairs are found of which neither term helps alone, and descriptions that have nothing in common
are found beside each other. Others come from above: simple terms all at once, with one or two that
are not, until what is not needed has left.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import cast, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.fitting.elimination import from_above
from alder.fitting.layers import TOLD_APART, Layer, Terms
from alder.fitting.subsets import Subset, least_squares

_LOOKED_AT = 40  # times the width
_ALIKE = 2  # sets of the same kinds that grow on
_SWAPS = 2
_SWAPPED = 24  # of the shortest sets, each time
_HOPELESS = 3.0  # of the cheapest term: a size that is longer by more is the last


@final
@dataclass(frozen=True, slots=True)
class Search:
    """How far is looked: results, sets of one size that grow on, and terms of a set at most.

    `base` are the places of simple terms, which laws often hold several of.
    """

    n_best: int
    width: int
    most: int
    base: tuple[int, ...] = ()


def shortest(
    X: FloatArray, y: FloatArray, costs: FloatArray, kinds: Sequence[Hashable], search: Search
) -> tuple[Subset, ...]:
    """Return the shortest descriptions of white rows, best first.

    `X` is (rows, q, terms): a term's own column, then its derivatives, zero where there are none.
    Infinite costs bar a term. Terms of one kind differ in their numbers only; of sets of the same
    kinds only some are kept. Coefficients of a result are (q, terms) of it, flat.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])[:, None, :]
    >>> shortest(X, np.array([0.0, 5.0, 10.0]), np.ones(2), "ab", Search(1, 2, 2))[0].columns
    (1,)
    """
    n_rows, n_columns, n_terms = X.shape
    rows = np.column_stack([X.reshape(n_rows, -1), y])
    R = cast("FloatArray", np.linalg.qr(rows, mode="r"))
    scale = np.maximum(np.linalg.norm(R[:, :-1], axis=0), 1e-300)
    unit = (R[:, :-1] / scale).reshape(len(R), n_columns, n_terms)
    place = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    terms_of = Terms(unit, costs, np.array([place[kind] for kind in kinds]))
    y = R[:, -1]
    found = _grow(terms_of, y, search) | from_above(terms_of, y, search.base, search.most)
    for _ in range(_SWAPS):
        _swap(terms_of, y, search, found)
    best = sorted(found, key=lambda key: (found[key], key))[: search.n_best]
    shaped = scale.reshape(n_columns, n_terms)
    return tuple(_solved(unit, shaped, y, key, costs) for key in best)


def _grow(terms_of: Terms, y: FloatArray, search: Search) -> dict[tuple[int, ...], float]:
    """Return the lengths of the shortest sets of every size, from none on."""
    layer = Layer.of(terms_of, y, np.zeros((1, 0), dtype=np.int64))
    found: dict[tuple[int, ...], float] = {(): float(np.square(layer.rest).sum())}
    for _ in range(min(search.most, int(np.isfinite(terms_of.costs).sum()))):
        sets, terms = _best(layer, terms_of, search.width)
        if not len(sets):
            break
        layer = layer.grown(terms_of, sets, terms)
        lengths = layer.lengths(terms_of)
        found |= lengths
        if min(lengths.values()) > min(found.values()) + _HOPELESS * float(terms_of.costs.min()):
            break
    return found


def _swap(
    terms_of: Terms, y: FloatArray, search: Search, found: dict[tuple[int, ...], float]
) -> None:
    """Add sets in which one term of a short one gave way to another, size by size."""
    short = sorted(found, key=lambda key: (found[key], key))[:_SWAPPED]
    for size in sorted({len(key) for key in short if key}):
        less = {key[:i] + key[i + 1 :] for key in short if len(key) == size for i in range(size)}
        rows = np.array(sorted(less), dtype=np.int64).reshape(len(less), size - 1)
        layer = Layer.of(terms_of, y, rows)
        sets, terms = _best(layer, terms_of, search.width)
        if len(sets):
            found |= layer.grown(terms_of, sets, terms).lengths(terms_of)


def _best(layer: Layer, terms_of: Terms, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which sets grow by which terms: the shortest, few of the same kinds.

    Beside them, the shortest that holds each kind: what is needed may look poor until all of it
    is there.
    """
    lengths = _grown_lengths(layer, terms_of)
    # Each set can be reached by adding any of its terms last, and at many scales.
    order = _smallest(lengths.ravel(), width * _LOOKED_AT)
    of_kinds = _of_each_kind(layer, terms_of, lengths)[:width]
    seen: set[tuple[int, ...]] = set()
    alike: Counter[tuple[int, ...]] = Counter()
    kept: list[int] = []
    for places, most in ((order, width), (of_kinds, 2 * width)):
        there = places[np.isfinite(lengths.ravel()[places])]
        sets, terms = np.divmod(there, lengths.shape[1])
        keys = np.sort(np.column_stack([layer.terms[sets], terms]), axis=1)
        kinds = np.sort(terms_of.kinds[keys], axis=1)
        for place, key, kind in zip(there.tolist(), keys.tolist(), kinds.tolist(), strict=True):
            if len(kept) < most and tuple(key) not in seen and alike[tuple(kind)] < _ALIKE:
                seen.add(tuple(key))
                alike[tuple(kind)] += 1
                kept.append(place)
    chosen = np.array(kept, dtype=np.int64)
    return chosen // lengths.shape[1], chosen % lengths.shape[1]


def _smallest(values: FloatArray, n: int) -> NDArray[np.int64]:
    """Return the places of the n smallest values in order; of equal ones, the first come first."""
    if n >= len(values):
        return np.argsort(values, kind="stable")
    last = np.partition(values, n - 1)[n - 1]
    places = np.flatnonzero(values <= last)
    return places[np.argsort(values[places], kind="stable")][:n]


def _grown_lengths(layer: Layer, terms_of: Terms) -> FloatArray:
    """Return the length of every set with every further term; infinite where it cannot be."""
    gains, own = layer.gains(), layer.inner[:, 0, 0]
    costs = terms_of.costs
    now = np.square(layer.rest).sum(axis=1) + costs[layer.terms].sum(axis=1)
    there = np.isfinite(costs)
    lengths = now[:, None] + np.where(there, costs, 0.0) - gains
    lengths[~(there & (own > TOLD_APART))] = np.inf
    lengths[np.arange(len(now))[:, None], layer.terms] = np.inf
    return lengths


def _of_each_kind(layer: Layer, terms_of: Terms, lengths: FloatArray) -> NDArray[np.int64]:
    """Return the places of the shortest grown sets that hold each kind of term, best first."""
    n_terms = lengths.shape[1]
    found: list[int] = []
    best_row, best_set = lengths.argmin(axis=0), lengths.argmin(axis=1)
    by_term = lengths[best_row, np.arange(n_terms)]
    by_set = lengths[np.arange(len(lengths)), best_set]
    for kind in range(int(terms_of.kinds.max()) + 1):
        last = np.flatnonzero(terms_of.kinds == kind)
        term = int(last[np.argmin(by_term[last])])
        found.append(int(best_row[term]) * n_terms + term)
        holding = np.flatnonzero((terms_of.kinds[layer.terms] == kind).any(axis=1))
        if len(holding):
            one = int(holding[np.argmin(by_set[holding])])
            found.append(one * n_terms + int(best_set[one]))
    places = np.unique(np.array(found, dtype=np.int64))
    return places[np.argsort(lengths.ravel()[places], kind="stable")]


def _solved(
    unit: FloatArray, scale: FloatArray, y: FloatArray, key: tuple[int, ...], costs: FloatArray
) -> Subset:
    chosen = list(key)
    columns = unit[:, :, chosen].reshape(len(y), -1)
    c = least_squares(columns, y, 1e-14)
    left = y - columns @ c
    rest = float(left @ left)
    # What solving leaves of a column that is not there is rounding, and means nothing.
    coefficients = np.where(columns.any(axis=0), c / scale[:, chosen].ravel(), 0.0)
    return Subset(key, coefficients, rest, rest + float(costs[chosen].sum()))
