r"""Does a system follow trajectories it has not seen?

Its solutions are compared with samples that were held back. The only thing fitted to them are the
starts, since a measured start is as uncertain as every other sample. What the coefficients
leave open is allowed for: with $C$ their covariance and $J$ the derivatives of the solution,

$$\chi^2 = r^\top (\sigma^2 + J C J^\top)^{-1} r .$$

An allowance larger than the noise, and than a thousandth of the spread, would let too much pass,
so there the samples verify nothing and the system is refused; so it is where a number that the fit
left open altogether takes part, and where a summand has hardly an effect on held-back samples:
they say nothing of it, and it may be anything where it has one. What is left must be small on
*every* trajectory, and without pattern in time: a law that only imitates another leaves residuals
that follow each other.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.fitting.delay import delayed
from alder.fitting.flows import RESOLVED
from alder.fitting.samples import Samples
from alder.fitting.shooting import shoot, without_starts
from alder.verification.claim import Claim

Finding: TypeAlias = Literal[
    "accept", "diverges", "missed", "patterned", "undetermined", "unseen", "noisy", "invalid"
]

_FALSE_ALARM = 1e-3  # share of true systems that a test refuses by chance, all its parts together
_SPREAD_SHARE = 0.1  # an admitted law predicts to this share of the spread, or to the noise
_NOISE_TIMES = 1.5
_FINE = 1e-3  # of the spread: samples followed so closely prove something, however small the noise
_SEEN = 4.0  # squares, in units of the noise, by which samples change without a summand
_LEAST_FOR_PATTERN = 12  # samples of a state below which its pattern says nothing


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """How a system followed held-back samples.

    `missed`, `patterned` and `loose` are what was found over what is allowed: of the squares of
    the worst trajectory and of all, of the correlation of neighbours, and of the part of the
    prediction that the coefficients leave open. `weakest` are the squares, in units of the noise,
    that the summand which matters least adds to the samples. `error` and `spread` are those of
    each state.
    """

    missed: float
    patterned: float
    loose: float
    weakest: float
    error: FloatArray
    spread: FloatArray
    sigma: FloatArray
    reached: bool = True

    @property
    def finding(self) -> Finding:
        """The first thing that is wrong, or "accept"."""
        if not self.reached:
            return "diverges"
        if not self.missed <= 1.0:
            return "missed"
        if not self.patterned <= 1.0:
            return "patterned"
        if not self.loose <= 1.0:
            return "undetermined"
        if not self.weakest >= _SEEN:
            return "unseen"
        allowed = np.maximum(_SPREAD_SHARE * self.spread, _NOISE_TIMES * self.sigma)
        return "accept" if bool((self.error <= allowed).all()) else "noisy"


def follow(claim: Claim, held: Samples) -> Followed:
    """Follow held-back samples from fitted starts."""
    held = delayed(held, claim.delay)
    spread = held.states.std(axis=0)
    sigma = np.maximum(claim.sigma, RESOLVED * np.maximum(spread, 1e-300))
    flow, values = claim.flow()
    near = held.start_rows()
    shot = shoot(flow.held_at(values), held, np.zeros(0), near, sigma)
    if not shot.sound:
        lost = np.full(held.n_states, np.inf)
        return Followed(np.inf, np.inf, np.inf, 0.0, lost, spread, sigma, reached=False)
    solution = flow.with_summands().solve(held, shot.starts, values, sensitivities=True)
    residuals = held.states - solution.states
    J = solution.sensitivities / sigma[:, None]
    both, y = without_starts(J, held, residuals / sigma)
    segments = np.repeat(held.segment_of(), held.n_states)
    X, parts = both[:, : len(values)], both[:, len(values) :]
    C = np.where(np.isfinite(claim.covariance), claim.covariance, 0.0)
    open_ = ~np.isfinite(np.diag(claim.covariance))
    tolerated = np.max(np.square(sigma / np.maximum(sigma, _FINE * spread)))
    counts = held.n_states * (np.diff(held.firsts) - 1)  # each start takes one of every state
    return Followed(
        _missed(X, y, segments, C, counts, max(claim.n_free, 1)),
        _patterned(y - X @ (_posterior(X, C) @ (X.T @ y)), residuals, spread, held),
        np.inf
        if _matters(X[:, open_] * values[open_])
        else max(
            float(np.sum((part @ C) * part) * tolerated) / max(int(n), 1)
            for part, n in ((X[segments == s], counts[s]) for s in range(held.n_segments))
        ),
        float(np.square(parts).sum(axis=0).min(initial=np.inf)),
        np.sqrt(np.mean(np.square(residuals), axis=0)),
        spread,
        sigma,
    )


def _matters(moved: FloatArray) -> bool:
    """Say whether samples would see numbers change by all they are, in units of the noise."""
    return bool(np.square(moved).sum() > 1.0)


def _posterior(X: FloatArray, C: FloatArray) -> FloatArray:
    """Return the covariance of the numbers once these rows are known too."""
    return np.linalg.inv(np.eye(len(C)) + C @ (X.T @ X)) @ C


def _chi2(X: FloatArray, y: FloatArray, C: FloatArray) -> float:
    """Return the sum of squares that the covariance of the numbers does not explain."""
    explained = X.T @ y
    return max(float(y @ y - explained @ _posterior(X, C) @ explained), 0.0)


def _missed(
    X: FloatArray,
    y: FloatArray,
    segments: NDArray[np.int64],
    C: FloatArray,
    counts: NDArray[np.int64],
    n_known: int,
) -> float:
    """Return chi2 over its limit, of all samples or of the worst trajectory.

    The noise is known from `n_known` numbers only, so limits are those of an F distribution.
    """
    alarm = _FALSE_ALARM / (1 + len(counts))
    n_all = max(int(counts.sum()), 1)
    worst = _chi2(X, y, C) / n_all / _limit(n_all, n_known, alarm)
    for segment, count in enumerate(counts.tolist()):
        here = segments == segment
        n = max(int(count), 1)
        worst = max(worst, _chi2(X[here], y[here], C) / n / _limit(n, n_known, alarm))
    return worst


def _patterned(rest: FloatArray, residuals: FloatArray, spread: FloatArray, held: Samples) -> float:
    r"""Return the largest correlation of neighbours over what chance allows.

    $$\rho = \frac{\sum_k e_k e_{k+1}}{\sum_k e_k^2}, \qquad \sqrt n \rho \sim N(0, 1)$$

    for each state, over all trajectories together; `rest` holds residuals less what the numbers
    may be off, so that a number a little off is no pattern. What the solver leaves is none either.
    """
    by_state = rest.reshape(residuals.shape)
    joint = np.ones(len(by_state), dtype=np.bool_)
    joint[held.firsts[:-1]] = False
    after = np.flatnonzero(joint)
    worst = 0.0
    for state in range(held.n_states):
        e = by_state[:, state]
        size = float(np.sqrt(np.mean(np.square(residuals[:, state]))))
        if len(e) < _LEAST_FOR_PATTERN or size <= RESOLVED * spread[state]:
            continue
        rho = float(e[after] @ e[after - 1]) / max(float(e @ e), 1e-300)
        worst = max(worst, rho * np.sqrt(len(e)) / _normal_limit(_FALSE_ALARM / held.n_states))
    return worst


def _limit(n_held: int, n_fitted: int, alarm: float) -> float:
    """Return what chi2 per free number may be by chance."""
    from scipy.stats import f  # pyright: ignore[reportMissingTypeStubs]

    return float(cast("Any", f).isf(alarm, n_held, n_fitted))


def _normal_limit(alarm: float) -> float:
    from scipy.stats import norm  # pyright: ignore[reportMissingTypeStubs]

    return float(cast("Any", norm).isf(alarm))
