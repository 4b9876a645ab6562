# User code has no types, and neither has what these tests pass for it.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Worlds that are one function."""

import time
from collections.abc import Mapping

import numpy as np
import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.problems import GRAMMAR, SPRING

from alder import fit
from alder.errors import BadWorld
from alder.ports import World
from alder.records.experiment import Experiment, FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.worlds.function import FunctionWorld
from alder.worlds.guard import Guard

POOL = {"r": [1.0, 2.0, 3.0], "v": [0.5, 0.0, -0.5]}


def spring(settings: Mapping[str, object]) -> float:
    r, v = settings["r"], settings["v"]
    assert isinstance(r, float)
    assert isinstance(v, float)
    return r * v - 2.0 * r


def bound(run: object = spring, **options: object) -> World:
    world = FunctionWorld(run, **{"experiments": POOL, **options})  # type: ignore[arg-type]
    return world.bind(GRAMMAR)


def run_all(world: World) -> list[Trajectory | FailedRun]:
    pool = world.pool()
    return list(world.run([pool.experiment(i) for i in np.flatnonzero(pool.safe).tolist()]))


def first_reason(run: object, **options: object) -> str:
    failed = bound(run, **options).run([bound().pool().experiment(0)])[0]
    assert isinstance(failed, FailedRun)
    return failed.reason


def test_a_run_brings_one_row_with_its_settings_and_target() -> None:
    rows = run_all(bound())[1]
    assert isinstance(rows, Trajectory)
    assert {name: column.tolist() for name, column in rows.columns.items()} == {
        "r": [2.0],
        "v": [0.0],
        "a": [-4.0],
    }
    assert rows.experiment == "e2"


def test_dicts_columns_and_dataframes_offer_the_same() -> None:
    dicts = [{"r": r, "v": v} for r, v in zip(*POOL.values(), strict=True)]
    for experiments in (dicts, tuple(dicts), pd.DataFrame(POOL)):
        pool = bound(experiments=experiments).pool()
        assert {k: c.tolist() for k, c in pool.columns.items()} == POOL


def test_run_sees_text_and_whole_numbers_as_they_were_written() -> None:
    seen: list[dict[str, object]] = []

    def run(settings: dict[str, object]) -> float:
        seen.append(settings)
        return 1.0

    bound_world = bound(run, experiments=[{"r": 1, "v": 0.5, "gas": "argon", "lamp": True}])
    run_all(bound_world)
    assert seen == [{"r": 1, "v": 0.5, "gas": "argon", "lamp": True}]
    assert list(bound_world.pool().columns) == ["r", "v", "lamp"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_the_forecast_of_the_true_law_is_what_a_run_shows(values: list[float]) -> None:
    world = bound(experiments={"r": values, "v": values})
    shown = [t.columns["a"][0] for t in run_all(world) if isinstance(t, Trajectory)]
    predicted = world.predict(SPRING, np.arange(len(values)))
    assert predicted.shape == (len(values), 1)
    np.testing.assert_allclose(predicted[:, 0], shown, rtol=1e-12, atol=1e-6)


@pytest.mark.parametrize(
    "rows",
    [{"r": [1.0, 2.0], "v": [0.0, 0.0], "a": [3.0, 4.0]}, pd.DataFrame({"a": [3.0, 4.0]})],
)
def test_a_run_may_return_rows_and_settings_fill_what_they_lack(rows: object) -> None:
    trajectory = run_all(bound(lambda _: rows))[0]
    assert isinstance(trajectory, Trajectory)
    assert trajectory.n_rows == 2
    assert set(trajectory.columns) == {"r", "v", "a"}


def test_columns_of_declared_roles_are_kept_and_others_dropped() -> None:
    world = FunctionWorld(lambda _: {"a": 1.0, "s": 0.1, "spare": 2.0}, experiments=POOL)
    trajectory = world.bind(GRAMMAR, Roles(sigma="s")).run([world.offers.pool.experiment(0)])[0]
    assert isinstance(trajectory, Trajectory)
    assert set(trajectory.columns) == {"r", "v", "a", "s"}


def test_a_run_that_raises_fails_in_words_and_the_next_ones_go_on() -> None:
    def run(settings: dict[str, float]) -> float:
        if settings["r"] == 2.0:
            raise RuntimeError("the valve is shut\nand more")
        return 1.0

    results = run_all(bound(run))
    assert [type(result) for result in results] == [Trajectory, FailedRun, Trajectory]
    assert results[1] == FailedRun("e2", "RuntimeError: the valve is shut")


def test_a_run_that_leaves_the_program_fails_like_any_other() -> None:
    assert first_reason(lambda _: exit(3)) == "SystemExit: 3"


def test_control_c_is_not_a_failed_run() -> None:
    def run(_: object) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all(bound(run))


def test_a_run_that_hangs_is_ended_by_its_limit() -> None:
    def run(_: object) -> float:
        while True:
            pass

    assert "took longer than 0.05 s" in first_reason(run, guard=Guard(seconds=0.05))


def test_a_run_that_swallows_every_exception_is_ended_too() -> None:
    def run(_: object) -> float:
        while True:
            try:
                time.sleep(10)
            except Exception:  # noqa: BLE001 (what careless user code does)
                continue

    assert "took longer" in first_reason(run, guard=Guard(seconds=0.05))


def test_an_abort_ends_a_run_with_its_reason() -> None:
    guard = Guard(abort=lambda: "door open", every=0.01)
    assert first_reason(lambda _: time.sleep(30), guard=guard) == "stopped: door open"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "it returned nothing"),
        ("1.0", "a str"),
        (float("nan"), "no finite `a`"),
        (float("inf"), "infinite"),
        (1j, "a complex"),
        ([1.0, 2.0], "of shape (2,)"),
        (object(), "a object"),
        ({"b": 1.0}, "no column `a`"),
        ({"a": []}, "no rows"),
        ({"a": [1.0, 2.0], "r": [1.0, 2.0, 3.0]}, "one length"),
        ({"a": ["x"]}, "number is expected"),
        ({"a": [1.0, float("nan")]}, "in row 2"),
        (-1e200, "-1.0e+200 for `a`, more than can be squared"),
    ],
)
def test_rubbish_is_a_failed_run_that_says_so(value: object, words: str) -> None:
    assert words in first_reason(lambda _: value)


def test_a_run_cannot_change_the_settings_of_the_world() -> None:
    def run(settings: dict[str, float]) -> float:
        settings["r"] = 99.0
        return 1.0

    world = bound(run)
    run_all(world)
    rows = run_all(world)[0]
    assert isinstance(rows, Trajectory)
    assert rows.columns["r"].tolist() == [1.0]


def test_cost_and_safety_are_functions_of_the_settings_or_arrays() -> None:
    for cost, safe in (
        (lambda s: 2.0 * s["r"], lambda s: s["r"] < 2.5),
        ([2.0, 4.0, 6.0], np.array([True, True, False])),
    ):
        pool = bound(cost=cost, is_safe=safe).pool()
        assert pool.cost.tolist() == [2.0, 4.0, 6.0]
        assert pool.safe.tolist() == [True, True, False]


def test_an_unsafe_experiment_is_never_run_even_when_asked() -> None:
    calls: list[object] = []
    world = bound(calls.append, is_safe=[True, False, True])
    with pytest.raises(BadWorld, match="e2 is marked as unsafe"):
        world.run([world.pool().experiment(0), world.pool().experiment(1)])
    assert calls == []


@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        (Experiment("e9", {}), "no experiment e9"),
        (Experiment("e1", {"r": 7.0}), "asks for r = 7"),
        (Experiment("e1", {"w": 7.0}), "asks for w = 7"),
    ],
)
def test_an_experiment_that_is_not_on_offer_is_refused(experiment: Experiment, words: str) -> None:
    with pytest.raises(BadWorld, match=words):
        bound().run([experiment])


def test_an_experiment_twice_in_a_batch_is_refused() -> None:
    experiment = bound().pool().experiment(0)
    with pytest.raises(BadWorld, match="twice"):
        bound().run([experiment, experiment])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"experiments": []}, "no experiment"),
        ({"experiments": {}}, "no experiment"),
        ({"experiments": {"r": [], "v": []}}, "no experiment"),
        ({"experiments": {"r": [1.0], "v": [1.0, 2.0, 3.0], "w": [1.0, 2.0]}}, "one length"),
        ({"experiments": [{"r": 1.0}, {"v": 1.0}]}, "same settings"),
        ({"experiments": [1.0]}, "Experiment 1 is a float"),
        ({"experiments": [{"r": float("nan"), "v": 1.0}]}, "finite number"),
        ({"experiments": {"r": [float("inf")], "v": [1.0]}}, "infinite"),
        ({"experiments": [{"r": "x", "v": 1.0}, {"r": 1.0, "v": 1.0}]}, "finite number"),
        ({"experiments": {"r": [1.0]}}, "`v` is a variable"),
        ({"experiments": {**POOL, "a": [1.0, 2.0, 3.0]}}, "`a` is the target"),
        ({"cost": [1.0, -1.0, 1.0]}, "Experiment 2 costs -1"),
        ({"cost": lambda _: float("nan")}, "Experiment 1 costs nan"),
        ({"cost": lambda _: "dear"}, "one number"),
        ({"cost": lambda s: s["x"]}, "cost of experiment 1 .* KeyError"),
        ({"cost": [1.0]}, "1 values for 3"),
        ({"is_safe": [True]}, "1 values for 3"),
        ({"is_safe": lambda _: None}, "True or False"),
        ({"is_safe": [1.0, 0.0, float("nan")]}, "True or False"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(options: dict[str, object], words: str) -> None:
    with pytest.raises(BadWorld, match=words):
        bound(**options)


def test_run_must_be_a_function() -> None:
    with pytest.raises(BadWorld, match="got a float"):
        bound(1.0)


def test_an_experiment_outside_a_declared_range_is_refused() -> None:
    grammar = Grammar([Variable("r", range=(0.0, 2.5)), Variable("v")], Variable("a"))
    with pytest.raises(BadWorld, match=r"e3 sets r = 3, outside its range 0 to 2\.5"):
        FunctionWorld(spring, experiments=POOL).bind(grammar)


def test_inputs_say_where_a_law_is_asked_when_settings_are_no_variables() -> None:
    world = FunctionWorld(
        lambda s: {"r": [s["r0"], 0.0], "v": [0.0, 0.0], "a": [1.0, 2.0]},
        experiments={"r0": [1.0, 3.0]},
        inputs=lambda s: {"r": [s["r0"], 0.0], "v": [0.0, 0.0]},
    ).bind(GRAMMAR)
    assert world.predict(SPRING, np.array([1, 0])).tolist() == [[-6.0, 0.0], [-2.0, 0.0]]


def test_inputs_of_different_lengths_are_refused() -> None:
    world = FunctionWorld(
        spring,
        experiments={"n": [1, 2]},
        inputs=lambda s: {"r": np.ones(int(s["n"])), "v": np.ones(int(s["n"]))},
    ).bind(GRAMMAR)
    with pytest.raises(BadWorld, match="1 rows for one experiment and 2"):
        world.predict(SPRING, np.arange(2))


def test_a_law_without_variables_is_forecast_along_every_row() -> None:
    path = {"r": np.linspace(1.0, 2.0, 5)}
    world = FunctionWorld(
        lambda settings: {**path, "a": path["r"]},
        experiments={"k": [1.0, 2.0]},
        inputs=lambda _: path,
    )
    grammar = Grammar([Variable("r")], Variable("a"))
    law = fit("c", {"r": path["r"], "a": path["r"]}, target="a").law
    said = world.bind(grammar).predict(law, np.arange(2))
    assert said.shape == (2, 5)
    np.testing.assert_allclose(said, 1.5)
