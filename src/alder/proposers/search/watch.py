"""A guard on seconds: results are counted in fits, and time only ever cuts them short."""

import math
import time
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Watch:
    """When to stop looking, in seconds of the monotonic clock."""

    end: float = math.inf

    @staticmethod
    def of(seconds: float) -> "Watch":
        """Begin now, for so long."""
        return Watch(time.monotonic() + seconds)

    def is_over(self) -> bool:
        """Say whether the time is up."""
        return time.monotonic() >= self.end
