"""A receding-horizon policy in a Gymnasium loop."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from control.laws import MOTION, SPRING, fitted

import alder
from alder.errors import BadParameter

PENDULUM = alder.Dynamics({"v": fitted("k*sin(x) + 3*u", {"k": 15.0}, error=0.05)}, {"x": "v"})


def read(seen: Any) -> dict[str, float]:
    return {"x": math.atan2(seen[1], seen[0]), "v": float(seen[2])}


def upright(**options: Any) -> alder.MPCPolicy:
    settings: dict[str, Any] = {
        "columns": read,
        "target": {"x": 0.0, "v": 0.0},
        "actions": {"u": (-2.0, 2.0)},
        "horizon": 0.4,
        "moves": 4,
        "tolerance": {"x": 0.01, "v": 0.1},
        "evaluations": 30,
        **options,
    }
    return alder.MPCPolicy(PENDULUM, **settings)


def test_a_pendulum_is_brought_upright_and_held_there() -> None:
    gymnasium: Any = pytest.importorskip("gymnasium")
    environment = gymnasium.make("Pendulum-v1")
    environment.reset(seed=0)
    environment.unwrapped.state = np.array([0.25, 0.0])
    observation = np.array([math.cos(0.25), math.sin(0.25), 0.0])
    policy = upright()
    for _ in range(30):
        action = policy(observation)
        assert action is not None, policy.stopped
        assert policy.plan is not None
        assert policy.plan.evaluations <= 30
        observation, *_ = environment.step(action.astype(np.float32))
    assert abs(math.atan2(observation[1], observation[0])) < 0.02
    assert abs(observation[2]) < 0.1


def test_leaving_the_scope_stops_execution_with_that_reason() -> None:
    policy = upright()
    assert policy(np.array([math.cos(0.1), math.sin(0.1), 0.0])) is not None
    assert policy(np.array([math.cos(2.5), math.sin(2.5), 0.0])) is None
    assert "Outside the law's scope: x is 2.5" in policy.stopped
    assert policy(np.array([1.0, 0.0, 0.0])) is None  # it does not go on by itself
    policy.restart()
    assert policy(np.array([1.0, 0.0, 0.0])) is not None


def test_a_policy_stops_where_no_action_is_safe() -> None:
    policy = upright(limits=alder.Limits({"x": (-0.1, 0.1)}))
    assert policy(np.array([math.cos(0.09), math.sin(0.09), 2.9])) is None
    assert "its limits are -0.1 to 0.1" in policy.stopped


def test_what_is_decided_depends_on_the_observation_and_the_plan_before_it_alone() -> None:
    policy = alder.MPCPolicy(
        MOTION,
        columns=("x", "v"),
        target={"x": 0.3},
        actions={"u": (-2.0, 2.0)},
        horizon=0.5,
        moves=2,
    )
    first = policy.decide([0.0, 0.0])
    assert np.array_equal(first.actions, policy.decide([0.0, 0.0]).actions)
    assert policy.plan is None
    with pytest.raises(BadParameter, match="3 numbers"):
        policy.decide([0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("law", "target", "words"),
    [
        (replace(MOTION, delay=0.2), "x", "act 0.2 later than their inputs"),
        (alder.Dynamics({"v": fitted("-k*v", {"k": 1.0})}), "v", "no input"),
        (MOTION, "speed", "no state of the equations; v, x are"),
    ],
)
def test_what_no_policy_can_do_is_refused_before_it_acts(
    law: alder.Dynamics, target: str, words: str
) -> None:
    with pytest.raises(BadParameter, match=words):
        alder.MPCPolicy(
            law, columns=("x", "v"), target={target: 0.3}, actions={"u": (-2.0, 2.0)}, horizon=0.5
        )


def test_a_policy_that_looks_beyond_what_was_verified_says_so_in_its_plan() -> None:
    policy = alder.MPCPolicy(
        replace(MOTION, horizon=0.3),
        columns=("x", "v"),
        target={"x": 0.3},
        actions={"u": (-2.0, 2.0)},
        horizon=0.5,
        moves=2,
    )
    assert "beyond 0.3" in policy.decide([0.0, 0.0]).beyond


def test_a_law_of_one_rate_needs_a_world() -> None:
    with pytest.raises(BadParameter, match="is followed in a world"):
        alder.MPCPolicy(
            SPRING, columns=("x", "v"), target={"x": 0.0}, actions={"u": (-1.0, 1.0)}, horizon=1.0
        )
