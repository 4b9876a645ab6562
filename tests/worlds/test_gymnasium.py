"""Gymnasium environments as worlds."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from worlds.problems import law

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.ports import Outlook
from alder.records.experiment import FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.variable import Variable
from alder.worlds.gymnasium import Episode, GymnasiumWorld, difference

pytest.importorskip("gymnasium")


def grammar(target: str, *names: str) -> Grammar:
    return Grammar([Variable(name) for name in names], Variable(target))


def run(world: GymnasiumWorld, of: Grammar, row: int = 0) -> Trajectory:
    bound = world.bind(of)
    result = bound.run([bound.pool().experiment(row)])[0]
    assert isinstance(result, Trajectory), result
    return result


def cartpole(**options: Any) -> GymnasiumWorld:
    def place(environment: Any, settings: dict[str, Any]) -> object:
        names = ("x", "x_dot", "theta", "theta_dot")
        environment.unwrapped.state = np.array([settings[name] for name in names])
        return environment.unwrapped.state

    settings: dict[str, Any] = {
        "make": "CartPole-v1",
        "experiments": {
            "x": [0.0, 0.0],
            "x_dot": [0.0, 0.5],
            "theta": [0.05, -0.1],
            "theta_dot": [0.0, 0.3],
            "push": [1, 0],
        },
        "columns": ("x", "x_dot", "theta", "theta_dot"),
        "target": difference("theta_dot", 0.02),
        "episode": Episode(lambda s, _k, _read: int(s["push"]), n_steps=5, place=place),
        **options,
    }
    return GymnasiumWorld(**settings)


CARTPOLE = grammar("alpha", "theta", "theta_dot", "push")


def test_cartpole_obeys_its_textbook_equation() -> None:
    for row in (0, 1):
        rows = run(cartpole(), CARTPOLE, row).columns
        sin, cos = np.sin(rows["theta"]), np.cos(rows["theta"])
        force = 20.0 * rows["push"] - 10.0
        m, total, half = 0.1, 1.1, 0.5
        pull = (force + m * half * rows["theta_dot"] ** 2 * sin) / total
        alpha = (9.8 * sin - cos * pull) / (half * (4.0 / 3.0 - m * cos**2 / total))
        assert len(alpha) == 5
        # Observations are float32, and a difference over 0.02 s magnifies their rounding.
        np.testing.assert_allclose(rows["alpha"], alpha, atol=1e-4)


def pendulum_law() -> Law:
    return law("15 * sin(theta) + 3 * u", "theta", "u", target="alpha")


def pendulum(n_steps: int = 1) -> GymnasiumWorld:
    def place(environment: Any, settings: dict[str, Any]) -> object:
        environment.unwrapped.state = np.array([settings["theta"], settings["omega"]])
        return np.array([np.cos(settings["theta"]), np.sin(settings["theta"]), settings["omega"]])

    return GymnasiumWorld(
        "Pendulum-v1",
        experiments={"theta": [0.1, 2.0, -1.0], "omega": [0.0, 1.0, 0.5], "u": [0.5, -1.0, 2.0]},
        columns=lambda seen: {"theta": math.atan2(seen[1], seen[0]), "omega": float(seen[2])},
        target=difference("omega", 0.05),
        episode=Episode(
            lambda s, _k, _read: np.array([s["u"]], dtype=np.float32),
            n_steps=n_steps,
            place=place,
            actions=("u",),
        ),
    )


def test_the_forecast_of_the_true_law_is_what_the_pendulum_shows() -> None:
    of = grammar("alpha", "theta", "omega", "u")
    bound = pendulum().bind(of)
    shown = [run(pendulum(), of, row).columns["alpha"][0] for row in range(3)]
    np.testing.assert_allclose(bound.predict(pendulum_law(), np.arange(3))[:, 0], shown, atol=1e-4)


def test_every_row_of_an_episode_is_a_state_with_its_action() -> None:
    rows = run(pendulum(n_steps=20), grammar("alpha", "theta", "omega", "u"), 1).columns
    assert len(rows["u"]) == 20
    np.testing.assert_allclose(rows["alpha"], pendulum_law().predict(rows), atol=1e-3)


def test_a_mujoco_environment_repeats_itself_exactly() -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("imageio")

    def place(environment: Any, settings: dict[str, Any]) -> object:
        inner = environment.unwrapped
        inner.set_state(np.array([0.0, settings["theta"]]), np.array([0.0, settings["omega"]]))
        return inner._get_obs()

    def make_world() -> GymnasiumWorld:
        return GymnasiumWorld(
            "InvertedPendulum-v5",
            experiments={"theta": [0.05, -0.02], "omega": [0.0, 0.1], "u": [0.5, -1.0]},
            columns=("x", "theta", "x_dot", "omega"),
            target=difference("omega", 0.04),
            episode=Episode(
                lambda s, _k, _read: np.array([s["u"]]), n_steps=4, place=place, actions=("u",)
            ),
        )

    of = grammar("alpha", "theta", "omega", "u")
    first, second = run(make_world(), of), run(make_world(), of)
    assert first.columns["theta"][0] == 0.05
    for name, column in first.columns.items():
        assert np.array_equal(column, second.columns[name])


def test_a_seed_decides_the_start_where_settings_do_not_place_it() -> None:
    def start(seed: int) -> float:
        world = cartpole(
            experiments={"push": [0]},
            episode=Episode(lambda s, _k, _read: int(s["push"]), seed=seed),
        )
        return float(run(world, grammar("alpha", "push")).columns["alpha"][0])

    assert start(1) == start(1)
    assert start(1) != start(2)


def test_an_episode_that_the_environment_ends_gives_the_rows_until_then() -> None:
    long = cartpole(episode=Episode(lambda _s, _k, _read: 1, n_steps=400))
    assert 1 <= run(long, CARTPOLE).n_rows < 400


def test_an_impossible_action_is_a_failed_run() -> None:
    bound = cartpole(episode=Episode(lambda _s, _k, _read: 7)).bind(CARTPOLE)
    result = bound.run([bound.pool().experiment(0)])[0]
    assert isinstance(result, FailedRun)
    assert "AssertionError" in result.reason


def test_columns_that_do_not_match_the_observation_fail_in_words() -> None:
    bound = cartpole(columns=("x", "theta")).bind(CARTPOLE)
    result = bound.run([bound.pool().experiment(0)])[0]
    assert isinstance(result, FailedRun)
    assert "4 numbers and columns names 2" in result.reason


def test_an_unknown_environment_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadWorld, match="cannot make `NoSuchThing-v0`"):
        cartpole(make="NoSuchThing-v0")


def test_an_episode_needs_a_step() -> None:
    with pytest.raises(BadWorld, match="at least one step"):
        Episode(lambda _s, _k, _read: 0, n_steps=0)


def test_an_episode_of_one_step_is_foreseen_and_a_longer_one_is_not() -> None:
    one = cartpole(episode=Episode(lambda s, _k, _read: int(s["push"]))).bind(CARTPOLE)
    assert isinstance(one, Outlook)
    assert set(one.foreseen()) == {"alpha", "x", "x_dot", "theta", "theta_dot", "push"}
    guess = law("3 * theta", "theta", target="alpha")
    shown = one.outlook(guess, np.array([1]))
    assert shown["alpha"].tolist() == one.predict(guess, np.array([1])).tolist()
    assert shown["theta_dot"].tolist() == [[0.3]]
    longer = cartpole().bind(CARTPOLE)
    assert isinstance(longer, Outlook)
    assert longer.foreseen() == ()


def swing(columns: Mapping[str, FloatArray], alpha: FloatArray) -> Mapping[str, FloatArray]:
    omega = np.clip(columns["omega"] + 0.05 * alpha, -8.0, 8.0)
    return {"theta": columns["theta"] + 0.05 * omega, "omega": omega}


def followed(horizons: list[int], **options: Any) -> GymnasiumWorld:
    def act(settings: dict[str, Any], step: int, _read: Mapping[str, float]) -> object:
        return np.array([settings["size"] if step % 4 < 2 else 0.0], dtype=np.float32)

    world = pendulum()
    episode = replace(world.episode, act=act, follow=swing, **options)
    n = len(horizons)
    experiments = {"theta": [0.3] * n, "omega": [0.0] * n, "size": [1.0] * n, "horizon": horizons}
    return replace(world, experiments=experiments, episode=episode)


FOLLOWED = grammar("alpha", "theta", "omega", "u")


def test_the_true_law_is_followed_along_the_whole_episode() -> None:
    world = followed([12])
    shown = run(world, FOLLOWED).columns
    assert len(shown["alpha"]) == 12
    bound = world.bind(FOLLOWED)
    forecast = bound.predict(pendulum_law(), np.array([0]))
    np.testing.assert_allclose(forecast[0], shown["alpha"], atol=1e-2)
    assert isinstance(bound, Outlook)
    seen = bound.outlook(pendulum_law(), np.array([0]))
    np.testing.assert_allclose(seen["theta"][0], shown["theta"], atol=1e-3)
    assert set(bound.foreseen()) <= set(seen)


def test_beyond_its_own_horizon_an_episode_tells_laws_nothing_apart() -> None:
    bound = followed([2, 6]).bind(FOLLOWED)
    other = law("-4 * theta", "theta", target="alpha")
    first, second = (bound.predict(one, np.arange(2)) for one in (pendulum_law(), other))
    assert first.shape == (2, 6)
    np.testing.assert_array_equal(first[0, 2:], second[0, 2:])
    assert (first[1] != second[1]).all()


def test_a_law_that_diverges_has_a_finite_forecast() -> None:
    bound = followed([40], n_steps=1).bind(FOLLOWED)
    wild = law("exp(9 * theta^2) * omega + 1e9", "theta", "omega", target="alpha")
    assert np.isfinite(bound.predict(wild, np.array([0]))).all()


def test_a_horizon_that_is_no_number_of_steps_is_refused() -> None:
    with pytest.raises(BadWorld, match="whole number of steps; got 0"):
        followed([0])


def test_a_follow_that_fails_is_said_in_a_sentence() -> None:
    def broken(_columns: Mapping[str, FloatArray], _alpha: FloatArray) -> Mapping[str, FloatArray]:
        raise KeyError("omga")

    world = followed([3])
    bound = replace(world, episode=replace(world.episode, follow=broken)).bind(FOLLOWED)
    with pytest.raises(BadWorld, match="`follow` of the episode could not be asked: KeyError"):
        bound.predict(pendulum_law(), np.array([0]))
