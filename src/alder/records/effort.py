"""How hard a fit tries, counted in fits and passes so that results do not depend on the machine."""

from dataclasses import dataclass
from typing import NamedTuple, final


class Effort(NamedTuple):
    """How many starts a fit considers and how far it follows them.

    `pool` starts are scored on at most `screen_rows` rows; the best `starts` are descended on all
    rows, each for at most `iterations` passes or until a step gains less than `tolerance`. Then
    up to `trials` moves of single parameters are tried around the best, for what derivatives do
    not see: thresholds and kinks. A named tuple rather than a dataclass: the compiled fitter takes
    it as it is.
    """

    pool: int
    starts: int
    iterations: int
    tolerance: float
    screen_rows: int = 64
    trials: int = 0


@final
@dataclass(slots=True)
class Tally:
    """Counts structures fitted while a stage works; handed in, and read when it is done."""

    fits: int = 0


THOROUGH = Effort(pool=1024, starts=8, iterations=60, tolerance=1e-9, screen_rows=256, trials=256)
"""One law, fitted as well as we can; the default of `alder.fit`."""

FULL = Effort(pool=8, starts=8, iterations=30, tolerance=1e-6)
"""Eight starts, each followed to its end."""

SCREENED = Effort(pool=8, starts=2, iterations=20, tolerance=1e-4)
"""Eight starts scored, the best two followed; the default of `alder.fit_many`."""
