r"""Several experiments at once: greedily, each knowing what those before it will explain.

An experiment $q$ is described by a matrix $A_q$ (outputs, directions): what each way in which the
laws may still differ would change in its outcome, in noise standard deviations. Directions start
independent with variance one, $P = \mathbf 1$. The variance an outcome would have is
$v(q) = \operatorname{tr} A_q P A_q^\top$; once $q$ is chosen,

$$P \leftarrow (P^{-1} + A_q^\top A_q)^{-1},$$

as for Gaussian directions, so that a second experiment that asks the same is worth about one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.records.experiment import Pool
from alder.selection.coverage import Coverage, nearest
from alder.selection.feasible import first_of_best

SHORT_LIST = 4096
"""How many experiments are weighed against one another in a batch; all of a smaller pool."""
# Numbers a short list may hold: 64 megabytes.
_MOST_NUMBERS = 8_000_000


@final
@dataclass(frozen=True, slots=True)
class Weights:
    r"""The $\lambda_D$ and $\lambda_c$ of the paper's Equation 5.

    Both are shares of the largest disagreement on offer, so that they mean the same for every
    target: with 0.1, an experiment as far from the rows as the pool is wide gains a tenth of it,
    and one of average cost loses a tenth.
    """

    coverage: float = 0.1
    cost: float = 0.1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """A short list: pool positions, what their outcomes would show, and what is left to spend.

    `directions` is (experiments, outputs, directions). `worth` is what an experiment is worth by
    itself, where that is not its variance; in a batch it loses the share that is explained.
    """

    pool: Pool
    positions: NDArray[np.intp]
    directions: FloatArray
    coverage: Coverage
    money: float
    worth: FloatArray | None = None


@final
@dataclass(frozen=True, slots=True)
class Pick:
    """A place in the short list, its score, and the variance and the coverage behind it."""

    place: int
    score: float
    variance: float
    distance: float


def short_list(
    scores: FloatArray, coverage: Coverage, positions: NDArray[np.intp], n_numbers: int
) -> NDArray[np.intp]:
    """Return the positions worth weighing in a batch, in pool order.

    Half are the best by score; half the best in each cell of a grid over the inputs, so that a
    batch can spread although the best experiments crowd in one corner. `n_numbers` is how many
    numbers one experiment needs.
    """
    most = max(min(SHORT_LIST, _MOST_NUMBERS // max(n_numbers, 1)), 2)
    if len(positions) <= most:
        return positions
    top = np.argpartition(-scores, most // 2)[: most // 2]
    order = np.argsort(-scores, kind="stable")
    _, firsts = np.unique(_cells(coverage, positions, most // 2)[order], return_index=True)
    apart = order[np.sort(firsts)][: most // 2]
    return positions[np.union1d(top, apart)]


def relative_cost(pool: Pool, positions: NDArray[np.intp]) -> FloatArray:
    """Return costs in units of the average cost on offer."""
    cost = pool.cost[positions]
    average = float(np.abs(cost).mean()) if len(cost) else 0.0
    return cost / average if average > 0.0 else np.zeros(len(cost))


def greedy(offer: Offer, weights: Weights, n: int) -> tuple[Pick, ...]:
    """Choose up to n experiments one after the other; never the same twice, never over budget."""
    A = offer.directions
    left = np.eye(A.shape[2])
    points = offer.coverage.scaled(offer.positions)
    distance = offer.coverage.distance(offer.positions, exact=True)
    cost, price = relative_cost(offer.pool, offer.positions), offer.pool.cost[offer.positions]
    ids = [offer.pool.ids[int(position)] for position in offer.positions]
    free, money = np.ones(len(ids), dtype=np.bool_), offer.money
    scale: float | None = None
    alone: FloatArray | None = None
    picks: list[Pick] = []
    for _ in range(n):
        free &= price <= money
        if not free.any():
            break
        variance = _variances(A, left)
        if offer.worth is not None:
            alone = variance if alone is None else alone
            variance = offer.worth * np.divide(
                variance, alone, out=np.zeros_like(variance), where=alone > 0.0
            )
        scale = float(variance[free].max()) or 1.0 if scale is None else scale
        score = variance + scale * (weights.coverage * distance - weights.cost * cost)
        place = first_of_best(np.where(free, score, -np.inf), ids)
        picks.append(
            Pick(place, float(score[place]), float(variance[place]), float(distance[place]))
        )
        free[place], money = False, money - float(price[place])
        left = _explain(left, A[place])
        if points.shape[1]:
            distance = np.minimum(distance, nearest(points, points[place : place + 1]))
    return tuple(picks)


def _variances(A: FloatArray, P: FloatArray) -> FloatArray:
    return np.einsum("eor,eor->e", A @ P, A)


def _explain(P: FloatArray, A: FloatArray) -> FloatArray:
    """Return what is left of P after an outcome of these directions."""
    found = np.linalg.solve(np.eye(len(P)) + P @ A.T @ A, P)
    return (found + found.T) / 2.0


def _cells(coverage: Coverage, positions: NDArray[np.intp], n_cells: int) -> NDArray[np.int64]:
    """Number the grid cell of each experiment; about as many cells as asked."""
    columns: Sequence[FloatArray] = list(coverage.pool.columns.values())
    if not columns:
        return np.zeros(len(positions), dtype=np.int64)
    bins = max(int(n_cells ** (1.0 / len(columns))), 2)
    cell = np.zeros(len(positions), dtype=np.int64)
    for j, column in enumerate(columns):
        place = (column[positions] - coverage.low[j]) / coverage.width[j]
        # Numbers beyond 64 bits wrap around, which only merges cells.
        cell = cell * bins + np.clip(place * bins, 0, bins - 1).astype(np.int64)
    return cell
