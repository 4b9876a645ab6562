r"""A smooth function through the rows, with its slopes: a witness of what a law depends on.

It is no law, but its slopes say where a law stays the same. It is the mean of a Gaussian process,

$$\hat t(x) = k(x, X)\,(K + \nu I)^{-1} t, \qquad
k(x, x') = \exp\Big(-\tfrac12 \sum_i \frac{(x_i - x'_i)^2}{\ell_i^2}\Big),$$

with the lengths $\ell_i$ and the noise $\nu$ at their likeliest. What it misses is measured on rows
left out one at a time, $e = \alpha / \operatorname{diag} (K + \nu I)^{-1}$ with
$\alpha = (K + \nu I)^{-1} t$. (Rasmussen and Williams 2006, chapter 5.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.proposers.search.table import Table

# Rows a witness reads at most: its cost grows with their cube.
_MOST_ROWS = 300
_STEPS = 40
# Where lengths begin, in units of the spread of a column, and how far they are believed to lie
# from e: a variable without effect has none of its own.
_LENGTH = 2.0
_WIDTH = 1.5
_LEAST_NOISE = 1e-10

_Scale: TypeAlias = tuple[
    Callable[[FloatArray], bool],
    Callable[[FloatArray], FloatArray],
    Callable[[FloatArray], FloatArray],
]

# What the witness may follow in place of the target: when, its values, its slope.
_PLAIN: _Scale = (lambda y: True, lambda y: y, np.ones_like)
_SCALES: tuple[_Scale, ...] = (
    _PLAIN,
    (lambda y: _one_sign(y), lambda y: np.log(np.abs(y)), lambda y: 1.0 / y),
    (lambda y: bool((y >= 0.0).all()), np.square, lambda y: 2.0 * y),
)


def _one_sign(y: FloatArray) -> bool:
    return bool((y > 0.0).all() or (y < 0.0).all())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """Slopes of some $t(y)$ by variable (n, k), the slope of $t$ itself, and what is missed of y.

    `rows` says which rows of the table it has read; `missed` is what it misses of each when it is
    left out, in units of the target. `noise` is the variance of t that it holds for noise.
    """

    names: tuple[str, ...]
    rows: NDArray[np.intp]
    slopes: FloatArray
    bend: FloatArray
    missed: FloatArray
    noise: float
    likelihood: float

    def rest(self, table: Table) -> float:
        """Return the mean square of what is missed, weighted as the rows are."""
        return float(np.mean(np.square(table.root[self.rows] * self.missed)))

    def share(self, table: Table) -> float:
        """Return what is missed as a share of how much the target varies."""
        return self.rest(table) / variance(table)


def variance(table: Table) -> float:
    """Return how much the target varies, weighted as the rows are."""
    weights = np.square(table.root)
    off = table.target - np.average(table.target, weights=weights)
    return float(np.mean(weights * np.square(off)))


def plain_witness(table: Table) -> Witness | None:
    """Follow the target as it is."""
    return _follow(table, _PLAIN)


def best_witness(table: Table) -> Witness | None:
    """Follow the target, its logarithm or its square, whichever is the likeliest."""
    y = table.target
    found = [_follow(table, scale) for scale in _SCALES if scale[0](y)]
    known = [one for one in found if one is not None]
    return max(known, key=lambda one: one.likelihood, default=None)


def _follow(table: Table, scale: _Scale) -> Witness | None:
    names = tuple(table.columns)
    order = np.argsort(table.target, kind="stable")
    step = -(-table.n // _MOST_ROWS)
    rows = order[step // 2 :: step]
    y = table.target[rows]
    columns = np.array([table.columns[name][rows] for name in names])
    X = np.array([_axis(column) for column in columns])
    spread = np.std(X, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        t, bend = scale[1](y), scale[2](y)
    sound = np.isfinite(t).all() and np.isfinite(bend).all() and (bend != 0.0).all()
    if not sound or not (spread > 0.0).all() or np.std(t) == 0.0 or len(rows) < 2 * len(names):
        return None
    process = _Process((X - X.mean(axis=1, keepdims=True)) / spread, t)
    slopes = process.slopes() / spread.T * _stretch(columns)
    likelihood = process.likelihood + float(np.sum(np.log(np.abs(bend))))
    return Witness(names, rows, slopes, bend, process.missed() / bend, process.noise, likelihood)


def _axis(column: FloatArray) -> FloatArray:
    """Return a column as the witness reads it: by its logarithm where it is positive."""
    return np.log(column) if column.min() > 0.0 else column


def _stretch(columns: FloatArray) -> FloatArray:
    """Return the slope of each axis by its column, (n, k)."""
    found = [1.0 / c if c.min() > 0.0 else np.ones_like(c) for c in columns]
    return np.array(found).T


class _Optimum(Protocol):
    """What the optimiser answers."""

    x: FloatArray
    fun: float


class _Process:
    """A Gaussian process at its likeliest lengths and noise."""

    def __init__(self, X: FloatArray, t: FloatArray) -> None:
        from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

        self.X = X
        self.scale = float(np.std(t))
        self.z = (t - t.mean()) / self.scale
        self.apart = np.square(X[:, :, None] - X[:, None, :])
        k = len(X)
        begin = np.append(np.full(k, np.log(_LENGTH)), np.log(1e-3))
        bounds = [(-2.0, 5.0)] * k + [(np.log(_LEAST_NOISE), 0.0)]
        found = cast(
            _Optimum,
            optimize.minimize(  # pyright: ignore[reportUnknownMemberType]
                self._unlikely, begin, jac=True, method="L-BFGS-B", bounds=bounds,
                options={"maxiter": _STEPS},
            ),
        )  # fmt: skip
        self.at = found.x
        self.near, self.inverse = self._matrices(self.at)[:2]
        self.alpha = self.inverse @ self.z
        power = float(self.z @ self.alpha) / len(t)
        self.noise = float(np.exp(self.at[-1])) * power * self.scale**2
        self.likelihood = -found.fun - len(t) * float(np.log(self.scale))

    def _matrices(self, at: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return the kernel, the inverse of it with noise, and half the log determinant."""
        weights = np.exp(-2.0 * at[:-1])
        near = np.exp(-0.5 * np.tensordot(weights, self.apart, axes=1))
        noisy = near + np.exp(at[-1]) * np.eye(len(near))
        try:
            factor = cast(FloatArray, np.linalg.cholesky(noisy))
        except np.linalg.LinAlgError:
            return near, cast(FloatArray, np.linalg.pinv(noisy)), np.inf
        return near, cast(FloatArray, np.linalg.inv(noisy)), float(np.log(np.diag(factor)).sum())

    def _unlikely(self, at: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the log likelihood, the amplitude at its best, and its slope."""
        near, inverse, half = self._matrices(at)
        if not np.isfinite(half):
            return 1e10, np.zeros(len(at))
        n = len(self.z)
        alpha = inverse @ self.z
        power = float(self.z @ alpha) / n
        off = (at[:-1] - 1.0) / _WIDTH
        value = 0.5 * n * np.log(power) + half + 0.5 * float(off @ off)
        pull = inverse - np.outer(alpha, alpha) / power
        along = np.tensordot(self.apart, pull * near, axes=2) * np.exp(-2.0 * at[:-1])
        noise = float(np.trace(pull)) * np.exp(at[-1])
        return float(value), 0.5 * np.append(along, noise) + np.append(off / _WIDTH, 0.0)

    def missed(self) -> FloatArray:
        """Return the error at each row when it is left out."""
        return self.scale * self.alpha / np.diag(self.inverse)

    def slopes(self) -> FloatArray:
        """Return the slope along every axis at every row, (n, k)."""
        weights = np.exp(-2.0 * self.at[:-1])
        weighted = self.near * self.alpha
        found = [
            -w * (x * weighted.sum(axis=1) - weighted @ x)
            for w, x in zip(weights, self.X, strict=True)
        ]
        return self.scale * np.array(found).T
