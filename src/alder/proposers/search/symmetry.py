r"""What leaves the law the same: changes of scale and shifts, read off the slopes of a witness.

Where $\sum_i w_i\, x_i\, \partial_i y = a\, y$ at every row, the law keeps its form when each $x_i$
is stretched by $\lambda^{w_i}$: it is $x_p^{a/w_p}$ times a function of the ratios
$x_i / x_p^{w_i/w_p}$. This is dimensional analysis with the dimensions taken from the rows; with
one weight alone it says that a power of $x_p$ stands before the law. Where
$\partial_i y \pm \partial_j y = 0$, the law depends on $x_i \mp x_j$ only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import gcd
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.proposers.search.table import Table
from alder.proposers.search.witness import Witness

# What a symmetry leaves, as a share of the slopes it is made of, and how many times the share that
# the witness misses of the target more: slopes are less sure than values. What is let through here
# is tried on the rows.
_LEFT = 3e-3
_UNSURE = 3.0
# A witness that misses a larger share of the target is poor: powers of one variable are then tried
# whatever its slopes say.
_POOR = 1e-3
# Weights of a change of scale, and up to how many variables all of them are asked at once.
_WEIGHTS = (-2, -1, 0, 1, 2)
_TOGETHER = 5
# Powers are believed to be multiples of this where they are that close to one.
_STEP = 0.5
_OFF = 0.12


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """A change of scale: weights by variable, and the power of the target."""

    weights: tuple[tuple[str, int], ...]
    power: float


@final
@dataclass(frozen=True, slots=True)
class Shift:
    """Two variables that act by their difference, or by their sum where `sign` is 1."""

    first: str
    second: str
    sign: int


Symmetry: TypeAlias = Stretch | Shift


def symmetries(table: Table, witness: Witness, unit: Mapping[str, object]) -> list[Symmetry]:
    """Return what the slopes permit, the simplest first, and what a poor witness may miss."""
    missed = witness.share(table)
    most = _LEFT + _UNSURE * missed
    found = [*_stretches(table, witness, most), *_shifts(witness, unit, most)]
    ordered = [one for _, _, one in sorted(found, key=lambda one: one[:2])]
    if missed > _POOR:
        alone = sorted(_alone(table, witness), key=lambda one: one[1])
        ordered += [one for _, _, one in alone if one not in ordered]
    return ordered


_Ranked: TypeAlias = tuple[int, float, Symmetry]


def _stretches(table: Table, witness: Witness, most: float) -> Iterator[_Ranked]:
    columns = np.array([table.columns[name][witness.rows] for name in witness.names]).T
    y = table.target[witness.rows]
    along = witness.slopes * columns
    change = witness.bend * y
    square = float(change @ change)
    gram, onto = along.T @ along, along.T @ change / square
    alone = np.diag(gram)
    weights = _weights(len(witness.names))
    powers = weights @ onto
    steps = np.round(powers / _STEP) * _STEP
    left = np.einsum("wi,ij,wj->w", weights, gram, weights)
    left += square * (steps * steps - 2.0 * steps * powers)
    share = left / np.maximum(np.square(weights) @ alone, 1e-300)
    one_sign = np.array([column.min() > 0.0 or column.max() < 0.0 for column in columns.T])
    for k in np.flatnonzero((share < most) & (np.abs(powers - steps) < _OFF)):
        chosen = [int(w) for w in weights[k]]
        if any(w and good for w, good in zip(chosen, one_sign, strict=True)):
            named = tuple((n, w) for n, w in zip(witness.names, chosen, strict=True) if w)
            effort = sum(abs(w) for _, w in named) + len(named)
            yield effort, float(share[k]), Stretch(named, float(steps[k]))


def _alone(table: Table, witness: Witness) -> Iterator[_Ranked]:
    """Yield the likeliest power of each positive variable before the law."""
    change = witness.bend * table.target[witness.rows]
    for i, name in enumerate(witness.names):
        column = table.columns[name][witness.rows]
        along = witness.slopes[:, i] * column
        slope = float(along @ change) / float(change @ change)
        if column.min() <= 0.0:
            continue
        # A poor witness flattens: the power may be the next whole one.
        near = {
            float(np.round(slope / _STEP) * _STEP),
            float(np.copysign(np.ceil(abs(slope)), slope)),
        }
        for power in sorted(near - {0.0}):
            left = along - power * change
            share = float(left @ left) / max(float(along @ along), 1e-300)
            yield 2, share, Stretch(((name, 1),), power)


def _weights(k: int) -> FloatArray:
    """List whole weights without a common divisor, each direction once."""
    every = product(_WEIGHTS, repeat=k) if k <= _TOGETHER else iter(_few_weights(k))
    kept = [w for w in every if gcd(*w) == 1 and next(x for x in w if x) > 0]
    return np.array(kept, dtype=np.float64)


def _few_weights(k: int) -> Iterator[tuple[int, ...]]:
    """List weights of one variable or two: there are too many of more."""
    for places in (*combinations(range(k), 1), *combinations(range(k), 2)):
        for values in product(_WEIGHTS, repeat=len(places)):
            at = dict(zip(places, values, strict=True))
            if all(values):
                yield tuple(at.get(i, 0) for i in range(k))


def _shifts(witness: Witness, unit: Mapping[str, object], most: float) -> Iterator[_Ranked]:
    slopes = witness.slopes
    alone = np.square(slopes).sum(axis=0)
    for i, j in combinations(range(len(witness.names)), 2):
        first, second = witness.names[i], witness.names[j]
        units = (unit.get(first), unit.get(second))
        if None not in units and units[0] != units[1]:
            continue
        for sign in (-1, 1):
            rest = slopes[:, i] - sign * slopes[:, j]
            share = float(rest @ rest) / max(float(alone[i] + alone[j]), 1e-300)
            if share < most:
                yield 3, share, Shift(first, second, sign)
