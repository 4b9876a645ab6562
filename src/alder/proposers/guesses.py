"""Start from what you know: laws a person wrote down, tried in the order the rows favour."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.expr.nodes import parameters
from alder.fitting.fit import fit
from alder.fitting.many import fit_many
from alder.fitting.residuals import STRUCTURE, find_misfits
from alder.ports import Listen, Proposer, Submission, Watchable
from alder.records.effort import THOROUGH
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal


@final
@dataclass(frozen=True, slots=True)
class Guesses:
    """Propose each guess once, the best on public rows first.

    A guess the verifier has refused is proposed again only when rows have arrived since, and it
    leaves no structure in them: its coefficients are then others. All guesses not refused are
    rivals of one another. Once every guess was refused, `then` goes on, where there is one; a
    refused guess still comes back once rows have arrived, where it explains them better than the
    other guesses and, by BIC, no worse than what `then` proposes.
    """

    guesses: Sequence[Proposal]
    then: Proposer | None = None

    def watched(self, listen: Listen) -> "Guesses":
        """Return the same guesses; what comes after them tells how far it is, where it can."""
        then = self.then
        return replace(self, then=then.watched(listen)) if isinstance(then, Watchable) else self

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the guess that explains the public rows best among those still open."""
        n_rows = evidence.initial.n_rows + sum(t.n_rows for t in evidence.trajectories)
        tried = _rows_when_tried(evidence)
        # A guess outside the grammar would be refused each time, for one proposal each.
        known = [
            guess for guess in self.guesses if not check(guess, evidence.grammar, evidence.rows())
        ]
        fresh = [skeleton_digest(guess.structure) not in tried for guess in known]
        is_open = [tried.get(skeleton_digest(guess.structure), -1) < n_rows for guess in known]
        if self.then is not None and not any(fresh):
            return _or_again(self.then.propose(evidence, rng), known, is_open, evidence)
        again = [i for i in range(len(known)) if is_open[i] and not fresh[i]]
        hopeless = [i for i in again if _leaves_structure(known[i], evidence)]
        open_ = [i for i in range(len(known)) if is_open[i] and i not in hopeless]
        if not open_:
            return None
        loss = _losses([known[i] for i in open_], evidence)
        # A guess not refused yet comes before one that was, however well that one fits.
        order = sorted(zip(open_, loss, strict=True), key=lambda one: (not fresh[one[0]], one[1]))
        best, *others = (known[i] for i, _ in order)
        return Submission(best, rivals=tuple(others), fits=len(open_) + len(again))


def _or_again(
    submission: Submission | None,
    guesses: Sequence[Proposal],
    is_open: Sequence[bool],
    evidence: Evidence,
) -> Submission | None:
    """Return the best guess in place of a submission that explains the rows worse, or is none.

    A guess that was refused on these very rows stays refused.
    """
    if not any(is_open):
        return submission
    source = None if submission is None else submission.source
    if isinstance(source, str | bytes):
        return submission  # what a model wrote is read by nobody but the checker
    compared = [*guesses, *([] if source is None else [source])]
    scores = _bic(compared, evidence)
    best = int(np.argmin(scores[: len(guesses)]))
    if submission is None:
        submission = Submission(guesses[best])
    elif not (is_open[best] and scores[best] <= scores[-1]):
        return replace(submission, fits=submission.fits + len(compared))
    if not is_open[best]:
        return None
    rivals = [one for i, one in enumerate(compared) if i != best]
    return replace(
        submission,
        source=guesses[best],
        rivals=(*rivals, *submission.rivals),
        fits=submission.fits + len(compared),
    )


def _leaves_structure(guess: Proposal, evidence: Evidence) -> bool:
    """Whether the rows show, beyond chance, what a guess does not say."""
    rows, grammar, roles = evidence.rows(), evidence.grammar, evidence.roles
    found = fit(
        guess, rows, target=grammar.target, variables=grammar.variables, sigma=roles.sigma,
        weight=roles.weight, group=roles.group, sums=roles.sums, floors=grammar.floors,
    )  # fmt: skip
    misfits = find_misfits(found, rows, grammar.variable_names, roles.sums)
    return bool(misfits) and misfits[0].strength >= STRUCTURE


def _losses(proposals: Sequence[Proposal], evidence: Evidence) -> FloatArray:
    return fit_many(
        proposals,
        evidence.rows(),
        target=evidence.grammar.target,
        variables=evidence.grammar.variables,
        sigma=evidence.roles.sigma,
        weight=evidence.roles.weight,
        group=evidence.roles.group,
        sums=evidence.roles.sums,
        effort=THOROUGH,
        floors=evidence.grammar.floors,
    ).loss


def _bic(proposals: Sequence[Proposal], evidence: Evidence) -> FloatArray:
    r"""Return $n \ln L + k \ln n$ of each fit, or $n L + k \ln n$ where rows have error bars.

    $L$ is the mean squared error, in error bars where there are such, $k$ counts coefficients.
    """
    loss = _losses(proposals, evidence)
    rows, sums = evidence.rows(), evidence.roles.sums
    n = len(rows[evidence.grammar.target.name] if sums is None else np.unique(rows[sums]))
    k = np.array([len(parameters(proposal.structure)) for proposal in proposals])
    has_errors = evidence.roles.sigma is not None
    return n * (loss if has_errors else np.log(np.maximum(loss, 1e-300))) + k * np.log(max(n, 2))


def _rows_when_tried(evidence: Evidence) -> dict[str, int]:
    """Return how many rows each refused structure was last fitted to."""
    return {
        skeleton_digest(attempt.proposal.structure): attempt.fit.n_rows if attempt.fit else 0
        for attempt in evidence.attempts
        if attempt.proposal is not None
    }
