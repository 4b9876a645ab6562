r"""The unit of disagreement: one standard deviation of the noise at a prediction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.records.evidence import Candidate, Evidence
from alder.records.law import Law
from alder.records.noise import Noise

# No instrument is trusted further than this share of the spread of the target. It gives rows
# without noise, and fits without degrees of freedom, a unit to measure in.
_FINEST = 1e-6


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """The noise of the likeliest law, never below a millionth of the target's spread."""

    noise: Noise
    finest: float

    def at(self, predictions: FloatArray) -> FloatArray:
        """Return one noise standard deviation at each prediction."""
        finite = np.where(np.isfinite(predictions), predictions, 0.0)
        return np.maximum(self.noise.sigma(finite), self.finest)


def unit_of(law: Law, evidence: Evidence) -> Unit:
    """Return the unit for experiments on which this law is the best guess.

    Laws of events predict log-odds; their unit is one.
    """
    if law.objective == "events":
        return Unit(Noise(1.0, origin="none"), 1.0)
    return Unit(law.noise, finest_of(evidence))


def finest_of(evidence: Evidence) -> float:
    """Return the smallest difference of the target that is taken seriously."""
    name = evidence.grammar.target.name
    parts = [t.columns[name] for t in (evidence.initial, *evidence.trajectories)]
    target = np.concatenate(parts)
    target = target[np.isfinite(target)]
    spread = float(target.std()) if len(target) else 0.0
    largest = float(np.abs(target).max()) if len(target) else 0.0
    return _FINEST * (spread or largest or 1.0)


def likeliest(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate of largest weight, the first label among equals."""
    return min(candidates, key=lambda candidate: (-candidate.weight, candidate.label))
