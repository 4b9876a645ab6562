r"""Do errors show structure? Tests whose level does not depend on the stated noise."""

import itertools
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.consistency import Whitening

# A regression keeps this many rows per term, so that its level is right and its power is not spread
# thin.
_ROWS_PER_TERM = 6
# Fewer rows than this say nothing about structure.
_FEWEST = 12
# Up to this many rows the signed-rank test counts all cases.
_EXACT = 50
# Distances are between all pairs of rows; beyond this many rows every so many are left out.
_MOST = 1024

Placed: TypeAlias = Callable[[FloatArray], FloatArray]
"""Takes a quantity of rows, (n) or (n, k), to the observations that errors are of."""


def _as_they_are(values: FloatArray) -> FloatArray:
    return values


def polynomial_p(
    z: FloatArray,
    columns: Mapping[str, FloatArray],
    prediction: FloatArray,
    white: Whitening,
    placed: Placed = _as_they_are,
) -> float:
    r"""Return the p-value of no regression of errors on polynomials of the inputs.

    $$F = \frac{z^\top P z / q}{z^\top (1 - P) z / (n - q)}$$

    $z$ are the whitened errors of the $n$ rows and $P$ projects onto $q$ Legendre polynomials, up
    to degree three and products of two, of the ranks of each input and of the prediction, whitened
    as well. Ranks, so that a heavy-tailed column has no more to say than others. $F$ follows its
    distribution exactly for Gaussian errors of any size. Where errors are of sums over rows, the
    polynomials are of rows, and `placed` says where a sum lies in them.
    """
    from scipy.special import fdtrc  # pyright: ignore[reportMissingTypeStubs]

    n = len(z)
    terms = _terms([*columns.values(), prediction], n // _ROWS_PER_TERM)
    terms = placed(terms)
    if n < _FEWEST or terms.shape[1] == 0:
        return 1.0
    Q = _basis(white.apply(terms))
    explained = float(np.sum(np.square(Q.T @ z)))
    left = float(z @ z) - explained
    df = n - Q.shape[1]
    if left <= 1e-14 * explained or df < 1:
        return 0.0 if explained > 0.0 else 1.0
    return float(fdtrc(Q.shape[1], df, explained / Q.shape[1] / (left / df)))


def neighbour_p(
    scores: FloatArray, columns: Mapping[str, FloatArray], placed: Placed = _as_they_are
) -> float:
    r"""Return the p-value of errors of neighbouring rows being unlike each other.

    $$T = \sum_i z_i z_{\nu(i)}$$

    $\nu(i)$ is the row nearest to $i$ in the ranks of the inputs. Finds what polynomials miss:
    ripples and steps. $z$ are normal scores; without structure $T$ has mean $-n/(n-1)$ and the
    variance $2\sum_{ij} W_{ij}^2$ of a quadratic form, $W$ the symmetric matrix of neighbours.
    `placed` says where errors of sums over rows lie in a quantity of rows.
    """
    from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

    moving = [column for column in columns.values() if column.min() < column.max()]
    varying = [placed(_ranks(column)) for column in moving]
    if len(scores) < _FEWEST or not varying:
        return 1.0
    kept = np.arange(0, len(scores), -(-len(scores) // _MOST))
    places, z = np.stack(varying, axis=1)[kept], scores[kept]
    z = (z - z.mean()) / z.std()
    n = len(z)
    squares = np.sum(np.square(places), axis=1)
    distance = squares[:, None] + squares[None, :] - 2.0 * places @ places.T
    np.fill_diagonal(distance, np.inf)
    nearest = np.zeros((n, n))
    nearest[np.arange(n), np.argmin(distance, axis=1)] = 0.5
    W = nearest + nearest.T
    T = float(z @ W @ z) + n / (n - 1.0)
    return float(ndtr(-T / np.sqrt(2.0 * np.sum(np.square(W)))))


def signed_rank_p(d: FloatArray) -> float:
    """Return the one-sided p-value of Wilcoxon's signed-rank test of d > 0.

    Exact for few rows, where the normal approximation has no far tail; beyond, the approximation
    is the more cautious of the two.
    """
    from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

    d = d[d != 0.0]
    n = len(d)
    if n == 0:
        return 1.0
    ranks = 1.0 + np.argsort(np.argsort(np.abs(d), kind="stable"), kind="stable")
    W = float(np.sum(ranks[d > 0.0]))
    if n <= _EXACT:
        return _signed_rank_tail(n, int(W))
    mean, variance = n * (n + 1) / 4.0, n * (n + 1) * (2 * n + 1) / 24.0
    return float(ndtr(-(W - mean - 0.5) / np.sqrt(variance)))


def _signed_rank_tail(n: int, at_least: int) -> float:
    """Count the sets of ranks 1 to n whose sum is at least this, as a share of all sets."""
    shares = np.zeros(n * (n + 1) // 2 + 1)
    shares[0] = 1.0
    for rank in range(1, n + 1):
        shares[rank:] = 0.5 * (shares[rank:] + shares[:-rank])
        shares[:rank] *= 0.5
    return float(np.sum(shares[at_least:]))


def rank_sum_p(scores: FloatArray, happened: FloatArray) -> float:
    """Return the p-value of scores being no higher where the event happened (Mann-Whitney)."""
    from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

    yes, no = float(np.sum(happened > 0.5)), float(np.sum(happened <= 0.5))
    if yes == 0.0 or no == 0.0:
        return 1.0
    # `_ranks` runs from -1 to 1; ties share their rank.
    ranks = (_ranks(scores) + 1.0) * len(scores) / 2.0 + 0.5
    U = float(np.sum(ranks[happened > 0.5])) - yes * (yes + 1.0) / 2.0
    return float(ndtr(-(U - yes * no / 2.0) / np.sqrt(yes * no * (yes + no + 1.0) / 12.0)))


def _ranks(column: FloatArray) -> FloatArray:
    """Return ranks between -1 and 1, equal for equal values."""
    _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - 0.5 * counts
    return np.asarray(2.0 * middle[inverse] / len(column) - 1.0, dtype=np.float64)


def _terms(inputs: list[FloatArray], n_terms: int) -> FloatArray:
    """Return up to n_terms polynomials, the simplest first, shape (n, terms)."""
    ranks = [_ranks(column) for column in inputs if column.min() < column.max()]
    ones = [np.ones(len(inputs[0]))]
    squares = [1.5 * r**2 - 0.5 for r in ranks]
    products = [a * b for a, b in itertools.combinations(ranks, 2)]
    cubes = [2.5 * r**3 - 1.5 * r for r in ranks]
    terms = [*ones, *ranks, *squares, *products, *cubes]
    return np.stack(terms[:n_terms], axis=1) if n_terms > 0 else np.empty((len(inputs[0]), 0))


def _basis(terms: FloatArray) -> FloatArray:
    """Return orthonormal columns that span the terms, without those that repeat others."""
    U, s, _ = np.linalg.svd(terms, full_matrices=False)
    return U[:, s > 1e-9 * s[0]]
