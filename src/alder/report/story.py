"""The story of a study, read from its ledger: rounds, rivals, and the experiment that ended each.

Everything here is a pure function of the events, so the same ledger always tells the same story.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadLedger
from alder.expr.canonical import skeleton_digest
from alder.expr.nodes import Expr
from alder.ledger.events import Replayed, Replaying
from alder.ports import Event
from alder.records.evidence import Attempt, Candidate, Choice, Evidence
from alder.records.experiment import FailedRun, Trajectory
from alder.records.law import Law
from alder.report.measure import Yardstick, yardstick
from alder.selection.candidates import letters


@final
@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """What one rival said of one observation, what was seen, and the miss in noise sd.

    The miss counts noise and what is unknown of the rival's coefficients together.
    """

    label: str
    said: float
    sigmas: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An experiment with the row on which the rivals parted most, and what each had said of it.

    The row is chosen by what the rivals said, never by what was seen.
    """

    round: int
    choice: Choice
    rows: Trajectory
    inputs: dict[str, float]
    saw: float
    said: tuple[Said, ...]

    @property
    def worst(self) -> float:
        """The largest miss of any rival."""
        return max((said.sigmas for said in self.said), default=0.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One proposal and the experiments that followed it; `n_rows` are those it was fitted to."""

    number: int
    n_rows: int
    attempt: Attempt
    candidates: tuple[Candidate, ...] = ()
    choices: tuple[Choice, ...] = ()
    answers: tuple[Answer, ...] = ()
    failures: tuple[FailedRun, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """What the events say, and the same by rounds; `unit` measures misses in noise sd.

    `letters` gives every structure its letter, by skeleton digest; the candidates of the rounds
    carry the same.
    """

    state: Replayed
    evidence: Evidence
    rounds: tuple[Round, ...]
    unit: Yardstick | None
    letters: Mapping[str, str]

    def letter(self, structure: Expr) -> str:
        """Return the letter of a structure; empty where it never was in the running."""
        return self.letters.get(skeleton_digest(structure), "")

    @property
    def law(self) -> Law | None:
        """The admitted law."""
        return self.state.end.law if self.state.end is not None else None

    @property
    def best(self) -> Law | None:
        """The admitted law, or else the law that residuals are shown of."""
        return best_law(self.state)


def best_law(state: Replayed) -> Law | None:
    """Return the admitted law, else the candidate of the refusal, else the best known so far."""
    end = state.end
    if end is not None and end.law is not None:
        return end.law
    if end is not None and end.refusal is not None and end.refusal.candidate is not None:
        return end.refusal.candidate
    if state.candidates:
        return state.candidates[0].law
    fits = [attempt.fit for attempt in state.attempts if attempt.fit is not None]
    return fits[-1].law if fits else None


def judging_law(state: Replayed) -> Law | None:
    """Return the law whose noise rivals are judged by.

    In a refused study the best candidate: what a refused law leaves over is no noise, and would
    excuse every miss.
    """
    admitted = None if state.end is None else state.end.law
    if admitted is None and state.candidates:
        return state.candidates[0].law
    return best_law(state)


@final
@dataclass(slots=True)
class _Draft:
    """A round while events are added."""

    n_rows: int
    candidates: tuple[Candidate, ...]
    choices: list[Choice]


def tell(events: Sequence[Event]) -> Story:
    """Read the events as a story; raise `BadLedger` where they hold no study."""
    state, drafts = _read(events)
    evidence = state.evidence
    if evidence is None:
        raise BadLedger("The ledger holds no study yet: it has no configuration and no first rows.")
    best = best_law(state)
    unit = None if best is None else yardstick(best, evidence)
    given = _letters(drafts, state.attempts)
    for draft in drafts:
        draft.candidates = tuple(
            replace(c, label=given[skeleton_digest(c.law.structure)]) for c in draft.candidates
        )
    judge = judging_law(state)
    judging = None if judge is None else yardstick(judge, evidence)
    rounds = [_round(i, draft, state, judging) for i, draft in enumerate(drafts)]
    return Story(state, evidence, tuple(rounds), unit, given)


def _read(events: Sequence[Event]) -> tuple[Replayed, list[_Draft]]:
    """Replay the events and keep what each round had before it."""
    replaying = Replaying(Replayed())
    drafts: list[_Draft] = []
    n_rows = 0
    for event in events:
        replaying.add(event)
        if event.kind == "initial" and replaying.initial is not None:
            n_rows = replaying.initial.n_rows
        elif event.kind == "outcome":
            n_rows += replaying.trajectories[-1].n_rows
        elif event.kind == "proposal":
            drafts.append(_Draft(n_rows, (), []))
        elif event.kind == "candidates" and drafts:
            drafts[-1].candidates = replaying.candidates
        elif event.kind == "choice" and drafts:
            drafts[-1].choices.append(replaying.choices[-1])
    return replaying.freeze(), drafts


def _letters(drafts: Sequence[_Draft], attempts: Sequence[Attempt]) -> dict[str, str]:
    """Give every structure one letter: that of selection, unless another one has it already."""
    given: dict[str, str] = {}
    for draft, attempt in zip(drafts, attempts, strict=True):
        wanted = [(c.law.structure, c.label) for c in draft.candidates]
        if attempt.fit is not None:
            wanted.append((attempt.fit.structure, ""))
        for structure, label in wanted:
            taken = set(given.values())
            free = label if label and label not in taken else _free(taken)
            given.setdefault(skeleton_digest(structure), free)
    return given


def _free(taken: set[str]) -> str:
    number = 0
    while letters(number) in taken:
        number += 1
    return letters(number)


def _round(index: int, draft: _Draft, state: Replayed, unit: Yardstick | None) -> Round:
    told = {trajectory.experiment: trajectory for trajectory in state.trajectories}
    failed = {failure.experiment: failure for failure in state.failures}
    ids = [choice.experiment.id for choice in draft.choices]
    answers = [
        answer_of(index + 1, choice, told[choice.experiment.id], draft.candidates, unit)
        for choice in draft.choices
        if choice.experiment.id in told and unit is not None
    ]
    return Round(
        number=index + 1,
        n_rows=draft.n_rows,
        attempt=state.attempts[index],
        candidates=draft.candidates,
        choices=tuple(draft.choices),
        answers=tuple(answers),
        failures=tuple(failed[name] for name in ids if name in failed),
    )


def answer_of(
    number: int,
    choice: Choice,
    rows: Trajectory,
    candidates: Sequence[Candidate],
    unit: Yardstick,
) -> Answer:
    """Compare what each candidate said of an experiment with what was seen."""
    columns = rows.columns
    said = np.array([unit.predict(c.law, columns) for c in candidates]).reshape(-1, rows.n_rows)
    place = int(np.argmax(np.ptp(said, axis=0))) if len(candidates) else 0
    row = {name: column[place : place + 1] for name, column in columns.items()}
    misses = [abs(float(unit.misses(c.law, columns)[place])) for c in candidates]
    return Answer(
        round=number,
        choice=choice,
        rows=rows,
        inputs={v.name: float(row[v.name][0]) for v in unit.variables},
        saw=float(row[unit.target][0]),
        said=tuple(
            Said(c.label, float(said[i, place]), misses[i]) for i, c in enumerate(candidates)
        ),
    )


def telling(answers: Sequence[Answer], limit: float) -> Answer | None:
    """Return the answer that refuted most rivals; among equals the one with the largest miss."""
    if not answers:
        return None
    return max(answers, key=lambda a: (sum(s.sigmas >= limit for s in a.said), a.worst))


def public_rows(story: Story) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return all public rows a law was fitted to, and the round each came from; 0 is initial."""
    by_id = {c.experiment.id: r.number for r in story.rounds for c in r.choices}
    rows = dict(story.evidence.rows())
    numbers = [np.zeros(story.evidence.initial.n_rows)]
    numbers += [np.full(t.n_rows, by_id.get(t.experiment, 0)) for t in story.evidence.trajectories]
    return rows, np.concatenate(numbers)
