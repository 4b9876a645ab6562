"""A guard on seconds, and who is told how far a search is: neither has a say in what it finds.

Results are counted in fits, and time only ever cuts them short.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from alder.ports import Listen
from alder.proposers.search.laws import Fitter
from alder.records.glimpse import Glimpse


@final
@dataclass(slots=True, eq=False)
class Watch:
    """When to stop looking, in seconds of the monotonic clock, and what is being looked for now.

    Whoever asks whether time is up is at a place where what was found so far can be told.
    """

    end: float = math.inf
    fitter: Fitter | None = None
    listen: Listen | None = None
    stage: str = ""
    turns: Iterator[int] | None = None

    @staticmethod
    def of(seconds: float, fitter: Fitter | None = None, listen: Listen | None = None) -> "Watch":
        """Begin now, for so long; `listen` is told what the fitter has fitted."""
        return Watch(time.monotonic() + seconds, fitter, listen)

    def enter(self, stage: str) -> None:
        """Say what is looked for from now on."""
        self.stage = stage
        self._tell()

    def briefly(self, turns: int) -> "Watch":
        """Return a watch that is over after it was asked so often, or when this one is."""
        return replace(self, turns=iter(range(turns)))

    def is_over(self) -> bool:
        """Say whether the time is up, or the turns are."""
        self._tell()
        if self.turns is not None and next(self.turns, None) is None:
            return True
        return time.monotonic() >= self.end

    def _tell(self) -> None:
        if self.listen is None or self.fitter is None:
            return
        best = min(self.fitter.front.values(), key=lambda law: law.length, default=None)
        if best is None:
            self.listen(Glimpse(self.stage, self.fitter.fits))
        else:
            self.listen(Glimpse(self.stage, self.fitter.fits, best.structure, best.values))
