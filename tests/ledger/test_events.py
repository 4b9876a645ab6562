from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadLedger
from alder.expr.canonical import skeleton_digest
from alder.expr.text import parse
from alder.ledger import entries
from alder.ledger.content import GENESIS, pack, unpack
from alder.ledger.events import Replayed, advance, replay
from alder.ports import Event, Submission
from alder.records.budget import Spent
from alder.records.evidence import Candidate
from alder.records.experiment import FailedRun
from alder.records.front import FrontLaw
from alder.records.proposal import Proposal
from ledger.story import (
    BUDGET,
    CONFIGURATION,
    N_ROUNDS,
    beginning,
    chained,
    fit_of,
    one_round,
    rows,
    story,
)

STORY = chained(story())


def shown(value: Any) -> Any:
    """A record as nested plain values, so that records with arrays can be compared."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes())
    if is_dataclass(value):
        return {part.name: shown(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {key: shown(part) for key, part in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, tuple):
        return [shown(part) for part in cast("tuple[Any, ...]", value)]
    return value


def test_replay_of_a_whole_study_knows_all_of_it() -> None:
    state = replay(STORY)
    assert state.configuration == CONFIGURATION
    assert [made.role for made in state.commitments] == ["admission"]
    assert [verdict.submissions for verdict in state.verdicts] == [1, 2, 3]
    assert state.n_events == len(STORY)
    assert state.end is not None
    assert state.end.digest == state.digest == STORY[-1].digest
    assert state.end.refusal is not None
    assert state.end.refusal.cause == "budget"
    assert state.end.cut_short
    assert state.end.spent == state.spent


def test_rows_left_out_and_folds_are_counted() -> None:
    fit = entries.fit(0, fit_of(2.0), validation_nmse=0.1, misfits=[], folds=5)
    proposal = entries.proposal(Submission("k*x"), Proposal(fit_of(2.0).structure))
    written = [*beginning()[:2], entries.initial(rows(9, seed=1), n_dropped=3), proposal, fit]
    state = replay(chained(written))
    assert state.n_dropped == 3
    assert state.attempts[0].folds == 5


def test_ledgers_from_before_those_counts_are_read() -> None:
    fit = entries.fit(0, fit_of(2.0), validation_nmse=0.1, misfits=[], folds=5)
    proposal = entries.proposal(Submission("k*x"), Proposal(fit_of(2.0).structure))
    written = [*beginning()[:2], entries.initial(rows(9, seed=1), n_dropped=3), proposal, fit]
    for _, content in written:
        content.pop("n_dropped", None)
        content.pop("folds", None)
    state = replay(chained(written))
    assert state.n_dropped == 0
    assert state.attempts[0].folds == 0


def test_ledgers_from_before_there_was_a_front_are_read() -> None:
    offered = Proposal(fit_of(2.0).structure)
    proposal = entries.proposal(Submission("k*x", front=(offered,)), offered)
    assert replay(chained([*beginning(), proposal])).attempts[0].front == (offered,)
    del proposal[1]["front"]
    state = replay(chained([*beginning(), proposal]))
    assert state.attempts[0].front == ()
    assert state.front == ()


def test_the_verdict_says_what_became_of_a_law_of_the_front() -> None:
    law = fit_of(2.0).law
    other = replace(law, structure=parse("k*x^2", ["x"]))
    written = one_round(0)
    place = next(i for i, (kind, _) in enumerate(written) if kind == "verdict")
    written.insert(place, entries.front([FrontLaw(law, 0.2), FrontLaw(other, 0.1)]))
    before = replay(chained([*beginning(), *written[: place + 1]])).front
    after = replay(chained([*beginning(), *written])).front
    assert [one.standing for one in before] == ["submitted", "open"]
    assert [one.standing for one in after] == ["refused", "open"]


def test_a_letter_given_once_is_kept_though_its_law_was_away_for_a_round() -> None:
    first, second = fit_of(2.0).law, replace(fit_of(2.0), structure=parse("k*x^2", ["x"])).law
    rounds = [[Candidate(first, 1.0, "A")], [Candidate(second, 1.0, "B")]]
    state = replay(chained([*beginning(), *map(entries.candidates, rounds)]))
    assert state.labels == {
        skeleton_digest(first.structure): "A",
        skeleton_digest(second.structure): "B",
    }
    assert [candidate.label for candidate in state.candidates] == ["B"]


def test_replay_rebuilds_evidence() -> None:
    evidence = replay(STORY).evidence
    assert evidence is not None
    assert evidence.budget == BUDGET
    assert evidence.initial.n_rows == 100
    assert evidence.validation is not None
    assert [t.experiment for t in evidence.trajectories] == ["e0", "e2", "e4"]
    assert [failure.experiment for failure in evidence.failures] == ["e1", "e3", "e5"]
    assert len(evidence.attempts) == N_ROUNDS + 1
    assert evidence.attempts[0].category == "inaccurate"
    assert evidence.attempts[0].fit is not None
    assert evidence.attempts[0].fit.values == {"k": 2.0}
    assert evidence.attempts[0].misfits[0].along == "x"
    assert evidence.attempts[-1].proposal is None
    assert evidence.attempts[-1].problems[0].code == "unknown-variable"
    assert evidence.spent == Spent(
        proposals=4, queries=6, cost=6.0, seconds=0.75, tokens=22, fits=3
    )


@given(st.integers(0, len(STORY)))
def test_events_one_by_one_say_the_same_as_all_together(n: int) -> None:
    state = Replayed()
    for event in STORY[:n]:
        state = advance(state, event)
    assert shown(state) == shown(replay(STORY[:n]))


@given(st.integers(0, len(STORY)))
def test_events_say_the_same_after_they_were_written_and_read(n: int) -> None:
    read: list[Event] = []
    for event in STORY[:n]:
        packed = pack(event.content)
        content = unpack(packed.text, lambda digest, kept=packed.arrays: kept[digest].ravel())
        read.append(replace(event, content=content))
    assert shown(replay(read)) == shown(replay(STORY[:n]))


def test_replay_changes_no_earlier_state() -> None:
    states = [replay([])]
    once = [shown(states[0])]
    for event in STORY:
        states.append(advance(states[-1], event))
        once.append(shown(states[-1]))
    assert [shown(state) for state in states] == once


def test_nothing_is_known_before_the_first_event() -> None:
    state = replay([])
    assert (state.n_events, state.digest, state.evidence) == (0, GENESIS, None)


def test_a_choice_without_an_answer_is_pending() -> None:
    unanswered = [*beginning(), *one_round(0)[:8]]
    state = replay(chained(unanswered))
    assert [choice.experiment.id for choice in state.pending] == ["e0", "e1"]


def test_an_abandoned_experiment_is_not_pending_and_may_be_told_late() -> None:
    written = [*beginning(), *one_round(0)[:8], entries.abandoned("e1")]
    state = replay(chained(written))
    assert [choice.experiment.id for choice in state.pending] == ["e0"]
    assert state.abandoned == ("e1",)
    assert state.failures == (FailedRun("e1", "abandoned"),)
    late = replay(chained([*written, entries.outcome(rows(2, seed=9, experiment="e1"))]))
    assert (late.abandoned, late.failures) == ((), ())
    assert [trajectory.experiment for trajectory in late.trajectories] == ["e1"]


def test_a_resumed_study_runs_under_its_new_budget() -> None:
    larger = replace(BUDGET, proposals=9)
    state = replay(chained([*story(), entries.resume(larger, {})]))
    assert state.end is None
    assert state.budget == larger
    assert state.evidence is not None
    assert state.evidence.budget == larger


@pytest.mark.parametrize("place", range(len(STORY)))
def test_an_event_without_its_content_is_refused_in_one_sentence(place: int) -> None:
    event = STORY[place]
    if event.kind == "charge":
        event = replace(event, content={"nonsense": 1})
    else:
        event = replace(event, content={})
    with pytest.raises(BadLedger, match=f"Event {event.number} "):
        replay([*STORY[:place], event])


def test_an_event_of_a_later_alder_is_refused() -> None:
    with pytest.raises(BadLedger, match="'prophecy', which this Alder does not know"):
        replay(chained([*beginning(), ("prophecy", {})]))  # pyright: ignore[reportArgumentType]


def test_a_fit_of_an_attempt_that_was_not_made_is_refused() -> None:
    with pytest.raises(BadLedger, match="no attempt 0 yet"):
        replay(chained([*beginning(), *one_round(0)[2:3]]))


def test_a_configuration_that_contradicts_its_digest_is_refused() -> None:
    kind, content = entries.configuration(CONFIGURATION)
    with pytest.raises(BadLedger, match="digest"):
        replay(chained([(kind, {**content, "seed": 1})]))
