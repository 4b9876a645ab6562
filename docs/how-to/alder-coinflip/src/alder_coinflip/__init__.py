"""A selector for Alder that flips a coin for each experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.ports import Forecast
from alder.records.evidence import Candidate, Choice, Evidence


@final
@dataclass(frozen=True, slots=True)
class CoinFlip:
    """Go through the safe experiments in order and take each with a chance of `heads`."""

    heads: float = 0.5

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n distinct safe experiments not yet run."""
        pool = forecast.pool()
        choices: list[Choice] = []
        for row, identity in enumerate(pool.ids):
            is_open = bool(pool.safe[row]) and identity not in evidence.done
            if len(choices) < n and is_open and rng.random() < self.heads:
                choices.append(Choice(pool.experiment(row), score=0.0, reason="heads"))
        return tuple(choices)
