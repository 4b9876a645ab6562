r"""Paired statistics: every comparison is between two methods on the same cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import comb
from typing import final

import numpy as np
import numpy.typing as npt

N_RESAMPLES = 10_000
_LEVEL = 0.95
_SEED = 20260101


@final
@dataclass(frozen=True, slots=True)
class Tally:
    """How often one method did better than, as well as, and worse than another."""

    wins: int
    ties: int
    losses: int


def bootstrap_interval(
    values: npt.ArrayLike,
    clusters: Sequence[object],
    *,
    level: float = _LEVEL,
    n_resamples: int = N_RESAMPLES,
) -> tuple[float, float]:
    """Return the percentile interval of the mean when whole clusters are drawn with replacement.

    Cases of one cluster, such as the instances of a recipe, are alike; drawing them one by one
    would claim too much. The draws are fixed, so that the same rows give the same interval.

    >>> bootstrap_interval([1.0, 1.0, 1.0], ["a", "a", "b"])
    (1.0, 1.0)
    """
    x = np.asarray(values, dtype=np.float64)
    _, label = np.unique([str(cluster) for cluster in clusters], return_inverse=True)
    totals = np.bincount(label, weights=x)
    sizes = np.bincount(label)
    rng = np.random.default_rng(_SEED)
    drawn = rng.integers(len(sizes), size=(n_resamples, len(sizes)))
    means = totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.5 - level / 2.0, 0.5 + level / 2.0])
    return float(low), float(high)


def wilcoxon_p(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test on pairs; 1 where all are equal.

    Pairs that do not differ are left out, as Wilcoxon did.
    """
    stats = import_module("scipy.stats")  # has no types
    x, y = (np.asarray(values, dtype=np.float64) for values in (first, second))
    differs = x != y
    if not differs.any():
        return 1.0
    return float(stats.wilcoxon(x[differs], y[differs]).pvalue)


def mcnemar_p(wins: int, losses: int) -> float:
    r"""Return the two-sided p-value of McNemar's exact test on discordant pairs.

    $$p = \min\Bigl(1,\; 2^{1-n} \sum_{k \le \min(w, l)} \binom{n}{k}\Bigr), \qquad n = w + l$$

    >>> mcnemar_p(25, 0) == 2.0 ** -24
    True
    """
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1))
    return min(1.0, 2.0 * tail / 2.0**n)


def tally(first: npt.ArrayLike, second: npt.ArrayLike) -> Tally:
    """Count pairs in which the first value is larger, equal and smaller."""
    x, y = (np.asarray(values, dtype=np.float64) for values in (first, second))
    return Tally(int(np.sum(x > y)), int(np.sum(x == y)), int(np.sum(x < y)))


def median_ratio(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the median over pairs of the first value divided by the second."""
    x, y = (np.asarray(values, dtype=np.float64) for values in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(x == y, 1.0, x / y)
    return float(np.median(ratios))
