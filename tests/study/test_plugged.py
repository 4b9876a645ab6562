"""Criteria of a study's own and worlds by name, through a whole study."""

from pathlib import Path

import pytest
from study.problems import BUDGET, GRAMMAR, TRUTH, rows, world
from verification.owned import AtMost, Quiet

from alder.errors import BadLedger, BadStudy
from alder.records.outcome import Outcome
from alder.records.protected import Protected
from alder.study.discover import discover
from alder.study.plugged import as_criteria, as_world
from alder.study.study import Study
from alder.verification.criteria import Criteria


def found(limit: float, ledger: Path | None = None) -> Outcome:
    return discover(
        world(),
        GRAMMAR,
        initial=rows(40, seed=1),
        protected=Protected(rows(40, seed=2)),
        guesses=[TRUTH],
        proposer="guesses",
        budget=BUDGET,
        criteria=Criteria(own=[AtMost(limit)]),
        ledger=ledger,
    )


def test_a_law_that_fails_a_criterion_of_the_study_is_refused_with_its_category() -> None:
    assert found(100.0).law is not None
    with Study(
        world(),
        GRAMMAR,
        initial=rows(40, seed=1),
        protected=Protected(rows(40, seed=2)),
        guesses=[TRUTH],
        proposer="guesses",
        budget=BUDGET,
        criteria=Criteria(own=[Quiet(), AtMost(1.0)]),
    ) as study:
        assert study.run().law is None
        assert {attempt.category for attempt in study.evidence.attempts} == {"fails-criterion"}


def test_a_ledger_goes_on_only_with_the_criteria_it_was_begun_with(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    assert found(100.0, ledger).law is not None
    assert found(100.0, ledger).law is not None
    with pytest.raises(BadLedger, match="another set of admission criteria"):
        found(101.0, ledger)


@pytest.mark.parametrize(("n", "words"), [(1, "1 protected row "), (6, "6 protected rows ")])
def test_too_few_protected_rows_are_refused_at_the_start(n: int, words: str) -> None:
    with pytest.raises(BadStudy, match=rf"{words}.*at least 7 rows.*leave `protected` out"):
        discover(
            world(),
            GRAMMAR,
            initial=rows(40, seed=1),
            protected=Protected(rows(n, seed=2)),
            guesses=[TRUTH],
        )


def test_names_nobody_brings_are_refused() -> None:
    with pytest.raises(BadStudy, match="No installed package brings a criterion named `mine`"):
        as_criteria(Criteria(own="mine"))
    with pytest.raises(BadStudy, match="No installed package brings a world named `mine`"):
        as_world("mine")


def test_a_world_that_is_no_name_is_left_alone() -> None:
    one = world()
    assert as_world(one) is one
