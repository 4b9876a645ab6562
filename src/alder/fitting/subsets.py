r"""Which columns belong to a law: subsets by description length, from normal matrices alone.

$$L(K) = \min_c \lVert y - X_K c\rVert^2 + \sum_{j \in K} w_j$$

for white rows of unit variance. $w_j$ is what naming a column and its coefficient costs:
$\ln n + 2 \ln p$ for $n$ rows and a column that is one of $p$ as simple (Chen and Chen 2008).
The search adds, drops and swaps single columns until none of these lowers $L$.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray

_SINGULAR = 1e-10  # of a column's own square: below it, the others already say it
_MOST_MOVES = 200
_LEAST = 1e-6  # a move shortens by more than rounding

MOST_COLUMNS = 40
"""More than these are no description of anything."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """Normal matrices of a regression: `A = X'X`, `b = X'y`, `yy = y'y`, and the rows behind."""

    A: FloatArray
    b: FloatArray
    yy: float
    n_rows: int

    @staticmethod
    def of(X: FloatArray, y: FloatArray) -> "Normal":
        """Return the matrices of white rows."""
        return Normal(X.T @ X, X.T @ y, float(y @ y), len(y))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Chosen columns with their coefficients, the sum of squares left, and the length."""

    columns: tuple[int, ...]
    coefficients: FloatArray
    rest: float
    length: float


def term_cost(n_rows: int, n_columns: int) -> float:
    """Return what a column costs, in units of twice the log likelihood."""
    return float(np.log(max(n_rows, 2)) + 2.0 * np.log(max(n_columns, 2)))


def least_squares(X: FloatArray, y: FloatArray, rcond: float = 1e-12) -> FloatArray:
    """Return the shortest of the best solutions of `X c = y`."""
    found = cast("FloatArray", np.linalg.lstsq(X, y, rcond=rcond)[0])
    return np.asarray(found, dtype=np.float64)


def solve(normal: Normal, columns: Sequence[int], costs: FloatArray) -> Subset:
    """Return the least squares over these columns."""
    chosen = list(columns)
    if not chosen:
        return Subset((), np.zeros(0), normal.yy, normal.yy)
    A, b = normal.A[np.ix_(chosen, chosen)], normal.b[chosen]
    scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
    c = least_squares(A / np.outer(scale, scale), b / scale, 1e-14) / scale
    rest = max(normal.yy - 2.0 * float(b @ c) + float(c @ A @ c), 0.0)
    return Subset(tuple(chosen), c, rest, rest + float(costs[chosen].sum()))


def choose(
    normal: Normal,
    costs: FloatArray,
    start: Sequence[int] = (),
    most: int = MOST_COLUMNS,
) -> Subset:
    """Search from a start, for at most so many columns; infinite costs bar a column."""
    scale = np.sqrt(np.maximum(np.diag(normal.A), 1e-300))
    A, b = normal.A / np.outer(scale, scale), normal.b / scale
    chosen = [column for column in dict.fromkeys(start) if np.isfinite(costs[column])]
    for _ in range(_MOST_MOVES):
        move = _best_move(A, b, chosen, costs, most)
        if move is None:
            break
        out, into = move
        kept = [column for column in chosen if column != out]
        chosen = [*kept, into] if into >= 0 else kept
    return solve(normal, chosen, costs)


def _best_move(
    A: FloatArray, b: FloatArray, K: list[int], costs: FloatArray, most: int
) -> tuple[int, int] | None:
    r"""Return the column to drop and the one to add (-1 for none) that shorten most, if any does.

    With $G = A_{KK}^{-1}$ and $c = G b_K$, dropping $i$ costs $c_i^2 / G_{ii}$ and adding $j$ gains
    $g_j^2 / s_j$, $g = b - A_{\cdot K} c$, $s_j = A_{jj} - A_{jK} G A_{Kj}$. After dropping $i$,
    $g_j$ and $s_j$ grow by $H_{ji} c_i / G_{ii}$ and $H_{ji}^2 / G_{ii}$, $H = A_{\cdot K} G$.
    """
    G = np.linalg.pinv(A[np.ix_(K, K)], rcond=1e-14, hermitian=True)
    c = G @ b[K]
    H = A[:, K] @ G
    g = b - A[:, K] @ c
    s = np.diag(A) - np.einsum("jk,jk->j", H, A[:, K])
    free = np.isfinite(costs)
    free[K] = False
    best, move = -_LEAST, None
    if len(K) < most:
        best, move = _better(best, move, _change(g, s, free, costs), -1)
    for place, i in enumerate(K):
        pivot = max(G[place, place], 1e-300)
        dropped = c[place] ** 2 / pivot - costs[i]
        if dropped < best:
            best, move = dropped, (i, -1)
        grown = H[:, place]
        change = dropped + _change(g + grown * c[place] / pivot, s + grown**2 / pivot, free, costs)
        best, move = _better(best, move, change, i)
    return move


def _change(g: FloatArray, s: FloatArray, free: NDArray[np.bool_], costs: FloatArray) -> FloatArray:
    """Return by how much the length changes for every column added; infinite where it cannot be."""
    usable = free & (s > _SINGULAR)
    gain = np.square(g) / np.where(usable, s, 1.0)
    return np.where(usable, np.where(usable, costs, 0.0) - gain, np.inf)


def _better(
    best: float, move: tuple[int, int] | None, change: FloatArray, out: int
) -> tuple[float, tuple[int, int] | None]:
    into = int(np.argmin(change)) if len(change) else -1
    if into >= 0 and change[into] < best:
        return float(change[into]), (out, into)
    return best, move
