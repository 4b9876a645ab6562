r"""Sets of terms of one size, all at once: what they leave, and what a further term would take.

Columns are made orthogonal as they are added, since laws that imitate each other are nearly
collinear. A term with numbers inside brings its derivatives by them as further columns: to first
order, they put the numbers right where the term was only tried at some values.
"""

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.kernel import layers as kernel

_take_out, _gains = kernel.take_out, kernel.gains
TOLD_APART = 1e-11
"""Share of a column's square below which the others already say it."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Columns of unit length (m, q, p), and costs and kinds (p).

    `flat` are the columns that are there, those of one term beside each other: term p's begin at
    `firsts[p]`.
    """

    unit: FloatArray
    costs: FloatArray
    kinds: NDArray[np.int64]
    flat: FloatArray = field(init=False)
    firsts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Leave out the columns that terms of fewer numbers do not have."""
        n_columns = self.unit.shape[1]
        there = np.abs(self.unit).max(axis=0, initial=0.0) > 0.0
        counts = np.where(there, np.arange(1, n_columns + 1)[:, None], 0).max(axis=0, initial=0)
        kept = np.arange(n_columns) < counts[:, None]
        flat = self.unit.transpose(0, 2, 1)[:, kept]
        object.__setattr__(self, "flat", np.ascontiguousarray(flat))
        object.__setattr__(self, "firsts", np.append(0, np.cumsum(counts)).astype(np.int64))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Sets of one size: their terms (n, k), and what they leave of everything.

    `basis` (n, b, m) is orthonormal, with zeros where a column adds nothing; `rest` (n, m) is left
    of y, `along` (n, q, p) are its products with all columns, `inner` (n, q, q, p) those of what is
    left of every term's columns with each other, above the diagonal.
    """

    terms: NDArray[np.int64]
    basis: FloatArray
    rest: FloatArray
    along: FloatArray
    inner: FloatArray

    @staticmethod
    def of(terms_of: Terms, y: FloatArray, sets: NDArray[np.int64]) -> "Layer":
        """Return given sets of one size."""
        n, X = len(sets), terms_of.unit
        layer = Layer(
            sets[:, :0],
            np.zeros((n, 0, len(y))),
            np.tile(y, (n, 1)),
            np.tile(np.einsum("m,mqp->qp", y, X), (n, 1, 1)),
            np.tile(np.einsum("mqp,mrp->qrp", X, X), (n, 1, 1, 1)),
        )
        for place in range(sets.shape[1]):
            layer = layer.grown(terms_of, np.arange(n), sets[:, place])
        return layer

    def lengths(self, terms_of: Terms) -> dict[tuple[int, ...], float]:
        """Return the length of each set, by its sorted terms."""
        found = np.square(self.rest).sum(axis=1) + terms_of.costs[self.terms].sum(axis=1)
        keys = (tuple(sorted(each)) for each in self.terms.tolist())
        return dict(zip(keys, found.tolist(), strict=True))

    def gains(self) -> FloatArray:
        """Return what each further term would take from the squares, (n, p)."""
        return gains_of(self.along, self.inner)

    def grown(self, terms_of: Terms, sets: NDArray[np.int64], terms: NDArray[np.int64]) -> "Layer":
        """Return some of the sets, each with one term more."""
        X = terms_of.unit
        basis, rest = self.basis[sets], self.rest[sets]
        along, inner = self.along[sets], self.inner[sets]
        for q in range(X.shape[1]):
            new = X[:, q, terms].T
            for _ in range(2):  # twice is enough (Kahan and Parlett)
                new = new - np.einsum("nbm,nb->nm", basis, np.einsum("nbm,nm->nb", basis, new))
            size = np.linalg.norm(new, axis=1)
            there = np.flatnonzero(size**2 > TOLD_APART)
            unit = np.zeros_like(new)
            unit[there] = new[there] / size[there, None]
            left = np.einsum("nm,nm->n", unit[there], rest[there])
            rest[there] -= left[:, None] * unit[there]
            shares = unit[there] @ terms_of.flat
            _take_out(along, inner, shares, terms_of.firsts, left, there)
            basis = np.concatenate([basis, unit[:, None]], axis=1)
        return Layer(np.column_stack([self.terms[sets], terms]), basis, rest, along, inner)


def gains_of(along: FloatArray, inner: FloatArray) -> FloatArray:
    """Return what terms take from the squares: (n, p) from products (n, q, p) and (n, q, q, p).

    The columns of a term are eliminated one after the other.
    """
    return _gains(along, inner, TOLD_APART)
