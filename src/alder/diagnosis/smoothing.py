r"""How much of a column the other rows foresee: kernel ridge regression, each row left out.

$$\hat r = K (K + \lambda 1)^{-1} r, \qquad r_i - \hat r_{-i} = \frac{r_i - \hat r_i}{1 - H_{ii}},
\qquad K_{ij} = e^{-|u_i - u_j|^2 / 2 \ell^2}$$

$u$ are one or two variables scaled to the unit interval. The share that is foreseen,
$1 - \sum (r_i - \hat r_{-i})^2 / \sum (r_i - \bar r_{-i})^2$, is about zero for noise, however many
coefficients a curve would have had.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from alder.arrays import FloatArray

_LENGTHS = (0.03, 0.08, 0.2, 0.5)
_PAIR_LENGTHS = (0.1, 0.2, 0.5)
_RIDGES = (0.01, 0.1, 1.0, 10.0)
# Rows beyond these add seconds and no certainty.
MOST_ROWS = 240


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What the other rows foresee of each row, along which variables, and how large a share."""

    share: float
    along: tuple[str, ...]
    foreseen: FloatArray


def find_pattern(values: FloatArray, inputs: FloatArray, names: Sequence[str]) -> Pattern:
    """Return the pattern along one or two variables that foresees most of the values."""
    best = Pattern(0.0, (), np.full_like(values, values.mean()))
    for along, kernel in _kernels(inputs):
        found = foresee(values, kernel)
        if found.share > best.share:
            best = Pattern(found.share, tuple(names[i] for i in along), found.foreseen)
    return best


def foresee(values: FloatArray, kernel: FloatArray) -> Pattern:
    """Return what a kernel foresees of each value from the others, at its best ridge."""
    n_rows = len(values)
    centred = values - values.mean()
    total = float(np.sum(np.square(centred))) * (n_rows / (n_rows - 1.0)) ** 2
    eigenvalues, U = np.linalg.eigh(kernel)
    eigenvalues, projected = np.maximum(eigenvalues, 0.0), U.T @ centred
    best, share = np.zeros(n_rows), 0.0
    for ridge in _RIDGES:
        weight = eigenvalues / (eigenvalues + ridge)
        smooth, leverage = U @ (weight * projected), np.square(U) @ weight
        left = (centred - smooth) / np.maximum(1.0 - leverage, 1e-9)
        found = 1.0 - float(np.sum(np.square(left))) / max(total, 1e-300)
        if found > share:
            best, share = centred - left, found
    return Pattern(share, (), values.mean() + best)


def scaled(columns: Sequence[FloatArray]) -> FloatArray:
    """Scale columns to the unit interval, (n, d); one that never moved is zero."""
    widths = [float(np.ptp(column)) for column in columns]
    return np.stack(
        [
            (c - c.min()) / w if w > 0.0 else np.zeros_like(c)
            for c, w in zip(columns, widths, strict=True)
        ],
        axis=1,
    )


def _kernels(inputs: FloatArray) -> Iterator[tuple[tuple[int, ...], FloatArray]]:
    moved = [i for i in range(inputs.shape[1]) if np.ptp(inputs[:, i]) > 0.0]
    squares = {i: np.square(inputs[:, i, None] - inputs[None, :, i]) for i in moved}
    for i in moved:
        for length in _LENGTHS:
            yield (i,), np.exp(-0.5 * squares[i] / length**2)
    for i, j in combinations(moved, 2):
        for length in _PAIR_LENGTHS:
            yield (i, j), np.exp(-0.5 * (squares[i] + squares[j]) / length**2)
