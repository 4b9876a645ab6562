"""Algorithm 1, step by step: what is done is what the ledger says comes next."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from loop.scripted import Answers, Memory, Scripted, stages
from study.problems import outcome_of
from study.spoken import as_bytes

from alder.fitting.crossvalidation import FOLDS
from alder.fitting.front import find_front
from alder.loop import Stages, run, step
from alder.records.budget import Budget
from alder.records.effort import Tally
from alder.records.experiment import Setting
from alder.records.outcome import Outcome

# Enough for two proposals and a round of experiments when every step takes half a second.
SECONDS = 4.0
WRONG, ALSO_WRONG, RIGHT = "a*x + b", "a*v + b", "a*x + b*v^2"


def still() -> float:
    return 0.0


def ticking(seconds: float) -> Callable[[], float]:
    """Return a clock that jumps by so many seconds whenever it is read."""
    times = iter(range(10_000))
    return lambda: seconds * next(times)


def finish(parts: Stages, journal: Memory, clock: Callable[[], float] = still) -> Outcome:
    run(parts, journal, clock)
    assert journal.state.end is not None
    return journal.state.end


def test_the_events_of_a_study_follow_the_algorithm() -> None:
    journal = Memory(Budget(proposals=2, queries=2, batch=2))
    finish(stages([WRONG, RIGHT], ["inaccurate", "accept"]), journal)
    told = [kind for kind in journal.kinds if kind != "charge"]
    assert told == [
        *("configuration", "commitments", "initial"),
        *("proposal", "fit", "front", "verdict"),
        *("candidates", "choice", "choice", "outcome", "outcome"),
        *("proposal", "fit", "front", "verdict", "end"),
    ]


def test_an_accepted_law_ends_the_study_with_its_verdict() -> None:
    outcome = finish(stages([RIGHT], ["accept"]), Memory(Budget()))
    assert outcome.law is not None
    assert outcome.refusal is None
    assert outcome.verdict is not None
    assert outcome.verdict.accepted
    assert outcome.spent.proposals == 1
    assert outcome.spent.fits == 1 + FOLDS  # cross-validated: there are no validation rows


def test_the_law_that_is_returned_is_the_one_that_was_judged() -> None:
    parts = stages([WRONG, RIGHT], ["inaccurate", "accept"])
    outcome = finish(parts, Memory(Budget(proposals=2, queries=4, batch=2)))
    assert isinstance(parts.verifier, Answers)
    assert outcome.law is not None
    assert outcome.law.digest == parts.verifier.laws[-1].digest


def test_an_unreadable_proposal_is_charged_and_another_is_asked_for() -> None:
    journal = Memory(Budget(proposals=3, queries=0))
    outcome = finish(stages(["a*x +", b"\xff", RIGHT], ["accept"]), journal)
    assert outcome.law is not None
    assert outcome.spent.proposals == 3
    assert [bool(attempt.problems) for attempt in journal.state.attempts] == [True, True, False]


def test_a_study_whose_proposals_are_all_invalid_says_so() -> None:
    outcome = finish(stages(["sin(x)"] * 5), Memory(Budget(proposals=3)))
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "no-valid-proposal"
    assert "sin" in outcome.refusal.reason
    assert outcome.refusal.candidate is None


def test_the_budget_of_proposals_is_never_exceeded() -> None:
    parts = stages([WRONG] * 10)
    outcome = finish(parts, Memory(Budget(proposals=2, queries=4, batch=2)))
    assert outcome.refusal is not None
    assert outcome.spent.proposals == 2
    assert isinstance(parts.verifier, Answers)
    assert len(parts.verifier.laws) == 2


@pytest.mark.parametrize(("queries", "batch"), [(0, 2), (3, 2), (5, 8)])
def test_the_budget_of_queries_is_never_exceeded(queries: int, batch: int) -> None:
    asked: list[object] = []

    def note(settings: dict[str, Setting]) -> float:
        asked.append(settings)
        return outcome_of(settings)

    budget = Budget(proposals=4, queries=queries, batch=batch)
    outcome = finish(stages([WRONG] * 4, run=note), Memory(budget))
    assert outcome.spent.queries == len(asked) == queries


def test_a_verifier_that_answers_no_more_ends_the_study() -> None:
    outcome = finish(stages([WRONG] * 4, ["budget-spent"]), Memory(Budget(proposals=4)))
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "budget"
    assert outcome.spent.proposals == 1


def test_tokens_are_charged_and_their_budget_ends_the_study() -> None:
    parts = stages([WRONG] * 4)
    assert isinstance(parts.proposer, Scripted)
    parts.proposer.tokens = 100
    outcome = finish(parts, Memory(Budget(proposals=4, queries=0, tokens=150)))
    assert outcome.spent.tokens == 200
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "budget"


def test_a_proposer_without_a_proposal_ends_the_study() -> None:
    outcome = finish(stages([WRONG]), Memory(Budget(proposals=4, queries=0)))
    assert outcome.refusal is not None
    assert outcome.spent.proposals == 1
    assert outcome.refusal.candidate is not None


def broken_at(*numbers: int) -> Callable[[dict[str, Setting]], object]:
    calls: list[int] = []

    def answer(settings: dict[str, Setting]) -> object:
        calls.append(1)
        if len(calls) in numbers:
            raise ConnectionError("the instrument does not answer")
        return outcome_of(settings)

    return answer


def test_an_experiment_that_fails_is_recorded_and_the_study_goes_on() -> None:
    journal = Memory(Budget(proposals=2, queries=3, batch=3))
    finish(stages([WRONG, RIGHT], ["inaccurate", "accept"], broken_at(2)), journal)
    assert len(journal.state.trajectories) == 2
    (failure,) = journal.state.failures
    assert "the instrument does not answer" in failure.reason
    assert journal.state.spent.queries == 3


@pytest.mark.parametrize("rubbish", [None, "red", float("nan"), {"z": [1.0]}, [], [1.0, 2.0]])
def test_what_is_no_outcome_is_a_failed_experiment(rubbish: object) -> None:
    journal = Memory(Budget(proposals=1, queries=2, batch=2))
    finish(stages([WRONG], run=lambda settings: rubbish), journal)
    assert len(journal.state.failures) == 2
    assert not journal.state.trajectories


def test_a_step_that_fails_leaves_no_event() -> None:
    journal = Memory(Budget(proposals=1, queries=2, batch=2))

    def interrupted(settings: dict[str, Setting]) -> float:
        raise KeyboardInterrupt

    parts = stages([WRONG], run=interrupted)
    while not journal.state.pending:
        step(parts, journal, still)
    before = as_bytes(journal.state)
    with pytest.raises(KeyboardInterrupt):
        step(parts, journal, still)
    assert as_bytes(journal.state) == before


def test_a_world_without_safe_experiments_is_named() -> None:
    outcome = finish(stages([WRONG], n_safe=0), Memory(Budget(proposals=4)))
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "no-safe-experiment"


def test_a_law_in_hand_is_submitted_although_no_experiment_is_left() -> None:
    parts = stages([WRONG, RIGHT], ["inaccurate", "accept"], n_safe=0)
    assert finish(parts, Memory(Budget(proposals=4))).law is not None


def test_a_rival_never_submitted_is_when_nothing_else_is_proposed() -> None:
    """The rival `a*x + b*v^2` stands beside what was proposed, and is right."""
    journal = Memory(Budget(proposals=4, queries=2, batch=2))
    parts = stages([WRONG], ["inaccurate", "accept"])
    outcome = finish(parts, journal)
    assert outcome.law is not None
    assert "v" in str(outcome.law)
    assert not outcome.cut_short
    last = journal.state.attempts[-1].proposal
    assert last is not None
    assert "never submitted" in last.rationale


def test_no_rival_is_submitted_twice_nor_beyond_the_budget() -> None:
    parts = stages([WRONG])
    outcome = finish(parts, Memory(Budget(proposals=8, queries=2, batch=2)))
    assert outcome.refusal is not None
    assert isinstance(parts.verifier, Answers)
    structures = [law.structure for law in parts.verifier.laws]
    assert len(structures) == 2
    assert structures[0] != structures[1]
    parts = stages([WRONG])
    assert finish(parts, Memory(Budget(proposals=1, queries=2))).spent.proposals == 1


def test_fits_of_proposers_and_of_rivals_are_charged() -> None:
    parts = stages([WRONG, RIGHT], ["inaccurate", "accept"])
    assert isinstance(parts.proposer, Scripted)
    parts.proposer.fits = 1000
    journal = Memory(Budget(proposals=2, queries=2, batch=2))
    outcome = finish(parts, journal)
    evidence = journal.state.evidence
    assert evidence is not None
    tally = Tally()
    before = replace(evidence, trajectories=(), attempts=evidence.attempts[:1])
    parts.refit(before, np.random.default_rng(0), tally)
    find_front(evidence, journal.state.candidates, tally)  # refits the first law on new rows
    made_by_the_loop = sum(1 + attempt.folds for attempt in journal.state.attempts)
    assert tally.fits > 2
    assert outcome.spent.fits == 2 * 1000 + made_by_the_loop + tally.fits


def test_when_time_is_over_the_best_candidate_is_still_submitted() -> None:
    journal = Memory(Budget(proposals=8, queries=20, batch=2, seconds=SECONDS))
    parts = stages([WRONG, ALSO_WRONG, WRONG, ALSO_WRONG], ["inaccurate", "inaccurate", "accept"])
    outcome = finish(parts, journal, ticking(0.5))
    assert outcome.cut_short
    assert outcome.law is not None
    assert "v" in str(outcome.law)
    assert isinstance(parts.proposer, Scripted)
    assert len(parts.proposer.shown) == 2


def test_when_time_is_over_one_law_is_submitted_and_no_more() -> None:
    journal = Memory(Budget(proposals=8, queries=20, batch=2, seconds=SECONDS))
    outcome = finish(stages([WRONG, ALSO_WRONG, WRONG]), journal, ticking(0.5))
    assert outcome.cut_short
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "budget"
    assert outcome.spent.proposals == 3


def test_when_time_is_over_chosen_experiments_are_not_run_any_more() -> None:
    seconds = [0.0]

    def run_slowly(settings: dict[str, Setting]) -> float:
        seconds[0] += 3.0
        return outcome_of(settings)

    journal = Memory(Budget(proposals=8, queries=20, batch=6, seconds=5.0))
    parts = stages([WRONG, ALSO_WRONG], ["inaccurate", "accept"], run=run_slowly)
    outcome = finish(parts, journal, lambda: seconds[0])
    assert outcome.cut_short
    assert outcome.spent.queries == 2
    assert len(journal.state.pending) == 4


def test_time_between_steps_is_nobody_s_fault() -> None:
    """A person may take a week to answer."""
    reads = iter(range(10_000))
    parts = stages([WRONG, RIGHT], ["inaccurate", "accept"])
    budget = Budget(proposals=2, queries=2, batch=2, seconds=1.0)
    outcome = finish(parts, Memory(budget), lambda: 1e6 * (next(reads) // 2))
    assert outcome.law is not None
    assert not outcome.cut_short


def test_a_study_without_any_time_says_that_time_was_short() -> None:
    outcome = finish(stages([RIGHT]), Memory(Budget(seconds=0.0)))
    assert outcome.cut_short
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "budget"


def test_without_a_limit_time_plays_no_part() -> None:
    slow = finish(stages([WRONG, RIGHT], ["inaccurate", "accept"]), Memory(Budget()), ticking(1e6))
    quick = finish(stages([WRONG, RIGHT], ["inaccurate", "accept"]), Memory(Budget()))
    assert as_bytes(slow.law) == as_bytes(quick.law)
    assert slow.spent.seconds > quick.spent.seconds == 0.0
    assert not slow.cut_short
