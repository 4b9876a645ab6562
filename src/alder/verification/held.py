r"""Does a system follow trajectories it has not seen?

Its solutions are compared with samples that were held back. The only thing fitted to them are the
starts, since a measured start is as uncertain as every other sample. What the coefficients
leave open is allowed for: with $C$ their covariance and $J$ the derivatives of the solution,

$$\chi^2 = r^\top (\sigma^2 + J C J^\top)^{-1} r .$$
"""

from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.fitting.shooting import Shot, shoot

_FALSE_ALARM = 1e-3  # share of true laws whose samples look worse than this by chance
_SPREAD_SHARE = 0.1  # an admitted law predicts to this share of the spread, or to the noise
_NOISE_TIMES = 1.5


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """How a system followed held-back samples.

    `ratio` is chi2 per free number, `limit` what it may be; `error` and `spread` are those of
    each state; `reached` is false where a solution ran away.
    """

    ratio: float
    limit: float
    error: FloatArray
    spread: FloatArray
    sigma: FloatArray
    reached: bool = True

    @property
    def is_consistent(self) -> bool:
        """Whether nothing but noise and uncertain coefficients is left."""
        return self.reached and self.ratio <= self.limit

    @property
    def is_accurate(self) -> bool:
        """Whether every state is followed to a share of its spread, or to the noise."""
        allowed = np.maximum(_SPREAD_SHARE * self.spread, _NOISE_TIMES * self.sigma)
        return self.reached and bool((self.error <= allowed).all())


def follow(
    flow: Flow, fitted: Shot, sigma: FloatArray, held: Samples, near: FloatArray
) -> Followed:
    """Follow held-back samples from fitted starts; `near` are first guesses of the starts."""
    shot = shoot(flow.held_at(fitted.values), held, np.zeros(0), near, sigma)
    d = held.n_states
    spread = held.states.std(axis=0)
    n_free = max(held.states.size - near.size, 1)
    limit = _limit(n_free, max(fitted.n_free, 1))
    if not shot.sound:
        return Followed(np.inf, limit, np.full(d, np.inf), spread, sigma, reached=False)
    solution = flow.solve(held, shot.starts, fitted.values, sensitivities=True)
    residuals = held.states - solution.states
    error = np.sqrt(np.mean(np.square(residuals), axis=0))
    C = np.where(np.isfinite(fitted.covariance), fitted.covariance, 0.0)
    chi2 = _chi2(solution.sensitivities / sigma[:, None], residuals / sigma, held, C)
    return Followed(chi2 / n_free, limit, error, spread, sigma)


def _chi2(J: FloatArray, r: FloatArray, held: Samples, C: FloatArray) -> float:
    """Return the sum of squares that neither starts nor the coefficients' covariance explain."""
    d = held.n_states
    rows: list[FloatArray] = []
    rests: list[FloatArray] = []
    for segment in range(held.n_segments):
        part = held.rows_of(segment)
        rest = r[part].ravel()
        by_start, _ = np.linalg.qr(J[part, :, :d].reshape(len(rest), d))
        by_values = J[part, :, d:].reshape(len(rest), -1)
        rows.append(by_values - by_start @ (by_start.T @ by_values))
        rests.append(rest - by_start @ (by_start.T @ rest))
    X, y = np.concatenate(rows), np.concatenate(rests)
    explained = X.T @ y
    spread = np.linalg.inv(np.eye(len(C)) + C @ (X.T @ X)) @ C
    return max(float(y @ y - explained @ spread @ explained), 0.0)


def _limit(n_held: int, n_fitted: int) -> float:
    """Return what chi2 per free number may be: the noise is known from so many numbers only."""
    from scipy.stats import f  # pyright: ignore[reportMissingTypeStubs]

    return float(cast("Any", f).isf(_FALSE_ALARM, n_held, n_fitted))
