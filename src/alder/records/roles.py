"""Columns that say something about a row rather than about the world."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns hold error bars, relative weights, groups of rows, and the time.

    `sums` names the column that says which observation a row belongs to, where the target is the
    sum of the law over several rows; the target is then repeated on each of them.
    """

    sigma: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    sums: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns named, in a fixed order."""
        named = (self.sigma, self.weight, self.group, self.time, self.sums)
        return tuple(name for name in named if name is not None)
