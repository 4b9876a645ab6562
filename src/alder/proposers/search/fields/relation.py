r"""Sparse linear relations among columns: the null space of $[Q,\; y P]$.

$y = N/D$ says $N - y D = 0$, which is linear in the coefficients of both. Rows are scaled, then
columns; the left-hand column is the largest of the null vector, since to fix one beforehand loses
laws such as $x/(x + z)$. Columns are then removed one by one, each time that which raises the
residual least: true coefficients may be small, so their size says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray

EPSILON = float(np.finfo(np.float64).eps)
# Bits of a free coefficient; which column it belongs to comes on top.
COEFFICIENT_BITS = 40.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """Coefficients of a few columns whose sum vanishes, with their relative standard errors.

    `left` is the place in `support` of the column with coefficient one. `rest` is what remains,
    relative to that column.
    """

    support: tuple[int, ...]
    coefficients: FloatArray
    errors: FloatArray
    left: int
    rest: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Columns with their rows and then themselves scaled, reduced to a triangle."""

    triangle: FloatArray
    norms: FloatArray
    n_rows: int
    kept: tuple[int, ...]

    @staticmethod
    def of(columns: FloatArray) -> "Scaled":
        """Scale and reduce; columns that vanish on every row are left out."""
        size = np.abs(columns).max(axis=1, initial=0.0)
        rows = columns[size > 0.0] / size[size > 0.0, None]
        norms = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        kept = np.flatnonzero(norms > 0.0)
        triangle = np.asarray(np.linalg.qr(rows[:, kept] / norms[kept], mode="r"), dtype=float)
        return Scaled(triangle, norms[kept], len(rows), tuple(kept.tolist()))

    def null_vector(self) -> tuple[float, FloatArray]:
        """Return the smallest singular value and its vector, over the kept columns."""
        _, values, vectors = np.linalg.svd(self.triangle, full_matrices=True)
        smallest = float(values[-1]) if len(values) == len(self.kept) else 0.0
        return smallest, vectors[-1]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Least squares of one column on others, all of unit length."""

    weights: FloatArray
    rises: FloatArray
    spread: FloatArray
    rss: float


def regress(triangle: FloatArray, left: int, others: Sequence[int]) -> Solved:
    r"""Solve, and say by how much the residual rises exactly when each column is left out.

    $$\Delta_j = \beta_j^2 / \lVert (R^{-1})_{j\cdot} \rVert^2$$
    """
    m = len(others)
    Q, R = np.linalg.qr(np.column_stack([triangle[:, list(others)], triangle[:, left]]))
    del Q
    rest = R[m:, m]
    top = R[:m, :m].copy()
    size = np.abs(np.diag(top))
    tiny = EPSILON * max(float(size.max(initial=0.0)), 1e-300) * 0.01
    top[np.diag_indices(m)] = np.where(size < tiny, tiny, np.diag(top))
    inverse = np.asarray(np.linalg.solve(top, np.eye(m)), dtype=np.float64)
    weights = inverse @ R[:m, m]
    spread = np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
    rises = np.square(weights / np.maximum(spread, 1e-300))
    return Solved(weights, rises, spread, float(rest @ rest))


def sparsest(
    scaled: Scaled, left: int, required: NDArray[np.bool_], price: float
) -> list[Relation]:
    """Remove columns one by one; return the shortest descriptions, the best first.

    `left` and `required` are places among the kept columns; one of the required ones stays.
    """
    others = [j for j in range(len(scaled.kept)) if j != left]
    path: list[tuple[float, Relation]] = []
    while True:
        solved = regress(scaled.triangle, left, others)
        path.append(
            (_length(scaled, solved, len(others), price), _relation(scaled, left, others, solved))
        )
        order = np.argsort(solved.rises, kind="stable").tolist()
        removable = [k for k in order if _may_go(others, k, left, required)]
        if not removable:
            break
        del others[removable[0]]
    path.sort(key=lambda pair: pair[0])
    return [relation for _, relation in path[:2]]


def _may_go(others: list[int], place: int, left: int, required: NDArray[np.bool_]) -> bool:
    """Say whether a required column is left without this one."""
    return bool(required[left]) or any(required[j] for k, j in enumerate(others) if k != place)


def _length(scaled: Scaled, solved: Solved, n_terms: int, price: float) -> float:
    """Return the description length in bits; what rounding hides is not counted."""
    floor = EPSILON * (1.0 + float(np.abs(solved.weights).sum()))
    return scaled.n_rows * float(np.log2(max(np.sqrt(solved.rss), floor))) + price * n_terms


def _relation(scaled: Scaled, left: int, others: list[int], solved: Solved) -> Relation:
    support = [*others, left]
    norms = scaled.norms[support]
    coefficients = np.append(-solved.weights, 1.0) / norms * norms[-1]
    noise = max(np.sqrt(solved.rss / max(scaled.n_rows - len(others), 1)), EPSILON / 8.0)
    relative = noise * solved.spread / np.maximum(np.abs(solved.weights), 1e-300)
    return Relation(
        tuple(scaled.kept[j] for j in support),
        coefficients,
        np.append(relative, 0.0),
        len(support) - 1,
        float(np.sqrt(solved.rss)),
    )
