"""Columns that say something about a row rather than about the world."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns hold error bars, relative weights, groups of rows, and the time."""

    sigma: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns named, in a fixed order."""
        named = (self.sigma, self.weight, self.group, self.time)
        return tuple(name for name in named if name is not None)
