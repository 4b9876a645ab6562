"""Start from what you know: laws a person wrote down, tried in the order the rows favour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.fitting.many import fit_many
from alder.ports import Proposer, Submission
from alder.records.effort import THOROUGH
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal


@final
@dataclass(frozen=True, slots=True)
class Guesses:
    """Propose each guess once, the best on public rows first.

    A guess the verifier has refused is proposed again only when rows have arrived since: its
    coefficients are then others. All guesses not refused are rivals of one another. Once every
    guess was refused, `then` goes on, where there is one.
    """

    guesses: Sequence[Proposal]
    then: Proposer | None = None

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the guess that explains the public rows best among those still open."""
        n_rows = evidence.initial.n_rows + sum(t.n_rows for t in evidence.trajectories)
        tried = _rows_when_tried(evidence)
        # A guess outside the grammar would be refused each time, for one proposal each.
        open_ = [
            guess
            for guess in self.guesses
            if tried.get(skeleton_digest(guess.structure), -1) < n_rows
            and not check(guess, evidence.grammar, evidence.rows())
        ]
        fresh = [skeleton_digest(guess.structure) not in tried for guess in open_]
        if self.then is not None and not any(fresh):
            return self.then.propose(evidence, rng)
        if not open_:
            return None
        fits = fit_many(
            open_,
            evidence.rows(),
            target=evidence.grammar.target,
            variables=evidence.grammar.variables,
            sigma=evidence.roles.sigma,
            weight=evidence.roles.weight,
            group=evidence.roles.group,
            effort=THOROUGH,
            floors=evidence.grammar.floors,
        )
        # A guess not refused yet comes before one that was, however well that one fits.
        order = sorted(range(len(open_)), key=lambda i: (not fresh[i], float(fits.loss[i])))
        best, *others = (open_[index] for index in order)
        return Submission(best, rivals=tuple(others))


def _rows_when_tried(evidence: Evidence) -> dict[str, int]:
    """Return how many rows each refused structure was last fitted to."""
    return {
        skeleton_digest(attempt.proposal.structure): attempt.fit.n_rows if attempt.fit else 0
        for attempt in evidence.attempts
        if attempt.proposal is not None
    }
