"""Where an experiment must stay, as the laws that stand forecast it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from alder.errors import BadStudy


@final
@dataclass(frozen=True, slots=True)
class Limits:
    r"""Lowest and highest values that the rows of an experiment may show.

    `columns` maps a column to its two ends, of which one may be infinite. An experiment is safe
    only where every law that stands forecasts every row between them, its coefficients moved:

    $$\text{low} \le f \pm k \sqrt{J C J^\top} \le \text{high}$$

    $k$ is `sigmas`; with 0 the fitted coefficients count as exact. Noise of the measurement is no
    part of it, and what no surviving law foresees is not excluded: limits do not replace
    `is_safe`, nor a stop on the instrument.

    >>> print(Limits({"T": (-math.inf, 350.0), "v": (-1.0, 1.0)}))
    T <= 350 and -1 <= v <= 1
    """

    columns: Mapping[str, tuple[float, float]]
    sigmas: float = 2.0

    def __post_init__(self) -> None:
        """Freeze the mapping; refuse ends in the wrong order, and limits that limit nothing."""
        if not self.columns:
            raise BadStudy('Limits need a column: write limits={"T": (0.0, 350.0)}, say.')
        ends = {name: (float(pair[0]), float(pair[1])) for name, pair in self.columns.items()}
        for name, (low, high) in ends.items():
            if not low < high or (math.isinf(low) and math.isinf(high)):
                raise BadStudy(
                    f"The limits of `{name}` are two numbers, the lower first, of which one may be "
                    f"infinite; got {low:g} and {high:g}."
                )
        if not (math.isfinite(self.sigmas) and self.sigmas >= 0.0):
            raise BadStudy(f"limits.sigmas is a finite number from 0 on; got {self.sigmas}.")
        object.__setattr__(self, "columns", MappingProxyType(ends))

    def __str__(self) -> str:
        """Write the limits as inequalities."""
        return " and ".join(_inequality(name, *ends) for name, ends in self.columns.items())


def _inequality(name: str, low: float, high: float) -> str:
    below = "" if math.isinf(low) else f"{low:g} <= "
    return below + name + ("" if math.isinf(high) else f" <= {high:g}")
