"""MuJoCo models as worlds."""

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from worlds.problems import law

import alder
from alder.errors import BadWorld, MissingExtra
from alder.records.experiment import FailedRun, Trajectory
from alder.testing import check_world
from alder.worlds.mujoco import Drive, MuJoCoWorld

mujoco: Any = pytest.importorskip("mujoco")

SLIDER = """
<mujoco>
  <option timestep="0.002" gravity="0 0 0" density="0" viscosity="0"/>
  <worldbody>
    <body name="box"><joint name="slide" type="slide" axis="1 0 0" damping="0.8" stiffness="3"/>
      <geom type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <actuator><motor name="push" joint="slide"/></actuator>
  <sensor><jointpos name="where" joint="slide"/></sensor>
</mujoco>
"""
COLUMNS = {
    "x": "joint.slide.qpos",
    "v": "joint.slide.qvel",
    "u": "actuator.push.ctrl",
    "seen": "sensor.where.data",
    "a": "joint.slide.qacc",
}
KNOBS = {"x": "joint.slide.qpos", "v": "joint.slide.qvel", "u": "actuator.push.ctrl"}


def slider(drive: Drive | None = None, **options: Any) -> MuJoCoWorld:
    settings: dict[str, Any] = {
        "experiments": {
            "x": [0.0, 0.1, -0.2, 0.3],
            "v": [0.0, 0.5, 0.1, 0.0],
            "u": [1.0, -2.0, 0.5, 0.0],
        },
        "columns": COLUMNS,
        "target": "a",
        "episode": alder.Episode(lambda _s, _k, _row: None, n_steps=12),
        "drive": drive or Drive(KNOBS, substeps=5),
        **options,
    }
    return MuJoCoWorld(SLIDER, **settings)


GRAMMAR = alder.Grammar([alder.Variable(n) for n in ("x", "v", "u")], alder.Variable("acc"))


def run(world: MuJoCoWorld) -> list[Trajectory | FailedRun]:
    bound = world.bind(GRAMMAR)
    pool = bound.pool()
    return list(bound.run([pool.experiment(i) for i in range(len(pool))]))


def test_rows_obey_the_equation_of_the_model() -> None:
    for result in run(slider()):
        assert isinstance(result, Trajectory)
        rows = result.columns
        assert result.n_rows == 12
        expected = (rows["u"] - 0.8 * rows["v"] - 3.0 * rows["x"]) / 2.0
        # MuJoCo integrates damping implicitly: the acceleration is that of the step's end.
        np.testing.assert_allclose(rows["acc"], expected, atol=2e-3)


def asset(name: str) -> Path:
    spec = find_spec("gymnasium")
    if spec is None or spec.origin is None:
        pytest.skip("gymnasium ships the models; make test brings it")
    return Path(spec.origin).parent / "envs" / "mujoco" / "assets" / name


MODELS = {
    "inverted_pendulum.xml": ("hinge", "slide", {"m": "model.body.pole.mass"}),
    "hopper.xml": ("leg_joint", "1", {"m": "model.body.torso.mass"}),
    "reacher.xml": ("joint1", "0", {"d": "model.joint.joint0.damping"}),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_public_packages_keep_the_promise_of_worlds(name: str) -> None:
    joint, actuator, field = MODELS[name]
    path = asset(name)
    knobs = {
        "q": f"joint.{joint}.qpos",
        "w": f"joint.{joint}.qvel",
        "u": f"actuator.{actuator}.ctrl",
        **field,
    }

    def make() -> MuJoCoWorld:
        return MuJoCoWorld(
            path,
            experiments={
                "q": [0.0, 0.05, -0.05, 0.1],
                "w": [0.0, 0.4, -0.1, 0.0],
                "u": [0.5, -0.5, 0.0, 1.0],
                **{key: [5.0, 2.0, 3.0, 4.0] for key in field},
                "prelude": [0, 2, 1, 0],
                "horizon": [4, 8, 5, 6],
            },
            columns={key: place for key, place in knobs.items() if key not in field},
            target=alder.difference("w", 0.01),
            drive=Drive(knobs, substeps=2),
            is_safe=lambda s: float(s["u"]) < 0.9,
            jobs=2,
        )

    grammar = alder.Grammar([alder.Variable(n) for n in ("q", "w", "u")], alder.Variable("acc"))
    check_world(make, grammar=grammar)


def test_what_is_shown_does_not_depend_on_the_number_of_jobs() -> None:
    for one, other in zip(run(slider()), run(slider(jobs=3)), strict=True):
        assert isinstance(one, Trajectory)
        assert isinstance(other, Trajectory)
        for name, column in one.columns.items():
            assert column.tobytes() == other.columns[name].tobytes()


def test_a_rollout_continued_from_a_saved_state_is_the_same_to_the_last_bit() -> None:
    name = "hopper.xml"
    knobs = {"q": "joint.leg_joint.qpos", "u": "actuator.1.ctrl"}
    columns = {"q": "joint.leg_joint.qpos", "w": "joint.leg_joint.qvel", "z": "body.torso.xpos[2]"}

    def world(drive: Drive) -> MuJoCoWorld:
        return MuJoCoWorld(
            asset(name), experiments=[{"q": 0.1}], columns=columns, target="w", drive=drive
        )

    first = world(Drive(knobs))
    whole = first.play({"q": 0.1, "u": 0.7, "horizon": 200})
    halfway = first.reach({"q": 0.1, "u": 0.7, "horizon": 100})
    second = world(Drive({"u": "actuator.1.ctrl"}, states={"halfway": halfway}))
    rest = second.play({"state": "halfway", "u": 0.7, "horizon": 100})
    for key, column in whole.items():
        assert column[100:].tobytes() == rest[key].tobytes()
    with pytest.raises(BadWorld, match="There is no state `open`"):
        second.play({"state": "open"})


def test_a_controller_acts_in_every_step_of_the_physics() -> None:
    calls: list[float] = []

    def controller(_model: Any, data: Any, settings: dict[str, Any]) -> None:
        calls.append(float(data.time))
        data.ctrl[0] = -20.0 * (data.qpos[0] - settings["goal"]) - 8.0 * data.qvel[0]

    world = slider(Drive(KNOBS, controller=controller, substeps=10), experiments=[{"goal": 0.5}])
    path = world.play({"goal": 0.5, "horizon": 400, "prelude": 3})
    assert len(calls) == 4030
    assert path["x"][-1] == pytest.approx(20.0 * 0.5 / 23.0, abs=1e-4)


def test_a_prelude_is_over_before_the_first_row() -> None:
    world = slider(
        Drive({"x": "joint.slide.qpos"}, prelude=10),
        experiments=[{"x": 0.0}],
        episode=alder.Episode(lambda _s, k, _row: [1.0 if k < 0 else -1.0], n_steps=3),
    )
    path = world.play({"x": 0.0})
    assert path["v"][0] > 0.0
    assert path["u"].tolist() == [-1.0] * 4
    assert len(path["x"]) == 4


def test_a_field_of_the_model_is_a_knob_and_the_next_rollout_forgets_it() -> None:
    world = slider(Drive({**KNOBS, "mass": "model.body.box.mass"}))
    plain = world.play({"x": 0.0, "u": 1.0})["a"][0]
    heavy = world.play({"x": 0.0, "u": 1.0, "mass": 4.0})["a"][0]
    assert heavy == pytest.approx(plain / 2.0, rel=2e-3)
    assert world.play({"x": 0.0, "u": 1.0})["a"][0] == plain


def test_a_rollout_that_leaves_its_limits_fails_with_that_reason() -> None:
    results = run(slider(limits={"x": (-1.0, 0.29)}))
    assert isinstance(results[3], FailedRun)
    assert "x is 0.3, beyond its limits -1 to 0.29" in results[3].reason
    assert isinstance(results[0], Trajectory)


def test_a_law_is_followed_and_planned_with_in_the_world() -> None:
    dt = 0.01
    world = slider(
        episode=alder.Episode(
            lambda s, _k, _row: [s["u"]],
            n_steps=12,
            actions=("u",),
            follow=lambda c, a: {"x": c["x"] + dt * c["v"] + dt**2 / 2 * a, "v": c["v"] + dt * a},
        )
    )
    true = law("(u - 0.8*v - 3*x)/2", "x", "v", "u", target="acc")
    forecast = world.bind(GRAMMAR).predict(true, np.arange(4))
    assert forecast.shape == (4, 12)
    start = {"x": 0.0, "v": 0.0}
    plan = alder.plan(
        true, world, {"x": 0.05}, actions={"u": (-3.0, 3.0)}, start=start, horizons=(10, 40)
    )
    assert plan.status == "reached"
    shown = world.play({**start, **plan.first, "horizon": plan.horizon})
    assert shown["x"][-1] == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": {"x": "joint.lever.qpos"}}, "The model has no `joint.lever.qpos`"),
        ({"columns": {"x": "cupboard.slide.qpos"}}, "names no place"),
        ({"drive": Drive({"m": "model.body.box.weight"})}, "The model has no"),
        ({"limits": {"heat": (0.0, 1.0)}}, "has limits but is no column"),
        ({"jobs": 0}, "1 or more"),
        ({"experiments": [{"horizon": 1.5}]}, "whole number of steps"),
    ],
)
def test_what_the_model_does_not_have_is_said_in_a_sentence(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadWorld, match=words):
        slider(**options)


def test_a_model_that_cannot_be_read_is_said_in_a_sentence() -> None:
    whole: dict[str, Any] = {"experiments": [{"x": 0.0}], "columns": {}, "target": "x"}
    with pytest.raises(BadWorld, match=r"no model file nowhere\.xml"):
        MuJoCoWorld("nowhere.xml", **whole)
    with pytest.raises(BadWorld, match="MuJoCo cannot read the model"):
        MuJoCoWorld("<mujoco><nonsense/></mujoco>", **whole)


def test_without_the_package_a_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"alder\[mujoco\]"):
        slider()


def test_a_drive_has_steps() -> None:
    with pytest.raises(BadWorld, match="at least one substep"):
        replace(Drive(), substeps=0)
