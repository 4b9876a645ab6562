"""The crucial experiment between laws, in every kind of world."""

from dataclasses import replace
from itertools import product
from math import erf, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import alder
from alder.errors import BadParameter, BadStudy
from alder.records.noise import Noise
from alder.records.variable import Variable
from alder.study.crucial import crucial_experiment


def law(text: str, sigma: float = 0.1) -> alder.Law:
    """Return a law whose numbers are known exactly."""
    rows = {"x": np.array([1.0, 2.0, 3.0]), "a": np.array([1.0, 2.0, 4.0])}
    fitted = alder.fit(f"({text}) + 0*k*x", rows, target="a", fixed={"k": 1.0}).law
    return replace(fitted, noise=Noise(sigma, origin="given"))


def never(_settings: object) -> float:
    raise AssertionError("an experiment was run")


def pool(x: list[float], **options: Any) -> alder.FunctionWorld:
    return alder.FunctionWorld(never, experiments={"x": x}, **options)


@settings(max_examples=20)
@given(st.floats(1.0, 8.0))
def test_two_known_laws_are_decided_with_the_chance_of_the_likelihood_ratio(d: float) -> None:
    found = crucial_experiment([law("x"), law(f"x + {0.1 * d!r}")], pool([1.0]))
    assert found is not None
    assert found.sigmas == pytest.approx(d, rel=1e-6)
    expected = (1.0 + erf((d / 2.0 - log(19.0) / d) / sqrt(2.0))) / 2.0
    assert found.chance == pytest.approx(expected, abs=0.02)


def test_the_cheapest_experiment_that_decides_is_chosen_not_the_most_telling() -> None:
    world = pool([1.0, 2.0, 3.0, 4.0], cost=[1.0, 5.0, 2.0, 9.0])
    found = crucial_experiment([law("x"), law("1.3*x")], world)
    assert found is not None
    assert found.experiment.settings["x"] == 3.0
    assert found.chance >= 0.9


def test_what_is_cheap_but_would_not_decide_is_passed_over() -> None:
    world = pool([0.1, 4.0], cost=[1.0, 100.0])
    found = crucial_experiment([law("x"), law("1.5*x")], world)
    assert found is not None
    assert found.experiment.settings["x"] == 4.0


def test_where_none_decides_the_likeliest_to_decide_is_named_with_its_chance() -> None:
    found = crucial_experiment([law("x"), law("1.5*x")], pool([0.1, 0.3, 0.2]))
    assert found is not None
    assert found.experiment.settings["x"] == 0.3
    assert found.chance < 0.5


def test_an_unsafe_experiment_is_never_chosen() -> None:
    world = pool([2.0, 4.0], cost=[1.0, 100.0], is_safe=[False, True])
    found = crucial_experiment([law("x"), law("1.5*x")], world)
    assert found is not None
    assert found.experiment.settings["x"] == 4.0


def test_limits_hold_under_every_law() -> None:
    world = pool([2.0, 3.0, 4.0])
    found = crucial_experiment([law("x"), law("1.5*x")], world, limits={"a": (0.0, 5.0)})
    assert found is not None
    assert 1.5 * float(found.experiment.settings["x"]) <= 5.0


def test_where_nothing_separates_the_laws_there_is_no_such_experiment() -> None:
    assert crucial_experiment([law("x"), law("x + 0.001")], pool([1.0, 2.0])) is None
    unsafe = pool([1.0], is_safe=[False])
    assert crucial_experiment([law("x"), law("2*x")], unsafe) is None


def test_of_three_laws_the_closest_two_are_said() -> None:
    found = crucial_experiment([law("x"), law("x + 1"), law("x + 3")], pool([1.0]))
    assert found is not None
    assert [(p.first, p.second) for p in found.separates] == [("A", "B"), ("B", "C"), ("A", "C")]
    assert found.sigmas == found.separates[0].sigmas == pytest.approx(10.0)
    assert str(found).startswith("e1 (x = 1) at cost 1 separates A from B by 10 noise sd; one run")


def test_coefficients_that_are_not_known_make_a_decision_less_likely() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 0.4, 30)
    rows = {"x": x, "a": np.tanh(x) + 0.02 * rng.standard_normal(30)}
    line = alder.fit("k*x", rows, target="a").law
    curve = alder.fit("k*s*tanh(x/s)", rows, target="a", bounds={"s": (0.3, 9.0)}).law
    exact = [replace(one, covariance=np.zeros_like(one.covariance)) for one in (line, curve)]
    vague, sharp = (crucial_experiment(laws, pool([3.0])) for laws in ([line, curve], exact))
    assert vague is not None
    assert sharp is not None
    assert vague.sigmas == pytest.approx(sharp.sigmas)
    assert vague.chance < sharp.chance


def test_given_noise_takes_the_place_of_the_laws_own() -> None:
    laws = [law("x"), law("x + 1")]
    loud = crucial_experiment(laws, pool([1.0]), noise=0.5)
    assert loud is not None
    assert loud.sigmas == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("laws", "options", "said"),
    [
        ([law("x")], {}, "two laws or more; got 1"),
        ([law("x", 0.0), law("2*x", 0.0)], {}, "give `noise`"),
        ([law("x"), replace(law("2*x"), target=Variable("b"))], {}, "different targets, a and b"),
        ([law("x"), replace(law("2*x"), objective="events")], {}, "A law of events gives odds"),
    ],
)
def test_laws_that_cannot_be_compared_are_refused(
    laws: list[alder.Law], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadStudy, match=said):
        crucial_experiment(laws, pool([1.0]), **options)


@pytest.mark.parametrize("options", [{"chance": 1.0}, {"confidence": 0.3}])
def test_what_is_no_probability_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadParameter, match="between"):
        crucial_experiment([law("x"), law("2*x")], pool([1.0]), **options)


SHAPES = {"still": 0.0, "step": 1.0}


def tank(horizons: tuple[float, ...], starts: tuple[float, ...]) -> alder.ODEWorld:
    system = alder.System(
        {"x": lambda t, at: never((t, at))},
        inputs=lambda t, settings: {"u": SHAPES[str(settings["shape"])]},
    )
    return alder.ODEWorld(
        system,
        experiments=[
            {"x": x, "shape": shape, "horizon": horizon}
            for x, shape, horizon in product(starts, SHAPES, horizons)
        ],
        sampling=alder.Sampling(horizon=1.0, n_rows=5),
        cost=lambda s: float(s["horizon"]),
    )


def response(text: str) -> alder.Law:
    rows = {"x": np.array([1.0, 2.0, 3.0]), "u": np.ones(3), "dx_dt": np.array([1.0, 2.0, 4.0])}
    fitted = alder.fit(f"({text}) + 0*k*x", rows, target="dx_dt", fixed={"k": 1.0}).law
    return replace(fitted, noise=Noise(0.1, origin="given"))


def test_in_a_system_the_shape_of_the_input_is_part_of_the_experiment() -> None:
    world = tank((1.0,), (0.0,))
    found = crucial_experiment([response("u"), response("2*u")], world)
    assert found is not None
    assert dict(found.experiment.settings) == {"x": 0.0, "shape": "step", "horizon": 1.0}


def test_in_a_system_the_start_is_part_of_the_experiment() -> None:
    found = crucial_experiment([response("-x"), response("-2*x")], tank((1.0,), (0.0, 3.0)))
    assert found is not None
    assert found.experiment.settings["x"] == 3.0


def test_a_horizon_is_as_long_as_it_must_be_and_no_longer() -> None:
    """Both laws begin alike at x = 0 and part as x grows under the step."""
    world = tank((0.01, 1.0, 4.0), (0.0,))
    found = crucial_experiment([response("u + x"), response("u - x")], world)
    assert found is not None
    assert found.experiment.settings["horizon"] == 1.0
    assert found.experiment.settings["shape"] == "step"
