"""Arrays inside frozen records: read-only float64."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from numpy import ndarray

FloatArray = ndarray[tuple[int, ...], np.dtype[np.float64]]


def freeze(values: npt.ArrayLike) -> FloatArray:
    """Copy values into a read-only float64 array.

    >>> freeze([1, 2]).flags.writeable
    False
    """
    frozen = np.array(values, dtype=np.float64)
    frozen.setflags(write=False)
    return frozen


def freeze_columns(columns: Mapping[str, npt.ArrayLike]) -> Mapping[str, FloatArray]:
    """Freeze every column of a mapping, and the mapping itself."""
    return MappingProxyType({name: freeze(values) for name, values in columns.items()})
