"""Two proposers that take turns and see what became of one another's laws."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.ports import Listen, Named, Proposer, Submission, Watchable
from alder.records.evidence import Evidence


@final
@dataclass(frozen=True, slots=True)
class Hybrid:
    """Let `first` and `second` propose in turn, from one budget.

    Whose turn it is follows from the number of attempts, so that a study resumes where it was.
    One that has nothing to say leaves its turn to the other.
    """

    first: Proposer
    second: Proposer

    @property
    def name(self) -> str:
        """The names of both."""
        return f"hybrid:{_name(self.first)}; {_name(self.second)}"

    def watched(self, listen: Listen) -> "Hybrid":
        """Return the same two; those that can say how far they are say so."""
        return replace(
            self, first=_watched(self.first, listen), second=_watched(self.second, listen)
        )

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return what the one whose turn it is proposes, or else the other."""
        turns = [self.first, self.second]
        if len(evidence.attempts) % 2:
            turns.reverse()
        return turns[0].propose(evidence, rng) or turns[1].propose(evidence, rng)


def _name(proposer: Proposer) -> str:
    return proposer.name if isinstance(proposer, Named) else type(proposer).__name__


def _watched(proposer: Proposer, listen: Listen) -> Proposer:
    return proposer.watched(listen) if isinstance(proposer, Watchable) else proposer
