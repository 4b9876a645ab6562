"""Every record comes back from its JSON as it was, through the bytes of an event."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.expr.operators import Floors
from alder.ledger import coding
from alder.ledger.configuration import (
    Configuration,
    configuration_from_json,
    configuration_to_json,
)
from alder.ledger.content import pack, unpack
from alder.records.budget import Budget, Spent
from alder.records.evidence import Misfit, Separation
from alder.records.experiment import Trajectory
from alder.records.fit import Fit
from alder.records.front import FrontLaw
from alder.records.problem import Problem
from alder.records.roles import Roles
from alder.records.verdict import Commitment, Verdict
from ledger import records

# The checker of types picks one element of a sequence at random, also while records are drawn.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

Reader = Callable[[Mapping[str, Any]], object]


def through_bytes(value: Mapping[str, object]) -> Mapping[str, Any]:
    packed = pack(value)
    return unpack(packed.text, lambda digest: packed.arrays[digest].ravel())


COMPARED: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], Any], Reader]] = {
    "grammar": (records.grammars, coding.grammar_to_json, coding.grammar_from_json),
    "proposal": (records.proposals(), coding.proposal_to_json, coding.proposal_from_json),
    "experiment": (records.experiments, coding.experiment_to_json, coding.experiment_from_json),
    "choice": (records.choices, coding.choice_to_json, coding.choice_from_json),
    "law": (records.laws, coding.law_to_json, coding.law_from_json),
    "source": (
        st.text() | st.binary(),
        coding.source_to_json,
        coding.source_from_json,
    ),
    "configuration": (records.configurations, configuration_to_json, configuration_from_json),
    "roles": (records.roles, coding.plain_to_json, lambda value: Roles(**value)),
    "budget": (records.budgets, coding.plain_to_json, lambda value: Budget(**value)),
    "spent": (records.spent, coding.plain_to_json, lambda value: Spent(**value)),
    "problem": (records.problems, coding.plain_to_json, lambda value: Problem(**value)),
    "misfit": (records.misfits, coding.plain_to_json, lambda value: Misfit(**value)),
    "verdict": (records.verdicts, coding.plain_to_json, lambda value: Verdict(**value)),
    "commitment": (records.commitments, coding.plain_to_json, lambda value: Commitment(**value)),
    "separation": (records.separations, coding.plain_to_json, lambda value: Separation(**value)),
    "floors": (st.just(Floors()), coding.plain_to_json, lambda value: Floors(**value)),
}


@pytest.mark.parametrize("name", COMPARED)
@given(st.data())
def test_a_record_round_trips(name: str, data: st.DataObject) -> None:
    strategy, write, read = COMPARED[name]
    record = data.draw(strategy)
    assert read(through_bytes(write(record))) == record


@given(records.trajectories())
def test_a_trajectory_round_trips_to_the_last_bit_that_matters(trajectory: Trajectory) -> None:
    again = coding.trajectory_from_json(through_bytes(coding.trajectory_to_json(trajectory)))
    assert again.experiment == trajectory.experiment
    assert list(again.columns) == list(trajectory.columns)
    for name, column in trajectory.columns.items():
        np.testing.assert_array_equal(again.columns[name], column)
        np.testing.assert_array_equal(
            np.signbit(again.columns[name][column == 0.0]), np.signbit(column[column == 0.0])
        )


@given(records.fits())
def test_a_fit_round_trips_with_all_it_says(fit: Fit) -> None:
    again = coding.fit_from_json(through_bytes(coding.fit_to_json(fit)))
    for name in Fit.__slots__:
        np.testing.assert_equal(getattr(again, name), getattr(fit, name))


@given(records.candidates)
def test_a_candidate_round_trips(candidate: Any) -> None:
    again = coding.candidate_from_json(through_bytes(coding.candidate_to_json(candidate)))
    assert (again.law, again.weight, again.label) == (
        candidate.law,
        candidate.weight,
        candidate.label,
    )


@given(records.laws, records.NUMBERS)
def test_a_law_of_the_front_round_trips(law: Any, error: float) -> None:
    written = coding.front_law_to_json(FrontLaw(law, error))
    again = coding.front_law_from_json(through_bytes(written))
    assert (again.law, again.error, again.standing) == (law, error, "open")


@given(records.refusals)
def test_a_refusal_round_trips(refusal: Any) -> None:
    again = coding.refusal_from_json(through_bytes(coding.refusal_to_json(refusal)))
    for name in ("cause", "reason", "advice", "candidate", "rivals", "findings"):
        assert getattr(again, name) == getattr(refusal, name)


@given(records.refusals)
def test_a_refusal_from_before_findings_were_kept_is_read(refusal: Any) -> None:
    value = coding.refusal_to_json(refusal)
    del value["findings"]
    again = coding.refusal_from_json(through_bytes(value))
    assert again.cause == refusal.cause
    assert again.ruled_out == ()


def test_a_source_no_checker_would_read_is_cut_and_says_how_long_it_was() -> None:
    value = coding.source_to_json("x" * (coding.MAX_SOURCE + 5))
    assert value["length"] == coding.MAX_SOURCE + 5
    assert coding.source_from_json(value) == "x" * coding.MAX_SOURCE


@given(records.configurations, records.budgets)
def test_the_digest_of_a_configuration_ignores_budget_and_versions_only(
    configuration: Configuration, budget: Budget
) -> None:
    larger = replace(configuration, budget=budget, versions={"alder": "9"})
    assert larger.digest == configuration.digest
    assert replace(configuration, seed=configuration.seed + 1).digest != configuration.digest


@given(records.fits())
def test_the_law_of_a_fit_is_the_same_before_and_after(fit: Fit) -> None:
    assert coding.fit_from_json(coding.fit_to_json(fit)).law == fit.law
