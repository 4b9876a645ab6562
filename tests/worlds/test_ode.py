"""Worlds that follow differential equations."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.problems import law

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.ports import Outlook, World
from alder.records.experiment import FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.worlds.ode import ODEWorld
from alder.worlds.rollouts import SATURATION, roll_out
from alder.worlds.system import Disturbance, Sampling, System

SPRING_LAW = law("-4 * x", "x", target="a")
SPRING = System({"x": "v", "v": SPRING_LAW}, columns={"v": "a"})
STARTS = {"x": [1.0, 0.5, -2.0], "v": [0.0, 1.0, 0.0]}
GRAMMAR = Grammar([Variable("x"), Variable("v")], Variable("a"))
SAMPLING = Sampling(horizon=2.0, n_rows=21)


def spring(**options: object) -> World:
    settings = {"experiments": STARTS, "sampling": SAMPLING, **options}
    return ODEWorld(SPRING, **settings).bind(GRAMMAR)  # type: ignore[arg-type]


def run(world: World, *rows: int) -> list[Trajectory]:
    results = list(world.run([world.pool().experiment(row) for row in rows]))
    assert all(isinstance(result, Trajectory) for result in results), results
    return [result for result in results if isinstance(result, Trajectory)]


def test_states_follow_the_solution_known_from_mathematics() -> None:
    t = np.linspace(0.0, 2.0, 21)
    rows = run(spring(), 0)[0].columns
    np.testing.assert_allclose(rows["x"], np.cos(2 * t), atol=1e-7)
    np.testing.assert_allclose(rows["v"], -2 * np.sin(2 * t), atol=1e-7)
    np.testing.assert_allclose(rows["a"], -4 * rows["x"], rtol=1e-12)


def test_the_forecast_of_the_true_law_is_what_a_run_shows() -> None:
    world = spring()
    predicted = world.predict(SPRING_LAW, np.array([2, 0]))
    shown = [rows.columns["a"] for rows in run(world, 2, 0)]
    np.testing.assert_allclose(predicted, shown, atol=1e-5)


def test_a_forecast_never_uses_a_rate_that_is_a_secret() -> None:
    def secret(_t: float, _point: object) -> float:
        raise AssertionError("asked for the secret rate")

    system = System({"x": secret, "v": SPRING_LAW}, columns={"v": "a"})
    world = ODEWorld(system, experiments=STARTS, sampling=SAMPLING).bind(GRAMMAR)
    assert world.predict(SPRING_LAW, np.arange(3)).tolist() == [[-4.0], [-2.0], [8.0]]


def test_one_right_hand_side_makes_a_system() -> None:
    def rhs(_t: float, state: FloatArray) -> Sequence[float]:
        return [state[1], -4.0 * state[0]]

    world = ODEWorld(
        System.of(rhs, ["x", "v"], {"v": "a"}), experiments=STARTS, sampling=SAMPLING
    ).bind(GRAMMAR)
    np.testing.assert_allclose(run(world, 1)[0].columns["x"], run(spring(), 1)[0].columns["x"])


def test_constants_and_inputs_act_and_are_columns() -> None:
    system = System(
        {"x": lambda _t, p: p["k"] * p["u"]},
        inputs=lambda t, s: {"u": math.sin(t) * float(s["k"])},
    )
    grammar = Grammar([Variable("k"), Variable("u")], Variable("dx_dt"))
    world = ODEWorld(
        system, experiments={"x": [0.0], "k": [2.0]}, sampling=Sampling(math.pi, 11)
    ).bind(grammar, Roles(time="time"))
    rows = run(world, 0)[0].columns
    assert set(rows) == {"k", "u", "dx_dt", "time"}
    np.testing.assert_allclose(rows["u"], 2.0 * np.sin(rows["time"]))
    true = law("k * u", "k", "u", target="dx_dt")
    np.testing.assert_allclose(world.predict(true, np.arange(1))[0], rows["dx_dt"], atol=1e-9)


def test_an_experiment_may_have_its_own_horizon() -> None:
    world = ODEWorld(
        SPRING, experiments={**STARTS, "horizon": [1.0, 2.0, 3.0]}, sampling=SAMPLING
    ).bind(GRAMMAR, Roles(time="t"))
    assert [rows.columns["t"][-1] for rows in run(world, 0, 1, 2)] == [1.0, 2.0, 3.0]
    shown = [rows.columns["a"] for rows in run(world, 0, 1, 2)]
    np.testing.assert_allclose(world.predict(SPRING_LAW, np.arange(3)), shown, atol=1e-4)


def test_the_same_seed_disturbs_alike_in_any_order() -> None:
    noisy = Disturbance(process={"v": 0.1}, observation={"x": 0.01, "a": 0.1}, seed=3)
    first, second = run(spring(disturbance=noisy), 0, 2)
    again = run(spring(disturbance=noisy), 2, 0)
    for name in first.columns:
        assert np.array_equal(first.columns[name], again[1].columns[name])
        assert np.array_equal(second.columns[name], again[0].columns[name])


def test_observation_noise_has_the_size_that_was_asked_for() -> None:
    sampling = Sampling(horizon=2.0, n_rows=2001)
    noisy = Disturbance(observation={"a": 0.5})
    quiet = run(spring(sampling=sampling), 0)[0].columns["a"]
    loud = run(spring(sampling=sampling, disturbance=noisy), 0)[0].columns["a"]
    assert np.std(loud - quiet) == pytest.approx(0.5, rel=0.1)


def test_process_noise_moves_the_states_themselves() -> None:
    rows = run(spring(disturbance=Disturbance(process={"v": 1.0})), 0)[0].columns
    assert np.abs(rows["x"] - run(spring(), 0)[0].columns["x"]).max() > 0.01
    np.testing.assert_allclose(rows["a"], -4 * rows["x"])


def test_rows_end_where_the_solution_diverges() -> None:
    pole = System({"x": lambda _t, p: p["x"] ** 2})  # x = 1 / (1 - t)
    grammar = Grammar([Variable("x")], Variable("dx_dt"))
    world = ODEWorld(pole, experiments={"x": [1.0]}, sampling=Sampling(2.0, 21)).bind(
        grammar, Roles(time="t")
    )
    rows = run(world, 0)[0].columns
    assert 0.5 < rows["t"][-1] <= 1.0
    predicted = world.predict(law("x * x", "x", target="dx_dt"), np.arange(1))
    assert predicted.shape == (1, 21)
    assert np.isfinite(predicted).all()


def test_a_rate_that_raises_is_a_failed_run() -> None:
    system = System({"x": lambda _t, _p: 1 / 0})
    world = ODEWorld(system, experiments={"x": [1.0]}, sampling=SAMPLING).bind(
        Grammar([Variable("x")], Variable("dx_dt"))
    )
    result = world.run([world.pool().experiment(0)])[0]
    assert result == FailedRun("e1", "ZeroDivisionError: division by zero")


@given(st.floats(-1e300, 1e300), st.floats(-1e6, 1e6))
def test_rollouts_stay_finite_whatever_the_rate(rate: float, start: float) -> None:
    path = roll_out(
        lambda _t, x: {"x": rate * x["x"]}, {"x": np.array([start])}, np.linspace(0.0, 1.0, 4)
    )["x"]
    assert np.isfinite(path).all()
    assert np.abs(path).max() <= SATURATION


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: spring(experiments={"x": [1.0]}), "where `v` begins"),
        (lambda: Sampling(-1.0), "above zero"),
        (lambda: Sampling(1.0, n_rows=1), "at least 2"),
        (lambda: System({"x": "v"}, known=["y"]), "`y` is no state"),
        (
            lambda: spring(experiments={**STARTS, "horizon": [1.0, 0.0, 1.0]}),
            "time above zero",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(BadWorld, match=words):
        make()


def test_target_and_variables_must_be_columns_of_the_system() -> None:
    world = ODEWorld(SPRING, experiments=STARTS, sampling=SAMPLING)
    with pytest.raises(BadWorld, match="`b` is no derivative of the system; dx_dt, a are"):
        world.bind(Grammar([Variable("x")], Variable("b")))
    with pytest.raises(BadWorld, match="`w` is a variable"):
        world.bind(Grammar([Variable("w")], Variable("a")))


def test_an_unsafe_start_is_never_run() -> None:
    world = spring(is_safe=[True, False, True])
    with pytest.raises(BadWorld, match="unsafe"):
        world.run([world.pool().experiment(1)])


def test_an_outlook_passes_through_the_rows_of_the_forecast() -> None:
    world = spring()
    assert isinstance(world, Outlook)
    chosen = np.array([2, 0])
    shown = world.outlook(SPRING_LAW, chosen)
    assert set(world.foreseen()) == set(shown) == {"a", "x", "v", "t"}
    n_between = (shown["a"].shape[1] - 1) // (SAMPLING.n_rows - 1)
    assert n_between > 1
    np.testing.assert_allclose(
        shown["a"][:, ::n_between], world.predict(SPRING_LAW, chosen), rtol=1e-12
    )
    np.testing.assert_allclose(
        shown["x"], np.array([[-2.0], [1.0]]) * np.cos(2 * shown["t"]), atol=1e-5
    )


def test_inputs_that_change_with_time_are_part_of_an_outlook() -> None:
    system = System({"x": lambda _t, p: p["u"]}, inputs=lambda t, s: {"u": float(s["k"]) * t})
    grammar = Grammar([Variable("u")], Variable("dx_dt"))
    world = ODEWorld(
        system, experiments={"x": [0.0, 0.0], "k": [1.0, 2.0]}, sampling=SAMPLING
    ).bind(grammar)
    assert isinstance(world, Outlook)
    shown = world.outlook(law("u", "u", target="dx_dt"), np.arange(2))
    np.testing.assert_allclose(shown["u"], [[1.0], [2.0]] * shown["t"], rtol=1e-12)
    np.testing.assert_allclose(shown["x"][:, -1], [2.0, 4.0], rtol=1e-9)
