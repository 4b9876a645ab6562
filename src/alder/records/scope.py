"""Where a law was fitted: the box of its variables, and words for the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray

# A row written with the 15 digits of a decimal file still counts as lying on the edge it came from.
_EDGE = 1e-12


@final
@dataclass(frozen=True, slots=True)
class Scope:
    """Ranges of the law's variables over the rows it rests on, and the intended scope in words."""

    ranges: Mapping[str, tuple[float, float]]
    note: str = ""

    def __post_init__(self) -> None:
        """Freeze the ranges."""
        object.__setattr__(self, "ranges", MappingProxyType(dict(self.ranges)))

    @staticmethod
    def of(columns: Mapping[str, FloatArray], note: str = "") -> "Scope":
        """Return the smallest box around the rows.

        >>> Scope.of({"r": np.array([1.0, 3.0])}).ranges["r"]
        (1.0, 3.0)
        """
        return Scope(
            {name: (float(column.min()), float(column.max())) for name, column in columns.items()},
            note,
        )

    def contains(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.bool_]:
        """Say for each row whether every variable lies in its range."""
        inside = np.ones(1, dtype=np.bool_)
        for name, (low, high) in self.limits.items():
            column = np.asarray(columns[name], dtype=np.float64)
            inside = inside & (column >= low) & (column <= high)
        return inside

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """The ranges, widened by what decimal files lose; exports guard with the same numbers."""
        slacks = {name: _EDGE * max(map(abs, ends)) for name, ends in self.ranges.items()}
        return {
            name: (low - slacks[name], high + slacks[name])
            for name, (low, high) in self.ranges.items()
        }
