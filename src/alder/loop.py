"""Algorithm 1 of the paper, over ports. The only writer of the ledger.

The ledger is the state: what to do next is read from the events so far, so that a study killed
anywhere goes on where it was. Each step writes its events together, or none of them.

    propose -> check -> fit -> verify -> (admitted: end) -> refit rivals -> select -> run -> propose
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, cast, final

import numpy as np

from alder.checking import read_proposal
from alder.diagnosis import Stop, diagnose
from alder.fitting.crossvalidation import held_out_error
from alder.fitting.fit import fit
from alder.fitting.front import find_front
from alder.fitting.residuals import find_misfits
from alder.ledger import entries
from alder.ledger.entries import Entry
from alder.ledger.events import Replayed
from alder.ports import Forecast, Proposer, Selector, Submission, Verifier, World
from alder.records.budget import Spent
from alder.records.effort import Tally
from alder.records.evidence import Attempt, Candidate, Evidence
from alder.records.experiment import FailedRun
from alder.records.proposal import Proposal

Refit = Callable[[Evidence, np.random.Generator, Tally], tuple[Candidate, ...]]
"""Refits what was proposed, and rivals of it, on all public rows; the best first."""
HeldBack = Callable[[Sequence[Candidate], Evidence, Forecast], str]
"""Names the limits that alone leave no experiment to choose; empty where some are left."""

_TIME_ENDED = "Best when time ended."
_NOTHING_ELSE = "Best that was never submitted when nothing else was proposed."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """The parts of one study."""

    proposer: Proposer
    verifier: Verifier
    refit: Refit
    selector: Selector
    world: World
    held_back: HeldBack | None = None


class Journal(Protocol):
    """The ledger as the loop sees it."""

    @property
    def state(self) -> Replayed:
        """What the events say so far."""
        ...

    def write(self, entry: Entry) -> None:
        """Append one event."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Make the events written inside durable together."""
        ...


def run(stages: Stages, journal: Journal, clock: Callable[[], float]) -> None:
    """Go on until the study ends; `clock` counts the seconds of this sitting."""
    while journal.state.end is None:
        step(stages, journal, clock)


def step(stages: Stages, journal: Journal, clock: Callable[[], float]) -> None:
    """Take the one step that the ledger says comes next."""
    state = journal.state
    evidence = state.evidence
    assert evidence is not None, "a study begins with its configuration and first rows"
    last = evidence.attempts[-1] if evidence.attempts else None
    begin = clock()
    with journal.together():
        end: Entry | None = None
        if state.pending and not _out_of_time(evidence):
            _run(stages, journal, state)
        elif last is None or last.proposal is None or last.problems:
            end = _propose(stages, journal, evidence)
        elif last.fit is None:
            _fit(journal, evidence, last)
        elif last.category is None:
            end = _verify(stages, journal, evidence, last)
        elif _may_ask(stages, state, evidence):
            _select(stages, journal, evidence)
        else:
            end = _propose(stages, journal, evidence)
        journal.write(entries.charge(Spent(seconds=clock() - begin)))
        if end is not None:
            journal.write(end)


def _propose(stages: Stages, journal: Journal, evidence: Evidence) -> Entry | None:
    starved = _is_starved(stages, journal.state, evidence)
    if _is_spent(evidence):
        return _refuse(stages, journal, evidence, "no-safe-experiment" if starved else "budget")
    if _out_of_time(evidence):
        submission = _left_over(journal.state, evidence, _TIME_ENDED)
        if submission is None:
            return _refuse(stages, journal, evidence, "budget", cut_short=True)
    else:
        submission = stages.proposer.propose(evidence, random(journal.state, "propose"))
        submission = submission or _left_over(journal.state, evidence, _NOTHING_ELSE)
        if submission is None:
            stop: Stop = "no-safe-experiment" if starved else "nothing-left-to-propose"
            return _refuse(stages, journal, evidence, stop)
    read = submission.problems or read_proposal(
        submission.source, evidence.grammar, evidence.rows()
    )
    journal.write(entries.proposal(submission, read if isinstance(read, Proposal) else None))
    used = Spent(
        proposals=1, tokens=submission.tokens, fits=submission.fits, money=submission.money
    )
    journal.write(entries.charge(used))
    if not isinstance(read, Proposal):
        journal.write(entries.problems(len(evidence.attempts), read))
    return None


def _fit(journal: Journal, evidence: Evidence, attempt: Attempt) -> None:
    assert attempt.proposal is not None
    rows, grammar, roles = evidence.rows(), evidence.grammar, evidence.roles
    found = fit(
        attempt.proposal, rows, target=grammar.target, variables=grammar.variables,
        sigma=roles.sigma, weight=roles.weight, group=roles.group, sums=roles.sums,
        floors=grammar.floors,
    )  # fmt: skip
    held_out = held_out_error(attempt.proposal, found.values, evidence)
    error, folds = (None, 0) if held_out is None else (held_out.nmse, held_out.folds)
    misfits = find_misfits(found, rows, grammar.variable_names, roles.sums)
    number = len(evidence.attempts) - 1
    journal.write(entries.fit(number, found, validation_nmse=error, misfits=misfits, folds=folds))
    journal.write(entries.charge(Spent(fits=1 + folds)))
    _note_front(journal)


def _note_front(journal: Journal) -> None:
    """Write which laws no other beats in size and accuracy, as far as is public now."""
    evidence, tally = journal.state.evidence, Tally()
    assert evidence is not None
    journal.write(entries.front(find_front(evidence, journal.state.candidates, tally)))
    if tally.fits:
        journal.write(entries.charge(Spent(fits=tally.fits)))


def _verify(stages: Stages, journal: Journal, evidence: Evidence, attempt: Attempt) -> Entry | None:
    assert attempt.fit is not None
    law = attempt.fit.law
    verdict = stages.verifier.submit(law)
    journal.write(entries.verdict(len(evidence.attempts) - 1, verdict))
    if verdict.accepted:
        return entries.end(law, None, verdict=verdict, cut_short=_was_last_chance(attempt))
    if verdict.category == "budget-spent":
        return _refuse(stages, journal, evidence, "budget")
    return None


def _may_ask(stages: Stages, state: Replayed, evidence: Evidence) -> bool:
    """Whether a round of experiments is due: not asked yet, affordable, and on offer."""
    return (
        state.n_selected < len(evidence.attempts)
        and evidence.spent.queries < evidence.budget.queries
        and evidence.spent.cost < evidence.budget.cost
        and not _out_of_time(evidence)
        and len(stages.world.pool()) > 0
    )


def _select(stages: Stages, journal: Journal, evidence: Evidence) -> None:
    tally = Tally()
    candidates = stages.refit(evidence, random(journal.state, "refit"), tally)
    journal.write(entries.candidates(candidates))
    journal.write(entries.charge(Spent(fits=tally.fits)))
    n = min(evidence.budget.batch, evidence.budget.queries - evidence.spent.queries)
    rng = random(journal.state, "select")
    choices = stages.selector.select(candidates, evidence, stages.world, n, rng)
    for choice in choices:
        journal.write(entries.choice(choice))


def _run(stages: Stages, journal: Journal, state: Replayed) -> None:
    """Run one experiment: its answer is on disk before the next one begins."""
    experiment = state.pending[0].experiment
    (answer,) = stages.world.run([experiment])
    if isinstance(answer, FailedRun):
        journal.write(entries.failed(answer))
    else:
        journal.write(entries.outcome(answer))
    journal.write(entries.charge(Spent(queries=1, cost=experiment.cost)))


def _refuse(
    stages: Stages, journal: Journal, evidence: Evidence, stop: Stop, *, cut_short: bool = False
) -> Entry:
    candidates, limits = journal.state.candidates, ""
    if stop == "no-safe-experiment" and stages.held_back is not None:
        limits = stages.held_back(candidates, evidence, stages.world)
    refusal = diagnose(
        evidence, candidates, stop, limits,
        pool=stages.world.pool(), accuracy=_asked_accuracy(journal.state),
    )  # fmt: skip
    if any(attempt.fit is not None for attempt in evidence.attempts):
        _note_front(journal)
    cut_short = cut_short or any(map(_was_last_chance, evidence.attempts[-1:]))
    return entries.end(None, refusal, cut_short=cut_short)


def _asked_accuracy(state: Replayed) -> float | None:
    """Return the NMSE a law is asked for on protected rows, where a fixed one was."""
    assert state.configuration is not None
    terms = cast("Mapping[str, Any]", state.configuration.criteria)
    limits = terms.get("criteria", {}).get("thresholds")
    return None if limits is None else float(limits["admission_nmse"])


def _is_spent(evidence: Evidence) -> bool:
    budget, spent = evidence.budget, evidence.spent
    tokens = math.inf if budget.tokens is None else budget.tokens
    return (
        spent.proposals >= budget.proposals or spent.tokens >= tokens or spent.money >= budget.money
    )


def _is_starved(stages: Stages, state: Replayed, evidence: Evidence) -> bool:
    """Whether a round of experiments was due after the last attempt, and none was chosen.

    The study ends only when nothing is left to propose either: laws in hand are still submitted.
    """
    last = evidence.attempts[-1] if evidence.attempts else None
    if last is None or last.fit is None or state.n_selected < len(evidence.attempts):
        return False
    budget, spent = evidence.budget, evidence.spent
    failed = {failure.experiment for failure in evidence.failures}
    answered = not any(c.experiment.id in failed for c in evidence.choices[-1:])
    return (
        answered
        and last.fit.n_rows == len(evidence.rows()[evidence.grammar.target.name])
        and spent.queries < budget.queries
        and bool((stages.world.pool().cost <= budget.cost - spent.cost).any())
    )


def _out_of_time(evidence: Evidence) -> bool:
    """Whether the steps of all sittings took too long; waiting for people's answers is no step."""
    return evidence.spent.seconds >= evidence.budget.seconds


def _left_over(state: Replayed, evidence: Evidence, why: str) -> Submission | None:
    """Return the best candidate that was never submitted; one only, once time has ended."""
    if why == _TIME_ENDED and any(map(_was_last_chance, evidence.attempts[-1:])):
        return None
    tried: Sequence[object] = [a.proposal.structure for a in evidence.attempts if a.proposal]
    for candidate in state.candidates:
        if candidate.law.structure not in tried:
            law = candidate.law
            return Submission(Proposal(law.structure, rationale=why, exponents=law.exponents))
    return None


def _was_last_chance(attempt: Attempt) -> bool:
    return attempt.proposal is not None and attempt.proposal.rationale == _TIME_ENDED


def random(state: Replayed, purpose: str) -> np.random.Generator:
    """Return the generator of one step: a function of the seed and of how far the study is."""
    assert state.configuration is not None
    words = [state.configuration.seed, len(state.attempts), *purpose.encode()]
    return np.random.default_rng(words)
