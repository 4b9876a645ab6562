"""Replay: what a study knows is a pure function of the events of its ledger.

`replay` reads all of them; `advance` adds one. Both give the same, event by event.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from alder.errors import AlderError, BadLedger
from alder.ledger.coding import (
    Value,
    candidate_from_json,
    choice_from_json,
    fit_from_json,
    law_from_json,
    proposal_from_json,
    refusal_from_json,
    trajectory_from_json,
)
from alder.ledger.configuration import Configuration, configuration_from_json
from alder.ledger.content import GENESIS
from alder.ports import Event
from alder.records.budget import Budget, Spent
from alder.records.evidence import Attempt, Candidate, Choice, Evidence, Misfit
from alder.records.experiment import FailedRun, Trajectory
from alder.records.outcome import Outcome
from alder.records.problem import Problem
from alder.records.verdict import Commitment, Verdict


@final
@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What the events say so far.

    `pending` are choices without an answer, `abandoned` those nobody waits for. `candidates` are
    the last ones selection saw, after `n_selected` attempts. `budget` is the one in force. `end` is None while the study runs.
    """

    n_events: int = 0
    digest: str = GENESIS
    configuration: Configuration | None = None
    budget: Budget | None = None
    commitments: tuple[Commitment, ...] = ()
    initial: Trajectory | None = None
    validation: Trajectory | None = None
    trajectories: tuple[Trajectory, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    choices: tuple[Choice, ...] = ()
    failures: tuple[FailedRun, ...] = ()
    abandoned: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    spent: Spent = field(default_factory=Spent)
    n_selected: int = 0
    end: Outcome | None = None

    @property
    def evidence(self) -> Evidence | None:
        """All that is public; None before the configuration and the first rows."""
        if self.configuration is None or self.budget is None or self.initial is None:
            return None
        return Evidence(
            grammar=self.configuration.grammar,
            roles=self.configuration.roles,
            budget=self.budget,
            initial=self.initial,
            validation=self.validation,
            trajectories=self.trajectories,
            attempts=self.attempts,
            choices=self.choices,
            failures=self.failures,
            spent=self.spent,
        )

    @property
    def pending(self) -> tuple[Choice, ...]:
        """The experiments that were chosen and have no answer yet, in order."""
        answered = {trajectory.experiment for trajectory in self.trajectories}
        answered |= {failure.experiment for failure in self.failures}
        return tuple(choice for choice in self.choices if choice.experiment.id not in answered)


def replay(events: Iterable[Event]) -> Replayed:
    """Rebuild what a study knows from its events alone; raise `BadLedger` at one that is amiss."""
    return _apply(Replayed(), events)


def advance(state: Replayed, event: Event) -> Replayed:
    """Add one event to what the earlier ones said."""
    return _apply(state, (event,))


def _apply(state: Replayed, events: Iterable[Event]) -> Replayed:
    growing = _Growing(state)
    for event in events:
        reader = _READERS.get(event.kind)
        if reader is None:
            raise BadLedger(
                f"Event {event.number} is of the kind {event.kind!r}, which this Alder does not "
                "know; upgrade Alder to read the ledger."
            )
        try:
            reader(growing, event)
        except AlderError as error:
            raise BadLedger(f"Event {event.number} ({event.kind}) is amiss: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise BadLedger(
                f"Event {event.number} ({event.kind}) does not say what such an event says: "
                f"{type(error).__name__} {error}."
            ) from None
        growing.n_events += 1
        growing.digest = event.digest
    return growing.freeze()


class _Growing:
    """The same as `Replayed` with lists, so that many events cost no copies."""

    def __init__(self, state: Replayed) -> None:
        self.n_events = state.n_events
        self.digest = state.digest
        self.configuration = state.configuration
        self.budget = state.budget
        self.commitments = state.commitments
        self.initial = state.initial
        self.validation = state.validation
        self.trajectories = list(state.trajectories)
        self.attempts = list(state.attempts)
        self.candidates = state.candidates
        self.choices = list(state.choices)
        self.failures = {failure.experiment: failure for failure in state.failures}
        self.abandoned = dict.fromkeys(state.abandoned)
        self.verdicts = list(state.verdicts)
        self.spent = state.spent
        self.n_selected = state.n_selected
        self.end = state.end

    def freeze(self) -> Replayed:
        return Replayed(
            n_events=self.n_events,
            digest=self.digest,
            configuration=self.configuration,
            budget=self.budget,
            commitments=self.commitments,
            initial=self.initial,
            validation=self.validation,
            trajectories=tuple(self.trajectories),
            attempts=tuple(self.attempts),
            candidates=self.candidates,
            choices=tuple(self.choices),
            failures=tuple(self.failures.values()),
            abandoned=tuple(self.abandoned),
            verdicts=tuple(self.verdicts),
            spent=self.spent,
            n_selected=self.n_selected,
            end=self.end,
        )


def _configuration(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    configuration = configuration_from_json(value)
    if configuration.digest != value["digest"]:
        raise BadLedger("The configuration does not match its own digest.")
    growing.configuration = configuration
    growing.budget = configuration.budget


def _commitments(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    growing.commitments = tuple(Commitment(**made) for made in value["commitments"])


def _initial(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    growing.initial = trajectory_from_json(value)


def _validation(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    growing.validation = trajectory_from_json(value)


def _proposal(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    read = value["proposal"]
    rivals = tuple(map(proposal_from_json, value["rivals"]))
    growing.attempts.append(
        Attempt(None if read is None else proposal_from_json(read), rivals=rivals)
    )


def _problems(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    found = tuple(Problem(**problem) for problem in value["problems"])
    _complete(growing, value["attempt"], problems=found)


def _fit(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    _complete(
        growing,
        value["attempt"],
        fit=fit_from_json(value["fit"]),
        validation_nmse=value["validation_nmse"],
        misfits=tuple(Misfit(**misfit) for misfit in value["misfits"]),
    )


def _verdict(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    verdict = Verdict(**value["verdict"])
    _complete(growing, value["attempt"], category=verdict.category)
    growing.verdicts.append(verdict)


def _candidates(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    growing.candidates = tuple(map(candidate_from_json, value["candidates"]))
    growing.n_selected = len(growing.attempts)


def _choice(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    growing.choices.append(choice_from_json(value))


def _told(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    trajectory = trajectory_from_json(value)
    growing.failures.pop(trajectory.experiment, None)  # it was late, not lost
    growing.abandoned.pop(trajectory.experiment, None)
    growing.trajectories.append(trajectory)


def _failed(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    growing.failures[value["experiment"]] = FailedRun(value["experiment"], value["reason"])


def _abandoned(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    _failed(growing, event)
    growing.abandoned[value["experiment"]] = None


def _charge(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    used, spent = Spent(**value), growing.spent
    growing.spent = Spent(
        proposals=spent.proposals + used.proposals,
        queries=spent.queries + used.queries,
        cost=spent.cost + used.cost,
        seconds=spent.seconds + used.seconds,
        tokens=spent.tokens + used.tokens,
        fits=spent.fits + used.fits,
    )


def _resume(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    growing.budget = Budget(**value["budget"])
    growing.end = None


def _end(growing: _Growing, event: Event) -> None:
    value: Value = event.content
    law, refusal, verdict = value["law"], value["refusal"], value["verdict"]
    growing.end = Outcome(
        law=None if law is None else law_from_json(law),
        refusal=None if refusal is None else refusal_from_json(refusal),
        spent=growing.spent,
        digest=event.digest,
        verdict=None if verdict is None else Verdict(**verdict),
        cut_short=value["cut_short"],
    )


def _complete(growing: _Growing, attempt: int, **parts: object) -> None:
    if not 0 <= attempt < len(growing.attempts):
        raise BadLedger(f"There is no attempt {attempt} yet; there are {len(growing.attempts)}.")
    growing.attempts[attempt] = replace(growing.attempts[attempt], **parts)


_READERS: Mapping[str, Callable[[_Growing, Event], None]] = {
    "configuration": _configuration,
    "commitments": _commitments,
    "initial": _initial,
    "validation": _validation,
    "proposal": _proposal,
    "problems": _problems,
    "fit": _fit,
    "verdict": _verdict,
    "candidates": _candidates,
    "choice": _choice,
    "outcome": _told,
    "failed": _failed,
    "abandoned": _abandoned,
    "charge": _charge,
    "resume": _resume,
    "end": _end,
}
