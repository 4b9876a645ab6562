"""Two proposers with one budget, each of which goes on from the other's laws."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.expr.canonical import skeleton_digest
from alder.expr.text import to_text
from alder.ports import Listen, Named, Proposer, Submission, Watchable
from alder.proposers.repair import Repaired, described, repair
from alder.proposers.search.proposer import Search
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal

# The structures of the first proposer that the search begins with: its latest, and its best.
_LATEST = 1


@final
@dataclass(frozen=True, slots=True)
class Hybrid:
    """Let `first` and `second` propose in turn, from one budget.

    Where `second` is the search, it begins its turn with what `first` proposed: it edits the
    structures that were refused, extends them by terms it finds in what they leave, fits all of
    that to public rows, and proposes the shortest description, or what it finds by itself where
    that is shorter. The first sees what became of the second's laws: they are among the attempts
    of the evidence, with where each fails.

    Whose turn it is follows from the number of attempts, so that a study resumes where it was.
    One that has nothing to say leaves its turn to the other.
    """

    first: Proposer
    second: Proposer
    listen: Listen | None = None

    @property
    def name(self) -> str:
        """The names of both."""
        return f"hybrid:{_name(self.first)}; {_name(self.second)}"

    def watched(self, listen: Listen) -> "Hybrid":
        """Return the same two; those that can say how far they are say so."""
        first, second = (_watched(one, listen) for one in (self.first, self.second))
        return replace(self, first=first, second=second, listen=listen)

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return what the one whose turn it is proposes, or else the other."""
        if len(evidence.attempts) % 2 == 0:
            return self.first.propose(evidence, rng) or self.second.propose(evidence, rng)
        if not isinstance(self.second, Search):
            return self.second.propose(evidence, rng) or self.first.propose(evidence, rng)
        return self._edited(evidence, rng) or self.first.propose(evidence, rng)

    def _edited(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the best edit of the first's structures, or what the search finds if shorter."""
        found = [
            (number, made)
            for number, one in _structures(evidence)
            if (made := repair(one.structure, evidence, self.listen)) is not None
        ]
        if not found:
            return self.second.propose(evidence, rng)
        number, best = min(found, key=lambda one: one[1].length)
        fits = sum(made.fits for _, made in found)
        chosen = replace(best.proposal, rationale=self._why(number, best, evidence))
        edited = Submission(chosen, rivals=best.others, fits=fits)
        if best.is_noise:
            return edited
        return _shorter(edited, self.second.propose(evidence, rng), evidence)

    def _why(self, number: int, repaired: Repaired, evidence: Evidence) -> str:
        """Say whose structure was edited, and how."""
        names = evidence.grammar.variable_names
        path = "` became `".join(to_text(law, names) for law in repaired.path)
        return (
            f"Edited from attempt {number + 1}, by {_name(self.first)}: `{path}`, "
            f"which describes the public rows {repaired.gain:.3g} nats shorter."
        )


def _structures(evidence: Evidence) -> Iterator[tuple[int, Proposal]]:
    """Yield structures of the first, by the numbers of their attempts: its latest, and its best."""
    own = [
        (number, attempt)
        for number, attempt in enumerate(evidence.attempts)
        if number % 2 == 0 and attempt.proposal is not None
    ]
    best = [one for one in own if one[1].fit is not None]
    best.sort(key=lambda one: np.inf if one[1].fit is None else one[1].fit.nmse)
    chosen = dict([*own[-_LATEST:], *best[:1]])
    for number, attempt in chosen.items():
        if attempt.proposal is not None:
            yield number, attempt.proposal


def _shorter(edited: Submission, searched: Submission | None, evidence: Evidence) -> Submission:
    """Return the submission that describes the public rows shorter; the other is its rival."""
    sources = [one.source for one in (edited, searched) if one is not None]
    known = [one for one in sources if isinstance(one, Proposal)]
    if searched is None or len(known) < 2:
        return edited
    lengths = described(known, evidence)
    same = skeleton_digest(known[0].structure) == skeleton_digest(known[1].structure)
    chosen, other = (0, 1) if same or lengths[0] <= lengths[1] else (1, 0)
    rivals = (*([] if same else [known[other]]), *edited.rivals, *searched.rivals)
    return Submission(
        known[chosen],
        rivals=rivals,
        tokens=searched.tokens,
        fits=edited.fits + searched.fits + len(known),
        front=searched.front,
        money=searched.money,
    )


def _name(proposer: Proposer) -> str:
    return proposer.name if isinstance(proposer, Named) else type(proposer).__name__


def _watched(proposer: Proposer, listen: Listen) -> Proposer:
    return proposer.watched(listen) if isinstance(proposer, Watchable) else proposer
