"""Ask and tell: the same loop, answered in any order, late, in part or not at all."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest
from study.problems import BUDGET, GRAMMAR, inputs, outcome_of, request, run, world

from alder.errors import BadLedger, BadStudy, BadTable
from alder.ports import Submission
from alder.records.budget import Budget
from alder.records.evidence import Evidence
from alder.records.experiment import Experiment
from alder.records.outcome import Outcome
from alder.study.study import Study
from alder.worlds.manual import ManualWorld

FOUR = Budget(proposals=3, queries=4, batch=4)


def open_study(**changes: Any) -> Study:
    return Study(ManualWorld(inputs(40, seed=3)), GRAMMAR, **request(**changes))


@pytest.fixture(scope="module")
def waiting() -> Generator[Study, None, None]:
    """A study that waits for the answers to its first questions; tests leave it as it is."""
    with open_study(budget=FOUR) as study:
        study.ask()
        yield study


def tell(study: Study, experiment: Experiment) -> None:
    study.tell(experiment, {"y": [outcome_of(experiment.settings)]})


def finish(
    study: Study, order: Callable[[tuple[Experiment, ...]], Any] = lambda asked: asked
) -> Outcome:
    while asked := study.ask():
        for experiment in order(asked):
            tell(study, experiment)
    assert study.outcome is not None
    return study.outcome


def assert_same_law(one: Outcome, other: Outcome) -> None:
    assert one.law is not None
    assert other.law is not None
    assert one.law.structure == other.law.structure
    # Rows told in another order are added in another order.
    for a, b in zip(one.law.coefficients, other.law.coefficients, strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-9)
    assert one.spent.queries == other.spent.queries
    assert one.spent.proposals == other.spent.proposals


def test_asking_and_telling_finds_what_discover_finds() -> None:
    with open_study() as study:
        outcome = finish(study)
        assert study.ask() == ()
    assert_same_law(outcome, run())


def test_answers_may_come_in_any_order() -> None:
    with open_study(budget=FOUR) as study:
        outcome = finish(study, order=lambda asked: asked[::-1])
    assert_same_law(outcome, run(budget=FOUR))


def test_a_study_may_be_closed_and_opened_between_any_two_calls(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    while True:
        with open_study(ledger=ledger) as study:
            asked = study.ask()
        if not asked:
            break
        with open_study(ledger=ledger) as study:
            tell(study, asked[-1])
    with open_study(ledger=ledger) as study:
        assert study.outcome is not None
        assert_same_law(study.outcome, run())


def test_experiments_that_are_out_are_returned_again() -> None:
    with open_study(budget=FOUR) as study:
        asked = study.ask()
        assert len(asked) == 4
        assert study.ask() == asked
        tell(study, asked[2])
        assert study.ask() == (asked[0], asked[1], asked[3])


def test_a_failed_experiment_is_charged_and_the_study_goes_on() -> None:
    with open_study() as study:
        broken, *rest = study.ask()
        study.fail(broken, "the valve is shut")
        for experiment in rest:
            tell(study, experiment)
        finish(study)
        assert [failure.reason for failure in study.evidence.failures] == ["the valve is shut"]
        assert study.evidence.spent.queries == 2


def test_an_abandoned_experiment_may_still_be_told_and_is_charged_once() -> None:
    with open_study() as study:
        slow, *rest = study.ask()
        study.abandon(slow)
        for experiment in rest:
            tell(study, experiment)
        assert study.evidence.failures
        tell(study, slow)
        assert not study.evidence.failures
        assert len(study.evidence.trajectories) == 2
        assert study.evidence.spent.queries == 2
        outcome = finish(study)
    assert_same_law(outcome, run())


@pytest.mark.parametrize("twice", ["fail", "abandon"])
def test_giving_up_twice_is_charged_once(twice: str) -> None:
    with open_study() as study:
        lost, *_ = study.ask()
        study.abandon(lost)
        if twice == "fail":
            study.fail(lost, "it burnt")
        else:
            study.abandon(lost)
        assert study.evidence.spent.queries == 1


def test_an_experiment_is_known_by_its_id_and_told_once() -> None:
    with open_study() as study:
        first, second = study.ask()
        study.tell(first.id, {"y": [outcome_of(first.settings)]})
        assert study.evidence.done == {first.id}
        with pytest.raises(BadStudy, match="told already"):
            tell(study, first)
        # Several rows, at settings of their own, are an answer too.
        told = inputs(3, seed=7)
        study.tell(second, {**told, "y": np.array([3.0, 4.0, 5.0])})
        assert study.evidence.trajectories[1].n_rows == 3
        np.testing.assert_array_equal(study.evidence.trajectories[1].columns["x"], told["x"])


def test_a_study_asks_a_world_that_could_run_itself() -> None:
    with Study(world(), GRAMMAR, **request()) as study:
        assert len(study.ask()) == BUDGET.batch


def test_telling_about_an_unknown_experiment_is_misuse(waiting: Study) -> None:
    first = waiting.ask()[0].id
    with pytest.raises(BadStudy, match=rf"Experiment q7 was never asked for; .*{first}"):
        waiting.tell("q7", {"y": [1.0]})


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"z": [1.0]}, "`?y`?"),
        ({"y": [float("nan")]}, "misses a value"),
        ({"y": ["red"]}, "`?y`?"),
    ],
    ids=["column", "nan", "text"],
)
def test_rows_that_are_none_are_misuse_and_change_nothing(
    told: dict[str, list[object]], sentence: str, waiting: Study
) -> None:
    asked = waiting.ask()
    with pytest.raises(BadTable, match=sentence):
        waiting.tell(asked[0], told)
    assert waiting.ask() == asked
    assert waiting.evidence.spent.queries == 0


def test_rows_measured_outside_the_box_are_misuse_and_change_nothing() -> None:
    box = {"x": (0.5, 3.0), "v": (0.5, 3.0)}
    with Study(ManualWorld(ranges=box), GRAMMAR, **request(selector="random")) as study:
        asked = study.ask()
        first = asked[0]
        with pytest.raises(BadTable, match=rf"of experiment {first.id} have x = 50, outside its"):
            study.tell(first, {"x": [50.0], "y": [1.0]})
        assert study.ask() == asked
        study.tell(first, {"x": [3.0], "y": [1.0]})


def test_rows_of_a_finished_study_come_too_late() -> None:
    with open_study() as study:
        slow, *rest = study.ask()
        study.abandon(slow)
        for experiment in rest:
            tell(study, experiment)
        finish(study)
        with pytest.raises((BadLedger, BadStudy), match=r"finished|ended"):
            tell(study, slow)


def test_one_study_at_a_time_writes_a_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    with open_study(ledger=ledger), pytest.raises(BadLedger, match=r"run\.alder"):
        open_study(ledger=ledger)


@final
class Impatient:
    """A proposer during which somebody presses Control-C."""

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        raise KeyboardInterrupt


def test_control_c_while_asking_leaves_the_study_as_it_was() -> None:
    with open_study(proposer=Impatient()) as study:
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                study.ask()
        assert study.evidence.spent.proposals == 0
        assert study.evidence.attempts == ()
