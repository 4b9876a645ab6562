r"""Which rows are wild: far from what any combination of given columns says of them.

Tukey's biweight, by reweighted least squares from a fit of least absolute deviations:

$$w_i = \bigl(1 - (e_i / 4.685\,s)^2\bigr)^2 \text{ for } |e_i| < 4.685\,s, \text{ else } 0$$

$s$ is the median absolute residual over 0.6745, the standard deviation where errors are normal.
(Beaton and Tukey 1974; 95 % efficient for normal errors.)
"""

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.fitting.subsets import least_squares

_CUT = 4.685
_NORMAL = 0.6745
# Least absolute deviations need more rounds than the biweight that follows; both have settled then.
_ROUNDS_ABSOLUTE, _ROUNDS = 30, 20
# Columns that others say to so many digits are no columns of their own.
_SINGULAR = 1e-10


def tame_rows(X: FloatArray, y: FloatArray, finest: float) -> NDArray[np.bool_]:
    """Say of each row whether a robust fit of columns X (n, k) to y comes near it.

    Residuals below `finest` are rounding. Rows are kept or dropped whole, since a weight between
    would make the noise look smaller than it is: of normal errors three in a million are dropped.
    Where there are not twice as many rows as columns all are kept: a fit of so few rows cannot say
    which of them is wild.
    """
    n, k = X.shape
    if n < 2 * max(k, 1):
        return np.ones(n, dtype=np.bool_)
    scaled = X / np.maximum(np.sqrt(np.mean(np.square(X), axis=0)), 1e-300)
    weights = np.ones(n)
    residuals = y - scaled @ least_squares(scaled, y, _SINGULAR)
    for _ in range(_ROUNDS_ABSOLUTE):
        weights = 1.0 / np.maximum(np.abs(residuals), max(finest, 1e-3 * _scale(residuals, finest)))
        residuals = _refit(scaled, y, weights)
    for _ in range(_ROUNDS):
        weights = _biweight(residuals / _scale(residuals, finest))
        residuals = _refit(scaled, y, weights)
    return np.abs(residuals) < _CUT * _scale(residuals, finest)


def _biweight(z: FloatArray) -> FloatArray:
    return np.square(np.maximum(1.0 - np.square(z / _CUT), 0.0))


def _scale(residuals: FloatArray, finest: float) -> float:
    return max(float(np.median(np.abs(residuals))) / _NORMAL, finest)


def _refit(X: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    roots = np.sqrt(weights)
    return y - X @ least_squares(X * roots[:, None], y * roots, _SINGULAR)
