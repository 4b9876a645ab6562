r"""Weights that keep a few wild rows from deciding a linear fit.

Tukey's biweight, by reweighted least squares from a fit of least absolute deviations:

$$w_i = \bigl(1 - (e_i / 4.685\,s)^2\bigr)^2 \text{ for } |e_i| < 4.685\,s, \text{ else } 0$$

$s$ is the median absolute residual over 0.6745, the standard deviation where errors are normal.
(Beaton and Tukey 1974; 95 % efficient for normal errors.)
"""

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.subsets import least_squares

_CUT = 4.685
_NORMAL = 0.6745
# Least absolute deviations need more rounds than the biweight that follows; both have settled then.
_ROUNDS_ABSOLUTE, _ROUNDS = 30, 20
# Columns that others say to so many digits are no columns of their own.
_SINGULAR = 1e-10


def row_weights(X: FloatArray, y: FloatArray, finest: float) -> FloatArray:
    """Return the weight of each row, between 0 and 1, from a fit of columns X (n, k) to y.

    Residuals below `finest` are rounding. Where there are not twice as many rows as columns all
    weights are one: a fit of so few rows cannot say which of them is wild.
    """
    n, k = X.shape
    if n < 2 * max(k, 1):
        return np.ones(n)
    scaled = X / np.maximum(np.sqrt(np.mean(np.square(X), axis=0)), 1e-300)
    weights = np.ones(n)
    residuals = y - scaled @ least_squares(scaled, y, _SINGULAR)
    for _ in range(_ROUNDS_ABSOLUTE):
        weights = 1.0 / np.maximum(np.abs(residuals), max(finest, 1e-3 * _scale(residuals, finest)))
        residuals = _refit(scaled, y, weights)
    for _ in range(_ROUNDS):
        weights = _biweight(residuals / _scale(residuals, finest))
        residuals = _refit(scaled, y, weights)
    return weights


def _biweight(z: FloatArray) -> FloatArray:
    return np.square(np.maximum(1.0 - np.square(z / _CUT), 0.0))


def _scale(residuals: FloatArray, finest: float) -> float:
    return max(float(np.median(np.abs(residuals))) / _NORMAL, finest)


def _refit(X: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    roots = np.sqrt(weights)
    return y - X @ least_squares(X * roots[:, None], y * roots, _SINGULAR)
