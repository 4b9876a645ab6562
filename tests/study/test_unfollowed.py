"""What a refused system of a log is told to try next."""

import numpy as np
import pytest

from alder.fitting.samples import Samples
from alder.proposers.states.excitation import Unmoved
from alder.proposers.states.finding import Found
from alder.proposers.states.model import Model, Problem
from alder.proposers.summands.terms import Library
from alder.study.unfollowed import not_excited, not_followed


def _found(columns: tuple[str, ...]) -> Found:
    """Return a system of one state that nothing was found for."""
    t = np.linspace(0.0, 1.0, 10)
    acting = np.zeros((10, len(columns) - 1))
    samples = Samples.of([(t, t[:, None])], [acting])
    problem = Problem(samples, columns, np.ones(1), samples.states, {}, discrete=False)
    return Found(Model(()), problem, Library(columns, ()), "shooting", ())


@pytest.mark.parametrize("finding", ["missed", "patterned", "unexplained"])
def test_where_inputs_act_their_times_are_to_be_checked(finding: str) -> None:
    advice = not_followed(finding, _found(("x", "u"))).advice
    assert "Or an input acts at other times than the log says (a dead time" in advice
    assert "or a state is missing: check these first." in advice


@pytest.mark.parametrize("finding", ["missed", "patterned", "unexplained"])
def test_without_inputs_one_may_be_missing(finding: str) -> None:
    advice = not_followed(finding, _found(("x",))).advice
    assert advice.endswith("Or a state or an input is missing.")


def test_what_nothing_says_of_other_causes_keeps_its_own_advice() -> None:
    assert "times" not in not_followed("diverges", _found(("x", "u"))).advice


def test_a_constant_state_may_be_left_out() -> None:
    refusal = not_excited(Unmoved("x", "", 20.0, 19.9, 20.1), ())
    assert "`x` is 20 in the whole log" in refusal.reason
    assert refusal.advice.endswith("or leave it out of the states.")


def test_a_state_that_is_sampled_too_slowly_is_not_called_constant() -> None:
    refusal = not_excited(Unmoved("x", "", 0.003, -1.18, 1.18, quick=True), ())
    assert refusal.reason == (
        "`x` changes as much from one sample to the next as in the whole log (-1.18 to 1.18)."
    )
    assert refusal.advice.startswith("Sample faster, or look for spikes")
