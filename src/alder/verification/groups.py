r"""Rows that share an offset: what a law may be blamed for, and how much its errors say.

A fit gives every group of public rows an offset of its own. The law has none, so in a group it has
not seen its errors share one that nobody knows. Known groups are judged alike: a law is used
without offsets, so it is admitted without them.
"""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.consistency import Errors
from alder.records.noise import Noise
from alder.verification.structure import signed_rank_p

# An offset this many times the noise is as good as unknown; more would only cost digits.
_UNKNOWN = 1e4

GROUPED_TESTS = 3
"""How many tests share the chance that a law looks better than the reference."""


def with_offsets(errors: Errors, noise: Noise, group: FloatArray, chance: float) -> Errors:
    r"""Add what unknown offsets of groups do to errors.

    $$\operatorname{Cov} e = D + J C J^\top + \tau^2 Z Z^\top
      + \tfrac{\tau^2}{G} \mathbf 1 \mathbf 1^\top$$

    $Z$ says which row is in which group. $\tau$ is the scatter of offsets over the $G$ public
    groups; the last part is that of their mean, which the law counts as zero. $\tau$ is taken at
    its upper bound $\tau^2 (G-1) / \chi^2_{G-1}(\text{chance})$: a few groups say little about
    others, and a single one nothing.
    """
    if noise.n_groups == 0:
        return errors
    Z = _membership(group)
    tau = np.minimum(_largest(noise, chance), _UNKNOWN * errors.noise)[:, None]
    mean = np.ones((len(group), 1)) / np.sqrt(noise.n_groups)
    shared = np.concatenate([Z, mean], axis=1) * tau / errors.noise[:, None]
    return dataclasses.replace(errors, spread=np.concatenate([errors.spread, shared], axis=1))


def grouped_improvement_p(
    errors: Errors, reference: FloatArray, share: float, group: FloatArray
) -> float:
    r"""Return how often a law that removes less than a share of the error would look this good.

    Rows that share an offset are no independent witnesses. Three tests, the smallest p-value times
    three: contrasts within groups (Helmert's: $n_g - 1$ of them, independent and free of the
    offset); sums over groups, which are independent of each other; and those sums against the mean
    of these very groups, than which no constant does better. A reference from narrow public rows
    may be right in most groups by chance, as the friction of one direction is, and a law that is
    right in all of them then gains in a few only.
    """
    y = errors.error + errors.prediction
    keep, Z = 1.0 - share, _membership(group)
    own = np.square(errors.error)
    within = keep * np.square(contrasts(y - reference, group)) - np.square(
        contrasts(errors.error, group)
    )
    between = (keep * np.square(y - reference) - own) @ Z
    apart = (keep * np.square(y - y.mean()) - own) @ Z
    chances = [signed_rank_p(within), signed_rank_p(between)]
    chances.append(signed_rank_p(apart) if apart.sum() > 0.0 else 1.0)
    return min(1.0, GROUPED_TESTS * min(chances))


def contrasts(values: FloatArray, group: FloatArray) -> FloatArray:
    r"""Return Helmert's contrasts of each group, $n - G$ numbers in all.

    $$c_k = \sqrt{\tfrac{k}{k+1}} \Bigl(\tfrac1k \sum_{i \le k} x_i - x_{k+1}\Bigr)$$

    Independent values of equal variance give independent contrasts of that variance.
    """
    found: list[FloatArray] = [np.zeros(0)]
    for label in np.unique(group):
        x = values[group == label]
        k = np.arange(1.0, len(x))
        found.append(np.sqrt(k / (k + 1.0)) * (np.cumsum(x)[:-1] / k - x[1:]))
    return np.concatenate(found)


def independent_rows(errors: FloatArray, group: FloatArray, alike: float) -> float:
    r"""Return how many independent rows would say as much about the mean squared error.

    $$\nu = \min\Bigl(\frac{2 m^2}{v}, \frac{n}{1 + (\bar n - 1)\rho^2}\Bigr)$$

    $v$ is the variance of the mean square $m$ from sums over groups, which needs no assumption but
    rests on few groups; $\rho$ (`alike`) is the correlation within a group that the law states, and
    $\bar n$ the size of a group. A single group counts as one row.
    """
    _, index, sizes = np.unique(group, return_inverse=True, return_counts=True)
    n, n_groups = len(errors), len(sizes)
    if n_groups == 1:
        return 1.0
    squares = np.square(errors)
    m = float(np.mean(squares))
    sums = np.bincount(index.ravel(), weights=squares)
    v = n_groups / (n_groups - 1.0) * float(np.sum(np.square(sums - sizes * m))) / n**2
    stated = n / (1.0 + (float(np.sum(np.square(sizes))) / n - 1.0) * alike**2)
    return min(2.0 * m * m / v if v > 0.0 else float(n), stated)


def _largest(noise: Noise, chance: float) -> float:
    """Return the upper bound of the scatter of offsets; infinite where one group was seen."""
    from scipy.special import gammaincinv  # pyright: ignore[reportMissingTypeStubs]

    df = noise.n_groups - 1
    if df < 1:
        return np.inf
    return noise.between * float(np.sqrt(df / (2.0 * gammaincinv(df / 2.0, chance))))


def _membership(group: FloatArray) -> FloatArray:
    """Return a matrix (rows, groups) of ones and zeros."""
    labels, index = np.unique(group, return_inverse=True)
    places: NDArray[np.intp] = index.ravel()
    return np.eye(len(labels))[places]
