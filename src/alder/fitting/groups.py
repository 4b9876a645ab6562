"""One offset per group of rows, offsets that average to zero: projected out, then recovered."""

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray


def centre(
    columns: FloatArray, weights: FloatArray, group: NDArray[np.int64], n_groups: int
) -> FloatArray:
    """Take from each column (n, k) its group means, and give back its grand mean.

    That is the projection onto what group offsets of mean zero cannot explain.
    """
    if n_groups == 0:
        return columns
    totals = np.bincount(group, weights=weights, minlength=n_groups)
    means = np.stack(
        [
            np.bincount(group, weights=weights * column, minlength=n_groups) / totals
            for column in columns.T
        ],
        axis=1,
    )
    grand = totals @ means / totals.sum()
    return columns - means[group] + grand


def group_offsets(
    residuals: FloatArray, weights: FloatArray, group: NDArray[np.int64], n_groups: int
) -> FloatArray:
    """Return the offset of each group from residuals of the law alone."""
    if n_groups == 0:
        return np.zeros(0)
    totals = np.bincount(group, weights=weights, minlength=n_groups)
    means = np.bincount(group, weights=weights * residuals, minlength=n_groups) / totals
    return means - totals @ means / totals.sum()
