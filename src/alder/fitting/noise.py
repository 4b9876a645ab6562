r"""How large the noise is, from residuals: an additive part, and one that grows with the value."""

import math

import numpy as np

from alder.arrays import FloatArray
from alder.records.noise import Noise

# Ratios of proportional to additive variance at the typical prediction that are tried; a decade
# outside them one of the two parts is invisible in any realistic number of rows.
_RATIOS = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 46)])

# Half of the chi square of one degree of freedom that chance exceeds once in a hundred times.
_CHANCE = 3.32


def estimate_noise(residuals: FloatArray, predictions: FloatArray, residual_df: int) -> Noise:
    r"""Maximise the likelihood of residuals under $\sigma^2 = a^2 + (b f)^2$.

    With $\sigma_i^2 = s^2 (1 + \rho f_i^2 / m^2)$, $m$ the root mean square of $f$, the best $s^2$
    for a given $\rho$ is a mean, so the search is over $\rho$ alone. The proportional part is kept
    only where it raises the log likelihood by more than $\tfrac12 \ln n$ (BIC), and by more than
    chance would in one set of rows out of a hundred: with few rows BIC lets too much through, and
    weights that follow chance make intervals too narrow. $s^2$ is corrected for the coefficients
    already fitted.
    """
    n = len(residuals)
    if residual_df < 1:
        return Noise(0.0, origin="none")
    m2 = float(np.mean(np.square(predictions)))
    correction = n / residual_df
    plain = float(np.mean(np.square(residuals)))
    if not (m2 > 0.0 and plain > 0.0):
        return Noise(math.sqrt(plain * correction))
    growth = np.square(predictions) / m2
    score = [_minus_log_likelihood(ratio, residuals, growth) for ratio in _RATIOS]
    best = int(np.argmin(score))
    if best == 0 or score[0] - score[best] < max(0.5 * math.log(n), _CHANCE):
        return Noise(math.sqrt(plain * correction))
    ratio = _sharpen(best, residuals, growth)
    s2 = float(np.mean(np.square(residuals) / (1.0 + ratio * growth))) * correction
    return Noise(math.sqrt(s2), math.sqrt(s2 * ratio / m2))


def _minus_log_likelihood(ratio: float, residuals: FloatArray, growth: FloatArray) -> float:
    shape = 1.0 + ratio * growth
    s2 = float(np.mean(np.square(residuals) / shape))
    return 0.5 * len(residuals) * math.log(max(s2, 1e-300)) + 0.5 * float(np.sum(np.log(shape)))


def _sharpen(best: int, residuals: FloatArray, growth: FloatArray) -> float:
    """Golden-section search between the neighbours of the best ratio, on a logarithmic scale."""
    low = math.log(_RATIOS[max(best - 1, 1)])
    high = math.log(_RATIOS[min(best + 1, len(_RATIOS) - 1)])
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(40):
        left, right = high - golden * (high - low), low + golden * (high - low)
        value_left = _minus_log_likelihood(math.exp(left), residuals, growth)
        if value_left < _minus_log_likelihood(math.exp(right), residuals, growth):
            high = right
        else:
            low = left
    return math.exp(0.5 * (low + high))
