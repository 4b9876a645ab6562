r"""How far laws part at each experiment, in one pass over laws and in bounded memory.

With weights $w$ that sum to one, the sum over pairs of squared distances is a variance:

$$\sum_{a<b} w_a w_b (z_a - z_b)^2 = \sum_m w_m z_m^2 - \Bigl(\sum_m w_m z_m\Bigr)^2,$$

so that M laws cost M steps an experiment, not M squared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.ports import Forecast
from alder.records.evidence import Candidate, Separation
from alder.selection.noise import Unit
from alder.selection.sensitivity import sensitivity

SATURATION = 20.0
"""Noise standard deviations at which a distance counts half. At twenty an outcome has decided
between two laws whatever the noise estimate is worth; a law that diverges counts twenty at most."""
DECISIVE = 5.0
"""Noise standard deviations between two laws at which an outcome has all but decided: it falls
nearer to the wrong one with chance $\\Phi(-5/2)$, 0.6 %. A pair that far apart counts half of what
it can count, so that all pairs told apart are worth more than one pair told far apart."""
# A distance whose square is still a number.
_FARTHEST = 1e100
# Forecasts held at once for one law: half a megabyte; fewer would lower each law too often.
_CHUNK = 65_536


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """Laws with weights that sum to one; distances are taken from `centre`, the likeliest."""

    candidates: tuple[Candidate, ...]
    weights: FloatArray
    centre: int
    unit: Unit


@final
@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """What one pass found at each experiment.

    `pairs` is the weighted mean over pairs of saturated squared distances, `sigmas` the largest
    distance of a law from the likeliest one, not saturated, both in noise standard deviations.
    """

    pairs: FloatArray
    sigmas: FloatArray


def assemble(candidates: Sequence[Candidate], centre: Candidate, unit: Unit) -> Ensemble:
    """Normalise weights; all count alike where none has a positive, finite weight."""
    weights = np.array([candidate.weight for candidate in candidates], dtype=np.float64)
    weights = np.where(np.isfinite(weights) & (weights > 0.0), weights, 0.0)
    if not weights.any():
        weights = np.ones(len(candidates))
    return Ensemble(tuple(candidates), weights / weights.sum(), candidates.index(centre), unit)


def saturate(z: FloatArray) -> FloatArray:
    r"""Return $z / (1 + |z|/z_0)$: near zero itself, never beyond $z_0$, and always growing.

    A forecast that is no number counts as infinitely far.
    """
    size = np.abs(z)
    size /= SATURATION
    size += 1.0
    with np.errstate(invalid="ignore"):
        bent = z / size
    if not np.isfinite(bent).all():
        bent = np.where(np.isfinite(bent), bent, np.where(z < 0.0, -SATURATION, SATURATION))
    return bent


def pair_mass(weights: FloatArray) -> float:
    """Return the sum of $w_a w_b$ over pairs: what makes weighted pairs a mean."""
    return max((1.0 - float(np.square(weights).sum())) / 2.0, 1e-300)


def measure(ensemble: Ensemble, forecast: Forecast, positions: NDArray[np.intp]) -> Spread:
    """Measure the spread of the laws at each experiment; O(laws) time, memory of the result."""
    pairs, sigmas = np.zeros(len(positions)), np.zeros(len(positions))
    if len(ensemble.candidates) < 2 or not len(positions):
        return Spread(pairs, sigmas)
    n_outputs = _predict(ensemble, ensemble.centre, forecast, positions[:1]).shape[1]
    step = max(_CHUNK // max(n_outputs, 1), 1)
    for start in range(0, len(positions), step):
        part = slice(start, start + step)
        pairs[part], sigmas[part] = _measure(ensemble, forecast, positions[part])
    return Spread(pairs / pair_mass(ensemble.weights), sigmas)


def deviations(
    ensemble: Ensemble, forecast: Forecast, positions: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Return saturated and plain distances from the likeliest law, (experiments, outputs, laws)."""
    centre = _predict(ensemble, ensemble.centre, forecast, positions)
    sigma = ensemble.unit.at(centre)
    plain = np.zeros((*centre.shape, len(ensemble.candidates)))
    with np.errstate(all="ignore"):
        for m in range(len(ensemble.candidates)):
            if m != ensemble.centre:
                found = _predict(ensemble, m, forecast, positions)
                plain[:, :, m] = (found - centre) / sigma
        return saturate(plain), np.where(np.isfinite(plain), plain, np.inf)


def predictive_variances(
    ensemble: Ensemble, forecast: Forecast, positions: NDArray[np.intp]
) -> FloatArray:
    r"""Return $(\sigma^2 + J C J^\top) / \sigma^2$ of each law, (experiments, outputs, laws)."""
    laws = [candidate.law for candidate in ensemble.candidates]
    centre = forecast.predict(laws[ensemble.centre], positions).reshape(len(positions), -1)
    sigma = ensemble.unit.at(centre)
    found = np.ones((*centre.shape, len(laws)))
    for m, law in enumerate(laws):
        moved = sensitivity(law, forecast, positions) / sigma[:, :, None]
        found[:, :, m] += np.square(np.clip(moved, -1e6, 1e6)).sum(axis=2)
    return found


def pair_worth(ensemble: Ensemble, plain: FloatArray, variances: FloatArray) -> FloatArray:
    r"""Return the weighted mean over pairs of bounded squared distances, for each experiment.

    $$\sum_{a<b} \tilde w_{ab} \frac{d_{ab}^2}{1 + d_{ab}^2 / z_0^2},\qquad
      d_{ab}^2 = \sum_o \frac{(z_{oa} - z_{ob})^2}{(s_{oa}^2 + s_{ob}^2) / 2}$$

    $z$ is `plain`, forecasts in noise standard deviations, and $s^2$ their `variances`, noise and
    coefficients together, both (experiments, outputs, laws): a distance that a refit could close is
    no disagreement. Each pair is bounded by itself, at `DECISIVE` squared, so that two laws that
    are far from the likeliest are still seen to be far from each other. That takes all pairs, and
    so is meant for a short list. Two laws that both diverge are alike.
    """
    w, total = ensemble.weights, np.zeros(len(plain))
    far = np.clip(plain, -_FARTHEST, _FARTHEST)
    for a in range(1, len(w)):
        s2 = (variances[:, :, a, None] + variances[:, :, :a]) / 2.0
        gaps = (np.square(far[:, :, a, None] - far[:, :, :a]) / s2).sum(axis=1)
        total += w[a] * ((gaps / (1.0 + gaps / DECISIVE**2)) @ w[:a])
    return total / pair_mass(w)


def separations(
    ensemble: Ensemble, saturated: FloatArray, plain: FloatArray, most: int
) -> tuple[Separation, ...]:
    """Name the pairs that one experiment separates best, plausible pairs first.

    `saturated` and `plain` are (outputs, laws). Pairs are ordered by weight times saturated
    squared distance, and said with the plain distance.
    """
    gaps = np.square(saturated[:, :, None] - saturated[:, None, :]).sum(axis=0)
    worth = np.outer(ensemble.weights, ensemble.weights) * gaps
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.sqrt(np.square(plain[:, :, None] - plain[:, None, :]).sum(axis=0))
    firsts, seconds = np.triu_indices(len(worth), k=1)
    order = np.argsort(-worth[firsts, seconds], kind="stable")[:most]
    return tuple(
        _separation(ensemble, int(firsts[k]), int(seconds[k]), float(apart[firsts[k], seconds[k]]))
        for k in order
    )


def _separation(ensemble: Ensemble, first: int, second: int, sigmas: float) -> Separation:
    labels = (ensemble.candidates[first].label, ensemble.candidates[second].label)
    low, high = sorted(labels, key=lambda label: (len(label), label))
    return Separation(low, high, sigmas if np.isfinite(sigmas) else float("inf"))


def _predict(
    ensemble: Ensemble, index: int, forecast: Forecast, positions: NDArray[np.intp]
) -> FloatArray:
    found = forecast.predict(ensemble.candidates[index].law, positions)
    return found.reshape(len(positions), -1)


def _measure(
    ensemble: Ensemble, forecast: Forecast, positions: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    centre = _predict(ensemble, ensemble.centre, forecast, positions)
    inverse = 1.0 / ensemble.unit.at(centre)
    first, second = np.zeros_like(centre), np.zeros_like(centre)
    farthest = np.zeros(len(positions))
    with np.errstate(all="ignore"):
        for m, weight in enumerate(ensemble.weights):
            if m == ensemble.centre:
                continue
            z = _predict(ensemble, m, forecast, positions) - centre
            z *= inverse
            np.maximum(farthest, np.abs(z[:, 0]) if z.shape[1] == 1 else _norm(z), out=farthest)
            z = saturate(z)
            first += weight * z
            z *= z
            z *= weight
            second += z
    second -= first * first
    return np.maximum(second, 0.0).sum(axis=1), np.where(np.isnan(farthest), np.inf, farthest)


def _norm(z: FloatArray) -> FloatArray:
    return np.sqrt(np.square(z).sum(axis=1))
