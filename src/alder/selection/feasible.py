"""Which experiments may be chosen at all: safe, affordable, and not asked before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.records.evidence import Evidence
from alder.records.experiment import Pool

# Costs are sums of decimals; a budget is not overrun by their last digit.
_ROUNDING = 1e-9


def feasible(pool: Pool, evidence: Evidence) -> NDArray[np.intp]:
    """Return the pool positions that may be chosen, in pool order.

    Safety is a hard set: an unsafe experiment is not among them, so it is never scored. Nor is
    one that was run, tried or asked for before, or that costs more than is left.
    """
    # Written so that a cost that is not a number is refused.
    allowed = np.asarray(pool.safe, dtype=np.bool_) & (pool.cost <= money_left(evidence))
    asked = evidence.done | {choice.experiment.id for choice in evidence.choices}
    if asked:
        allowed = allowed & np.fromiter((i not in asked for i in pool.ids), np.bool_, len(pool))
    return np.flatnonzero(allowed)


def money_left(evidence: Evidence) -> float:
    """Return what experiments may still cost."""
    total = evidence.budget.cost
    return total - evidence.spent.cost + (_ROUNDING * total if np.isfinite(total) else 0.0)


def first_of_best(scores: FloatArray, ids: Sequence[str]) -> int:
    """Return where the largest score is; among equals the smallest id, whatever their order."""
    best = np.flatnonzero(scores == scores.max())
    return min((int(place) for place in best), key=lambda place: ids[place])
