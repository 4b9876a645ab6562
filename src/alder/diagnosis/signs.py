"""What the test of one cause computed, and the thresholds at which tests speak."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from alder.records.nextstep import NextStep
from alder.records.outcome import Cause

Stop: TypeAlias = Literal["budget", "no-safe-experiment", "nothing-left-to-propose"]

SCATTER = 2.0
"""Scatter over error bars, squared, beyond which something else moves the rows."""
NOISY = 0.5
"""A law that leaves half of the variance unexplained, without structure, faces noise."""
MOVED = 0.05
"""A variable that moved less than this share of its declared range was not excited."""
COVERED = 0.5
"""Rows that lie in less than this share of the parts of a range leave the rest open."""
TIED = 0.995
"""Two variables whose correlation exceeds this were moved together only."""
SHOWN = 0.25
"""The share of what is left over that must be foreseen, row by row from the others, to be a
pattern. Pure noise of sixty rows reaches 0.15 in one study of a hundred, over all pairs."""


@final
@dataclass(frozen=True, slots=True)
class Sign:
    """What one test computed; a test that speaks has advice, in words and as a step."""

    cause: Cause
    sentence: str
    advice: str = ""
    step: NextStep | None = None
    is_made: bool = True

    @property
    def speaks(self) -> bool:
        """Whether the test found its cause."""
        return bool(self.advice)


def count(n: int, one: str) -> str:
    """Write a number of things.

    >>> count(2, "law")
    '2 laws'
    """
    return f"{n} {one}{'' if n == 1 else 's'}"
