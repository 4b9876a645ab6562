r"""Sets of terms from above: simple terms all at once, one or two others, and what is needed stays.

What a term of many numbers leaves cannot be seen while the simple terms beside it are missing. So
all of these are there at first, and leave one by one: that which lengthens the description least.
As they leave, terms that differ in their numbers only may take each other's place.
With $A = QR$, $G = R^{-1} R^{-\top}$ and $c = R^{-1} Q^\top y$, the columns $B$ of a term cost

$$c_B^\top G_{BB}^{-1} c_B .$$
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.fitting.layers import TOLD_APART, Layer, Terms, gains_of

_FIRSTS = 40  # kinds of terms that are tried beside the base
_SECONDS = 12  # sets with one term beside the base that get a second one
_TIED = 1e-9  # of a column's length: what is left of one that the others already say

Lengths = dict[tuple[int, ...], float]


def from_above(terms_of: Terms, y: FloatArray, base: Sequence[int], most: int) -> Lengths:
    """Return lengths of sets of at most so many terms, by their sorted places."""
    found: Lengths = {}
    if not base:
        return found
    kinds = _kinds(terms_of)
    held = set(terms_of.kinds[list(base)].tolist())
    beside = [places for kind, places in kinds.items() if kind not in held]
    _eliminated(terms_of, y, list(base), most, found)
    if not beside:
        return found
    gains = Layer.of(terms_of, y, np.array([base], dtype=np.int64)).gains()[0]
    members = sorted((_best_of(places, gains) for places in beside), key=lambda t: (-gains[t], t))
    ones = [[*base, term] for term in members[:_FIRSTS]]
    first = [_eliminated(terms_of, y, list(one), most, found) for one in ones]
    order = sorted(range(len(ones)), key=lambda i: (first[i], ones[i]))[:_SECONDS]
    layer = Layer.of(terms_of, y, np.array([ones[i] for i in order], dtype=np.int64))
    for row, i in enumerate(order):
        gains = layer.gains()[row]
        best = max((_best_of(places, gains) for places in beside), key=lambda t: (gains[t], -t))
        _eliminated(terms_of, y, [*ones[i], best], most, found)
    return found


def _kinds(terms_of: Terms) -> dict[int, list[int]]:
    """Return the places of each kind of term that may be chosen."""
    kinds: dict[int, list[int]] = {}
    for place in np.flatnonzero(np.isfinite(terms_of.costs)).tolist():
        kinds.setdefault(int(terms_of.kinds[place]), []).append(place)
    return kinds


def _best_of(places: Sequence[int], gains: FloatArray) -> int:
    return max(places, key=lambda place: (gains[place], -place))


def _eliminated(
    terms_of: Terms, y: FloatArray, kept: list[int], most: int, found: Lengths
) -> float:
    """Drop terms one by one, noting every set small enough; return the shortest length met."""
    shortest = np.inf
    while kept:
        for number, place in enumerate(kept):
            alike = np.flatnonzero(terms_of.kinds == terms_of.kinds[place])
            if len(alike) > 1:
                others = kept[:number] + kept[number + 1 :]
                free = alike[~np.isin(alike, others)]
                kept[number] = int(free[np.argmax(_member_gains(terms_of, y, others, free))])
        rest, rises = _rises(terms_of, y, kept)
        length = rest + float(terms_of.costs[kept].sum())
        if len(kept) <= most:
            key = tuple(sorted(kept))
            found[key] = min(found.get(key, np.inf), length)
            shortest = min(shortest, length)
        kept.pop(int(np.argmin(rises - terms_of.costs[kept])))
    return shortest


def _member_gains(
    terms_of: Terms, y: FloatArray, others: Sequence[int], members: NDArray[np.int64]
) -> FloatArray:
    """Return what each of some terms takes from the squares beside the others."""
    X, _ = _columns(terms_of, others)
    whole, R = np.linalg.qr(X)
    Q = whole[:, np.abs(np.diag(R)) > _TIED]
    U = terms_of.unit[:, :, members]
    flat = U.reshape(len(y), -1)
    left = (flat - Q @ (Q.T @ flat)).reshape(U.shape)
    rest = y - Q @ (Q.T @ y)
    along = np.einsum("m,mqp->qp", rest, left)[None]
    inner = np.einsum("mqp,mrp->qrp", left, left)[None]
    gains = gains_of(along, inner)[0]
    return np.where(inner[0, 0, 0] > TOLD_APART, gains, -1.0)


def _columns(terms_of: Terms, kept: Sequence[int]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the columns of terms, and which of the terms each belongs to."""
    unit = terms_of.unit[:, :, list(kept)]
    X = unit.transpose(0, 2, 1).reshape(len(unit), -1)
    owner = np.repeat(np.arange(len(kept)), unit.shape[1])
    there = np.square(X).sum(axis=0) > 0.0
    return X[:, there], owner[there]


def _rises(terms_of: Terms, y: FloatArray, kept: Sequence[int]) -> tuple[float, FloatArray]:
    """Return what these terms leave, and by how much more without each of them."""
    whole, of_all = _columns(terms_of, kept)
    # Columns that those before them say already take no part.
    lengths = np.abs(np.diag(np.linalg.qr(whole, mode="r")))
    free = np.zeros(whole.shape[1], dtype=np.bool_)
    free[: len(lengths)] = lengths > _TIED  # beyond as many as there are rows, none is free
    X, owner = whole[:, free], of_all[free]
    Q, R = np.linalg.qr(X)
    inverse = np.linalg.inv(R)
    c = inverse @ (Q.T @ y)
    left = y - X @ c
    counts = np.bincount(owner, minlength=len(kept))
    single = counts[owner] == 1
    rises = np.zeros(len(kept))
    rises[owner[single]] = np.square(c[single]) / np.square(inverse[single]).sum(axis=1)
    for number in np.flatnonzero(counts > 1):
        own, mine = inverse[owner == number], c[owner == number]
        back = np.linalg.lstsq(own, mine, rcond=None)[
            0
        ]  # squares of `own` would be singular sooner
        rises[number] = float(back @ back)
    return float(left @ left), rises
