r"""Description lengths of sums of terms where every group of rows has an offset that nobody knows.

$$y_i = \sum_{j \in K} c_j x_{ij} + o_{g(i)} + e_i, \qquad o_g \sim N(0, \tau^2),\;
  e_i \sim N(0, \sigma^2)$$

The offset of a group is drawn anew with each group, and is no part of the law. With $\tau$ known,

$$L_\tau(K) = \min_c\; (y - X_K c)^\top V^{-1} (y - X_K c) / \sigma^2 + \ln\det V,
  \qquad V = \mathbf 1 + \rho\, Z Z^\top,\; \rho = \tau^2/\sigma^2,$$

and a few groups say little about $\tau$, so that its likelihood is averaged over a half-Cauchy
prior of scale $\sigma$ (Gelman 2006): $L(K) = -2 \ln \int e^{-L_\tau(K)/2}\, p(\tau)\, d\tau$ plus
what naming the terms costs. Rows within groups speak through their differences, groups through
their means as far as $\tau$ lets them; dropping either would waste rows or invent certainty.

$\sigma$ is what the largest model of all leaves within groups, times the square root of how many
rows in sequence say the same thing where errors are not independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.fitting.groups import centre
from alder.fitting.subsets import least_squares, term_cost

# Offsets considered, in units of the noise of a row: three hundredths are none in a few hundred
# rows, and thirty are as good as unknown. Few groups do not tell a factor of two.
_RATIOS = np.geomspace(0.03, 30.0, 10)
# Singular values of columns scaled to one: below, others already say what a column says.
_SINGULAR = 1e-9
# Correlations of residuals are summed up to the first that is not positive, and no further.
_LONGEST = 200


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """White columns X (n, k) with names elsewhere, target y (n), weights, and a group number each.

    `finest` is the difference of targets below which all is rounding.
    """

    X: FloatArray
    y: FloatArray
    weights: FloatArray
    group: NDArray[np.int64]
    n_groups: int
    finest: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """Triangular factors at every ratio of offsets to noise, from which any subset is scored.

    `R` is (ratios, k + 1, k + 1), the factor of white columns with the target last; normal
    matrices would lose what is left of a target that is explained to twelve digits. `log_prior`
    (ratios) has the determinant in it. `sigma` is the noise of a row, `alike` how many rows in
    sequence count as one, `cost` what a term costs.
    """

    R: FloatArray
    log_prior: FloatArray
    cost: float
    sigma: float
    alike: float

    def length(self, columns: Sequence[int]) -> float:
        """Return the description length of one subset, in twice nats."""
        y = self.R[:, :, -1]
        if columns:
            vectors, s, _ = np.linalg.svd(self.R[:, :, list(columns)], full_matrices=False)
            U = vectors * (s > _SINGULAR * s[:, :1])[:, None, :]
            y = y - np.einsum("rij,rj->ri", U, np.einsum("rij,ri->rj", U, y))
        terms = -0.5 * np.sum(np.square(y), axis=1) + self.log_prior
        top = float(terms.max())
        evidence = top + float(np.log(np.exp(terms - top).sum()))
        return self.cost * len(columns) - 2.0 * evidence


def lengths_of(rows: Rows) -> Lengths:
    """Prepare the scores of all subsets of columns."""
    size = np.maximum(np.sqrt(np.mean(np.square(rows.X), axis=0)), 1e-300)
    X, w = rows.X / size, rows.weights
    sigma, alike = _noise(X, rows)
    white = np.column_stack([X, rows.y]) * np.sqrt(w / (sigma**2 * alike))[:, None]
    n, p = float(w.sum()) / alike, X.shape[1]
    cost = term_cost(int(max(n, 2.0)), p)
    if not rows.n_groups:
        return Lengths(_triangle(white)[None], np.zeros(1), cost, sigma, alike)
    counts = np.bincount(rows.group, w, minlength=rows.n_groups) / alike
    # Of a group whose rows count as m, the mean is shrunk by 1 - 1 / sqrt(1 + rho m): V^(-1/2).
    roots = np.sqrt(w)
    totals = np.bincount(rows.group, w, minlength=rows.n_groups)
    means = (
        np.stack(
            [np.bincount(rows.group, roots * one, minlength=rows.n_groups) for one in white.T],
            axis=1,
        )
        / np.maximum(totals, 1e-300)[:, None]
    )
    shared = roots[:, None] * means[rows.group]
    factors: list[FloatArray] = []
    log_prior = np.empty(len(_RATIOS))
    for r, ratio in enumerate(_RATIOS):
        rho = ratio**2
        shrink = 1.0 - 1.0 / np.sqrt(1.0 + rho * counts)
        factors.append(_triangle(white - shrink[rows.group][:, None] * shared))
        # On a logarithmic grid the half-Cauchy density is ratio / (1 + ratio^2).
        log_prior[r] = np.log(ratio / (1.0 + rho)) - 0.5 * float(np.sum(np.log1p(rho * counts)))
    return Lengths(np.stack(factors), log_prior, cost, sigma, alike)


def _triangle(white: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.qr(white)[1], dtype=np.float64)


def _noise(X: FloatArray, rows: Rows) -> tuple[float, float]:
    """Return the noise that all columns together leave within groups, and how alike rows are."""
    w = rows.weights
    both = np.column_stack([X, rows.y])
    if rows.n_groups:
        both = centre(both, w, rows.group, rows.n_groups)
    roots = np.sqrt(w)
    J, y = both[:, :-1] * roots[:, None], both[:, -1] * roots
    e = y - J @ least_squares(J, y, _SINGULAR)
    free = max(float(w.sum()) - X.shape[1] - max(rows.n_groups - 1, 0), 1.0)
    sigma = float(np.sqrt(float(e @ e) / free))
    if sigma <= rows.finest:
        return rows.finest, 1.0
    return sigma, _alike(e, rows.group if rows.n_groups else np.zeros(len(e), dtype=np.int64))


def _alike(e: FloatArray, group: NDArray[np.int64]) -> float:
    r"""Return $1 + 2 \sum_k r_k$ over the first correlations that are positive, at least one.

    $r_k$ is the correlation of residuals $k$ rows apart within a group; pairs of neighbouring lags
    are summed while their sum is positive. (Geyer 1992.)
    """
    variance, total = float(e @ e) / len(e), 1.0
    for lag in range(1, min(_LONGEST, len(e) // 4), 2):
        pair = [_correlation(e, group, k) / variance for k in (lag, lag + 1)]
        if sum(pair) <= 0.0:
            break
        total += 2.0 * sum(pair)
    return max(total, 1.0)


def _correlation(e: FloatArray, group: NDArray[np.int64], lag: int) -> float:
    same = group[lag:] == group[:-lag]
    return float(np.sum(e[lag:][same] * e[:-lag][same])) / len(e)
