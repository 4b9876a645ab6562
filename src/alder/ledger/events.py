"""Replay: what a study knows is a pure function of the events of its ledger.

`replay` reads all of them; `advance` adds one. Both give the same, event by event.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from alder.errors import AlderError, BadLedger
from alder.expr.canonical import skeleton_digest
from alder.ledger.coding import (
    Value,
    candidate_from_json,
    choice_from_json,
    fit_from_json,
    front_law_from_json,
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
from alder.records.front import FrontLaw, marked
from alder.records.outcome import Outcome
from alder.records.problem import Problem
from alder.records.verdict import Commitment, Verdict


@final
@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What the events say so far.

    `pending` are choices without an answer, `abandoned` those nobody waits for. `candidates` are
    the last ones selection saw, after `n_selected` attempts. `budget` is the one in force. `end` is
    None while the study runs. `n_dropped` counts rows that were left out, a value missing. `labels`
    are those of all candidates of all rounds, by skeleton digest. `front` holds the laws that no
    other beats in size and accuracy, and what became of each.
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
    n_dropped: int = 0
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    front: tuple[FrontLaw, ...] = ()

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
    replaying = Replaying(Replayed())
    for event in events:
        replaying.add(event)
    return replaying.freeze()


def advance(state: Replayed, event: Event) -> Replayed:
    """Add one event to what the earlier ones said."""
    replaying = Replaying(state)
    replaying.add(event)
    return replaying.freeze()


@final
class Replaying:
    """The same as `Replayed` while events are added: with lists, so that many cost no copies."""

    def __init__(self, state: Replayed) -> None:
        """Begin where a state left off."""
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
        self.n_dropped = state.n_dropped
        self.labels = dict(state.labels)
        self.front = state.front

    def add(self, event: Event) -> None:
        """Add one event; raise `BadLedger` where it is of no known kind, or amiss."""
        reader = _READERS.get(event.kind)
        if reader is None:
            raise BadLedger(
                f"Event {event.number} is of the kind {event.kind!r}, which this Alder does not "
                "know; upgrade Alder to read the ledger."
            )
        try:
            reader(self, event)
        except AlderError as error:
            raise BadLedger(f"Event {event.number} ({event.kind}) is amiss: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise BadLedger(
                f"Event {event.number} ({event.kind}) does not say what such an event says: "
                f"{type(error).__name__} {error}."
            ) from None
        self.n_events += 1
        self.digest = event.digest

    def freeze(self) -> Replayed:
        """Return the state as a value."""
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
            n_dropped=self.n_dropped,
            labels=dict(self.labels),
            front=self.front,
        )


def _configuration(state: Replaying, event: Event) -> None:
    value: Value = event.content
    configuration = configuration_from_json(value)
    if configuration.digest != value["digest"]:
        raise BadLedger("The configuration does not match its own digest.")
    state.configuration = configuration
    state.budget = configuration.budget


def _commitments(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.commitments = tuple(Commitment(**made) for made in value["commitments"])


def _initial(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.initial = trajectory_from_json(value)
    state.n_dropped = value.get("n_dropped", 0)


def _validation(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.validation = trajectory_from_json(value)


def _proposal(state: Replaying, event: Event) -> None:
    value: Value = event.content
    read = value["proposal"]
    rivals = tuple(map(proposal_from_json, value["rivals"]))
    front = tuple(map(proposal_from_json, value.get("front", ())))
    state.attempts.append(
        Attempt(None if read is None else proposal_from_json(read), rivals=rivals, front=front)
    )


def _problems(state: Replaying, event: Event) -> None:
    value: Value = event.content
    found = tuple(Problem(**problem) for problem in value["problems"])
    _complete(state, value["attempt"], problems=found)


def _fit(state: Replaying, event: Event) -> None:
    value: Value = event.content
    _complete(
        state,
        value["attempt"],
        fit=fit_from_json(value["fit"]),
        validation_nmse=value["validation_nmse"],
        folds=value.get("folds", 0),
        misfits=tuple(Misfit(**misfit) for misfit in value["misfits"]),
    )


def _front(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.front = marked([front_law_from_json(one) for one in value["laws"]], state.attempts)


def _verdict(state: Replaying, event: Event) -> None:
    value: Value = event.content
    verdict = Verdict(**value["verdict"])
    _complete(state, value["attempt"], category=verdict.category)
    state.verdicts.append(verdict)
    state.front = marked(state.front, state.attempts)


def _candidates(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.candidates = tuple(map(candidate_from_json, value["candidates"]))
    state.n_selected = len(state.attempts)
    for candidate in state.candidates:
        state.labels.setdefault(skeleton_digest(candidate.law.structure), candidate.label)


def _choice(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.choices.append(choice_from_json(value))


def _told(state: Replaying, event: Event) -> None:
    value: Value = event.content
    trajectory = trajectory_from_json(value)
    state.failures.pop(trajectory.experiment, None)  # it was late, not lost
    state.abandoned.pop(trajectory.experiment, None)
    state.trajectories.append(trajectory)


def _failed(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.failures[value["experiment"]] = FailedRun(value["experiment"], value["reason"])


def _abandoned(state: Replaying, event: Event) -> None:
    value: Value = event.content
    _failed(state, event)
    state.abandoned[value["experiment"]] = None


def _charge(state: Replaying, event: Event) -> None:
    value: Value = event.content
    used, spent = Spent(**value), state.spent
    state.spent = Spent(
        proposals=spent.proposals + used.proposals,
        queries=spent.queries + used.queries,
        cost=spent.cost + used.cost,
        seconds=spent.seconds + used.seconds,
        tokens=spent.tokens + used.tokens,
        fits=spent.fits + used.fits,
        money=spent.money + used.money,
    )


def _resume(state: Replaying, event: Event) -> None:
    value: Value = event.content
    state.budget = Budget(**value["budget"])
    state.end = None


def _end(state: Replaying, event: Event) -> None:
    value: Value = event.content
    law, refusal, verdict = value["law"], value["refusal"], value["verdict"]
    state.end = Outcome(
        law=None if law is None else law_from_json(law),
        refusal=None if refusal is None else refusal_from_json(refusal),
        spent=state.spent,
        digest=event.digest,
        verdict=None if verdict is None else Verdict(**verdict),
        cut_short=value["cut_short"],
        front=state.front,
    )


def _complete(state: Replaying, attempt: int, **parts: object) -> None:
    if not 0 <= attempt < len(state.attempts):
        raise BadLedger(f"There is no attempt {attempt} yet; there are {len(state.attempts)}.")
    state.attempts[attempt] = replace(state.attempts[attempt], **parts)


_READERS: Mapping[str, Callable[[Replaying, Event], None]] = {
    "configuration": _configuration,
    "commitments": _commitments,
    "initial": _initial,
    "validation": _validation,
    "proposal": _proposal,
    "problems": _problems,
    "fit": _fit,
    "front": _front,
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
