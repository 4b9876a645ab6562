"""Laws inverted in worlds, by themselves and pointwise."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from control.laws import MOTION, REST, SPRING, fitted

import alder
from alder.arrays import FloatArray
from alder.control.credible import credible_set
from alder.control.forward import Rollout, in_world
from alder.control.problem import Inversion, objections
from alder.errors import BadParameter, BadWorld
from alder.records.plan import Prediction


def true_end(u: FloatArray, horizon: float) -> tuple[float, float]:
    """Follow the spring by its textbook solution, move after move."""
    A = np.array([[0.0, 1.0], [-1.5, -0.4]])
    values, vectors = np.linalg.eig(A)
    state = np.zeros(2, dtype=complex)
    for one in np.ravel(u).tolist():
        still = np.array([one / 1.5, 0.0])
        grown = vectors @ np.diag(np.exp(values * horizon / np.size(u))) @ np.linalg.inv(vectors)
        state = still + grown @ (state - still)
    return float(state[0].real), float(state[1].real)


def ode_world(**options: Any) -> alder.ODEWorld:
    def rate(_t: float, point: Any) -> float:
        return point["u"] - 1.5 * point["x"] - 0.4 * point["v"]

    return alder.ODEWorld(
        alder.System({"x": "v", "v": rate}),
        experiments=[{"x": 0.0, "v": 0.0, "u": 1.0}],
        sampling=alder.Sampling(horizon=1.0, n_rows=20),
        **options,
    )


def gym_like_world() -> alder.GymnasiumWorld:
    pytest.importorskip("gymnasium")
    return alder.GymnasiumWorld(
        "Pendulum-v1",
        experiments={"x": [0.0], "v": [0.0], "u": [0.5]},
        columns=lambda seen: {"x": math.atan2(seen[1], seen[0]), "v": float(seen[2])},
        target=alder.difference("v", 0.05),
        episode=alder.Episode(
            lambda s, _k, _read: np.array([s["u"]]),
            n_steps=20,
            actions=("u",),
            follow=lambda c, a: {"x": c["x"] + 0.05 * (c["v"] + 0.05 * a), "v": c["v"] + 0.05 * a},
        ),
    )


@pytest.mark.parametrize("in_a_world", [False, True])
def test_equations_of_motion_and_a_law_in_a_world_reach_the_target(in_a_world: bool) -> None:
    law, world = (SPRING, ode_world()) if in_a_world else (MOTION, None)
    plan = alder.plan(law, world, {"x": 0.52}, start=REST, horizons=(0.1, 1.5))
    assert plan.status == "reached"
    assert plan.horizon == 1.5
    assert plan.evaluations <= 48
    assert true_end(plan.actions, 1.5)[0] == pytest.approx(0.52, abs=1.2e-4)
    assert plan.lowest["x"] < plan.predicted["x"] < plan.highest["x"]


@pytest.mark.parametrize("in_a_world", [False, True])
def test_a_vector_target_takes_two_moves(in_a_world: bool) -> None:
    law, world = (SPRING, ode_world()) if in_a_world else (MOTION, None)
    wanted = {"x": 0.3, "v": 0.0}
    plan = alder.plan(law, world, wanted, start=REST, horizons=1.0, moves=2, evaluations=30)
    assert plan.status == "reached", plan
    assert true_end(plan.actions, 1.0) == pytest.approx((0.3, 0.0), abs=2e-4)


def test_a_law_is_followed_through_the_episodes_of_an_environment() -> None:
    law = fitted("k*sin(x) + 3*u", {"k": 15.0})
    plan = alder.plan(
        law,
        gym_like_world(),
        {"x": 0.2},
        actions={"u": (-2.0, 2.0)},
        start=REST,
        horizons=(4, 10),
        limits={"v": (-1.0, 1.0)},
    )
    assert plan.status == "reached"
    x = v = 0.0
    for _ in range(int(plan.horizon)):
        v += 0.05 * (15.0 * math.sin(x) + 3.0 * plan.first["u"])
        x += 0.05 * v
    assert x == pytest.approx(0.2, abs=1.1e-4)
    assert len(plan.path["x"]) == plan.horizon + 1


def test_a_law_of_single_rows_is_asked_for_its_action() -> None:
    law = fitted("k*u + x", {"k": 2.0}, target="a")
    plan = alder.plan(law, None, 0.52, start={"x": 0.1})
    assert plan.status == "reached"
    assert plan.first["u"] == pytest.approx(0.21, abs=1e-4)


def test_any_function_may_be_the_forward_model() -> None:
    def simulator(actions: FloatArray, horizon: float) -> alder.Prediction:
        return alder.Prediction({"q": np.array([0.0, actions[0, 0] * horizon])})

    plan = alder.plan(simulator, None, {"q": 0.5}, actions={"pull": (0.0, 1.0)}, horizons=(11, 17))
    assert plan.first["pull"] == pytest.approx(0.5 / 11.0, abs=1e-5)
    with pytest.raises(BadParameter, match="Say what may be chosen"):
        alder.plan(simulator, None, {"q": 0.5})


def test_a_plan_keeps_to_limits_under_every_credible_law() -> None:
    unsure = fitted("u - k*x - c*v", {"k": 1.5, "c": 0.4}, error=0.2)
    motion = alder.Dynamics({"v": unsure}, {"x": "v"})
    limits = alder.Limits({"x": (-1.0, 0.53)})
    sure = alder.plan(
        motion, None, {"x": 0.52}, start=REST, horizons=1.5, limits=replace(limits, sigmas=0.0)
    )
    assert sure.status == "reached"
    plan = alder.plan(motion, None, {"x": 0.52}, start=REST, horizons=1.5, limits=limits)
    assert plan.status == "closest"
    assert "is not safe" in plan.reason
    assert plan.highest["x"] <= 0.53
    for one in credible_set(motion):
        assert isinstance(one, alder.Dynamics)
        path = one.rollout(REST, np.linspace(0.0, 1.5, 33), {"u": plan.first["u"]})
        assert (path["x"] <= 0.53 + 1e-6).all()


def test_the_credible_set_is_the_law_and_two_neighbours_for_each_coefficient() -> None:
    assert len(credible_set(MOTION)) == 5
    assert credible_set(MOTION, 0.0) == (MOTION,)
    moved = [
        one.laws["v"].values for one in credible_set(MOTION)[1:] if isinstance(one, alder.Dynamics)
    ]
    assert max(abs(values["k"] - 1.5) for values in moved) == pytest.approx(0.02)


def test_a_target_beyond_the_scope_is_not_reached_unless_asked_for() -> None:
    beyond = {"x": 2.5}
    kept = alder.plan(MOTION, None, beyond, start=REST, horizons=2.0)
    assert kept.status == "closest"
    assert "fitted on" in kept.reason or "reaches the target" in kept.reason
    left = alder.plan(
        MOTION,
        None,
        beyond,
        start=REST,
        horizons=2.0,
        within_scope=False,
        actions={"u": (-6.0, 6.0)},
    )
    assert left.status == "reached"


def test_a_start_outside_the_scope_is_refused() -> None:
    plan = alder.plan(MOTION, None, {"x": 0.5}, start={"x": 5.0, "v": 0.0})
    assert plan.refused
    assert "the law was fitted on -2 to 2" in plan.reason


def test_both_ways_of_following_equations_agree() -> None:
    actions = np.array([[1.0], [-2.0], [0.5]])
    forward = Rollout.of(MOTION, ("u",), REST)
    careful = replace(forward, flow=None)
    world = in_world(SPRING, ode_world(), ("u",), REST)
    ends = [model(actions, 2.1).end for model in (forward, careful, world)]
    for end in ends:
        assert (end["x"], end["v"]) == pytest.approx(true_end(actions, 2.1), abs=1e-7)
    assert world(actions, 2.1).path["t"][-1] == pytest.approx(2.1)


def test_equations_that_blow_up_are_followed_to_a_divergence() -> None:
    growth = alder.Dynamics({"v": fitted("k*v*v + u", {"k": 1.0})})
    end = Rollout.of(growth, ("u",), {"v": 2.0})(np.array([[0.0]]), 3.0).end["v"]
    assert end == 1e100


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: alder.plan(MOTION, None, 0.5, start=REST), "which column"),
        (lambda: alder.plan([], None, 0.5), "needs a law"),
        (lambda: alder.plan(MOTION, None, {"x": 0.5}, start={"x": 0.0}), "where `v` is"),
        (
            lambda: alder.plan(MOTION, None, {"x": 0.5}, start={**REST, "u": 1.0}),
            "is fixed.*--action u=",
        ),
        (
            lambda: alder.plan(fitted("k*u", {"k": 1.0}, target="a"), None, {"b": 1.0}, start=REST),
            "`b`, which the forward model does not predict; it predicts x, v, u, a",
        ),
        (
            lambda: alder.plan(MOTION, None, {"x": 0.5}, start=REST, limits={"heat": (0.0, 1.0)}),
            "does not predict it",
        ),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(call: Any, words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        call()


def test_equations_with_a_dead_time_are_not_planned_with() -> None:
    late = replace(MOTION, delay=5.0)
    for laws in (late, [MOTION, late]):
        with pytest.raises(BadParameter, match=r"act 5 later than their inputs; plans .*rollout"):
            alder.plan(laws, None, {"x": 0.5}, start=REST)


def test_equations_without_an_input_leave_nothing_to_choose() -> None:
    falling = alder.Dynamics({"v": fitted("-k*x", {"k": 1.0})}, {"x": "v"})
    for actions in (None, {"u": (0.0, 1.0)}):
        with pytest.raises(BadParameter, match="no input, so there is nothing to choose"):
            alder.plan(falling, None, {"x": 0.5}, start=REST, actions=actions)


def test_an_input_of_a_known_rate_alone_may_be_chosen_between_ends() -> None:
    led = alder.Dynamics({"v": fitted("-k*x", {"k": 1.0})}, {"x": "v + w"})
    with pytest.raises(BadParameter, match=r"ends may `w` be .*actions=.*--action w=low:high"):
        alder.plan(led, None, {"x": 0.5}, start=REST)
    plan = alder.plan(led, None, {"x": 0.5}, start=REST, actions={"w": (-2.0, 2.0)})
    assert plan.status == "reached"


def test_a_target_that_is_no_state_is_told_the_states_alone() -> None:
    with pytest.raises(BadParameter, match="`speed`, which is no state of the equations; v, x are"):
        alder.plan(MOTION, None, {"speed": 0.5}, start=REST)


def test_a_plan_beyond_what_was_verified_says_so() -> None:
    motion = replace(MOTION, horizon=1.49)
    beyond = alder.plan(motion, None, {"x": 0.52}, start=REST, horizons=2.0)
    assert beyond.status == "reached"
    assert beyond.beyond == "beyond 1.49, for which the equations were verified"
    assert str(beyond).endswith(f"2 is {beyond.beyond}")
    within = alder.plan(motion, None, {"x": 0.52}, start=REST, horizons=1.49)
    unknown = alder.plan(MOTION, None, {"x": 0.52}, start=REST, horizons=9.0)
    for plan in (within, unknown):
        assert plan.beyond == ""
        assert "verified" not in str(plan)


def test_a_world_with_another_secret_rate_cannot_follow_one_law() -> None:
    world = alder.ODEWorld(
        alder.System({"x": lambda _t, p: p["v"], "v": lambda _t, p: -p["x"]}),
        experiments=[REST],
        sampling=alder.Sampling(horizon=1.0),
    )
    with pytest.raises(BadWorld, match="another rate is not known"):
        alder.plan(SPRING, world, {"x": 0.5}, start=REST)


@pytest.mark.parametrize(
    ("end", "scope", "words"),
    [
        ({}, {"a": (-math.inf, math.inf), "b": (0.0, 10.0)}, "b would reach 50"),
        ({"a": math.nan}, {"b": (0.0, 10.0)}, "`a` diverges"),
        ({}, {"a": (math.nan, 1.0), "b": (0.0, 100.0)}, "a would reach 0"),
    ],
)
def test_no_limit_hides_behind_one_that_is_no_number(
    end: dict[str, float], scope: dict[str, tuple[float, float]], words: str
) -> None:
    path = {"a": np.zeros(3), "b": np.array([1.0, 50.0, 2.0])}
    problem = Inversion({"b": 1.0}, {"u": (0.0, 1.0)}, limits=alder.Limits({"b": (0.0, 20.0)}))
    assert words in "; ".join(objections(Prediction(path, end, scope), problem))
