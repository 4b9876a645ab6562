r"""Where to start a system next: where its candidate laws part, far from what was seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.ports import Forecast, Selector
from alder.records.evidence import Candidate, Choice, Evidence
from alder.selection.coverage import Coverage, coverage_of
from alder.selection.feasible import feasible

# How much a place far from everything seen counts beside laws that part altogether.
_NOVELTY = 0.5
_ROUNDING = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Starts:
    r"""Choose starts on which laws disagree, relative to what they say, and that are new.

    $$s(q) = \max_t \frac{\max_a f_a(t) - \min_a f_a(t)}{2 \max_a |f_a(t)|} + \tfrac12 D(q)$$

    $f_a(t)$ is the rate along the rollout of law $a$, or at the start where no more is foreseen.
    A law that diverges is held at a huge rate, so that it parts from all others: a solution
    without end is a disagreement like any other.
    """

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n starts, the best first."""
        del rng
        pool = forecast.pool()
        positions = feasible(pool, evidence)
        chosen: list[Choice] = []
        parted = _parted([forecast.predict(one.law, positions) for one in candidates])
        coverage = coverage_of(pool, positions, evidence)
        while len(positions) and len(chosen) < n:
            scores = (parted if len(parted) else 0.0) + _NOVELTY * coverage.distance(positions)
            best = int(np.argmax(scores))
            experiment = pool.experiment(int(positions[best]))
            chosen.append(Choice(experiment, float(scores[best]), _reason(parted, best)))
            seen = np.vstack([coverage.seen, coverage.scaled(positions[best : best + 1])])
            coverage = Coverage(pool, coverage.low, coverage.width, seen)
            positions = np.delete(positions, best)
            parted = np.delete(parted, best) if len(parted) else parted
        return tuple(chosen)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Experiments that were run for another rate of the same system come first: they are free.

    `asked` holds the ids of all experiments of the system, in order; it grows as `inner` chooses.
    """

    inner: Selector
    asked: list[str]

    @property
    def name(self) -> str:
        """The name of what chooses."""
        return type(self.inner).__name__

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return experiments others have asked for, or new ones."""
        pool = forecast.pool()
        mine = evidence.done | {choice.experiment.id for choice in evidence.choices}
        place = {identity: k for k, identity in enumerate(pool.ids)}
        free = [name for name in self.asked if name not in mine]
        if free:
            why = "It was run for another rate of the system."
            return tuple(Choice(pool.experiment(place[name]), 0.0, why) for name in free)
        chosen = self.inner.select(candidates, evidence, forecast, n, rng)
        self.asked.extend(choice.experiment.id for choice in chosen)
        return chosen


def _parted(predictions: Sequence[FloatArray]) -> FloatArray:
    """Return how far the two most different laws part from each start, between 0 and 1."""
    if len(predictions) < 2:
        return np.zeros(len(predictions[0]) if predictions else 0)
    stacked = np.stack(predictions)
    low, high = stacked.min(axis=0), stacked.max(axis=0)
    size = np.abs(stacked).max(axis=0) * 2.0
    floor = _ROUNDING * float(np.median(np.abs(stacked)))  # at rest, rates part by rounding alone
    return ((high - low) / np.maximum(size, floor + 1e-300)).max(axis=1)


def _reason(parted: FloatArray, place: int) -> str:
    if len(parted) and parted[place] > 1e-6:
        return f"Laws that fit all rows part from here by {100 * float(parted[place]):.2g} %."
    return "No start on offer lies farther from all that was seen."
