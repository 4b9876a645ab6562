"""Systems whose right-hand side is not at hand: simulators, and trajectories recorded before."""

import numpy as np
import pytest

import alder
from alder.arrays import FloatArray
from alder.errors import BadTable, BadWorld
from alder.ports import World
from alder.records.experiment import FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.variable import Variable
from alder.worlds.ode import ODEWorld
from alder.worlds.offers import Settings
from alder.worlds.system import Sampling

Columns = dict[str, FloatArray]
GRAMMAR = Grammar([Variable("x"), Variable("v"), Variable("u")], Variable("dv_dt"))
FREE = Grammar([Variable("x"), Variable("v")], Variable("dv_dt"))


def decay(x: float, v: float, span: float = 2.0, n: int = 11, push: float = 0.0) -> Columns:
    """Return a mass that only slows down; the push is recorded and does nothing."""
    t = np.linspace(0.0, span, n)
    speed = v * np.exp(-t)
    place = x + v * (1.0 - np.exp(-t))
    return {"t": t, "x": place, "v": speed, "dv_dt": -speed, "u": push * np.sign(t - 1.0)}


def joined(*parts: Columns) -> Columns:
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    runs = np.repeat(np.arange(float(len(parts))), [len(p["t"]) for p in parts])
    return {**rows, "run": runs}


def recorded(**wishes: object) -> World:
    rows = joined(decay(0.0, 1.0), decay(1.0, -2.0, span=3.0, n=16, push=5.0))
    asked = {"states": ["x", "v"], "inputs": ["u"], "known": {"x": "v"}, **wishes}
    return ODEWorld.recorded(rows, **asked).bind(GRAMMAR)  # type: ignore[arg-type]


def run(world: World, row: int) -> Trajectory | FailedRun:
    return world.run([world.pool().experiment(row)])[0]


@pytest.mark.parametrize("group", ["run", None])
def test_each_recorded_trajectory_is_an_experiment_that_shows_its_rows(group: str | None) -> None:
    world = recorded(group=group)
    assert len(world.pool().ids) == 2
    settings = world.pool().experiment(1).settings
    assert (settings["x"], settings["v"], settings["horizon"]) == (1.0, -2.0, 3.0)
    shown = run(world, 1)
    assert isinstance(shown, Trajectory)
    np.testing.assert_array_equal(shown.columns["v"], decay(1.0, -2.0, 3.0, 16)["v"])


def test_a_forecast_knows_the_recorded_inputs_and_not_the_states_they_led_to() -> None:
    law = alder.fit("a*u", {"u": [1.0, 2.0], "dv_dt": [1.0, 2.0]}, target="dv_dt").law
    said = recorded().predict(law, np.array([1]))[0]
    # The law itself is followed: the push of 5 turns its sign at t = 1.
    assert said[0] == pytest.approx(-5.0)
    assert said[-1] == pytest.approx(5.0)


def test_the_time_of_a_recorded_trajectory_is_counted_from_its_first_row() -> None:
    late = decay(0.0, 1.0)
    rows = joined({**late, "t": late["t"] + 100.0})
    timed = Grammar([Variable("x"), Variable("v"), Variable("t")], Variable("dv_dt"))
    world = ODEWorld.recorded(rows, states=["x", "v"], known={"x": "v"}).bind(timed)
    shown = run(world, 0)
    assert isinstance(shown, Trajectory)
    np.testing.assert_allclose(shown.columns["t"], late["t"], atol=1e-12)
    assert world.pool().experiment(0).settings["horizon"] == pytest.approx(2.0)


def pushed() -> tuple[ODEWorld, alder.Law]:
    """Return a recorded world of one state, and the law that the push alone acts."""
    rows = {"t": [0.0, 1.0, 2.0], "x": [0.0, 1.0, 3.0], "u": [1.0, 2.0, 2.0]}
    world = ODEWorld.recorded({**rows, "dx_dt": rows["u"]}, states=["x"], inputs=["u"])
    fit = alder.fit("a*u", {"u": [1.0, 2.0], "dx_dt": [1.0, 2.0]}, target="dx_dt")
    return world, fit.law


def test_a_law_is_rehearsed_from_any_start_with_constant_or_recorded_inputs() -> None:
    world, law = pushed()
    still = world.rehearse(law, {"x": 1.0, "u": 0.2})
    np.testing.assert_allclose(still["x"], 1.0 + 0.2 * still["t"], atol=1e-9)
    as_recorded = world.rehearse(law, {"x": 1.0, "trajectory": "1"})
    assert as_recorded["u"].tolist() == [1.0, 2.0, 2.0]
    instead = world.rehearse(law, {"x": 1.0, "u": 0.2, "trajectory": "1"})
    np.testing.assert_allclose(instead["x"], still["x"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"x": 1.0}, "give `u` a value, or name the recorded trajectory .* trajectory=1 to 1"),
        ({"x": 1.0, "trajectory": "7"}, "give `u` a value"),
        ({"u": 1.0}, "no value of `x`; give one of each of x, u"),
    ],
)
def test_a_start_that_says_too_little_is_told_what_it_lacks(settings: Settings, words: str) -> None:
    world, law = pushed()
    with pytest.raises(BadWorld, match=words):
        world.rehearse(law, settings)


@pytest.mark.parametrize("role", ["states", "inputs"])
def test_no_column_but_the_time_is_named_t(role: str) -> None:
    rows = joined(decay(0.0, 1.0))
    rows = {**rows, "clock": rows["t"], "t": rows["u"], "dt_dt": rows["u"]}
    asked = {"states": ["x", "v"], "known": {"x": "v"}, "time": "clock"}
    asked = {**asked, role: [*asked.get(role, ()), "t"]}
    with pytest.raises(BadWorld, match="The time `clock` is called `t`"):
        ODEWorld.recorded(rows, **asked)  # type: ignore[arg-type]


def test_a_simulator_answers_with_rows_of_its_own() -> None:
    asked: list[Settings] = []

    def simulate(settings: Settings) -> Columns:
        asked.append(settings)
        return decay(float(settings["x"]), float(settings["v"]))

    world = ODEWorld.simulated(
        simulate, states=["x", "v"], known={"x": "v"}, sampling=Sampling(2.0, 11),
        experiments={"x": [0.0, 1.0], "v": [1.0, 2.0]},
    ).bind(FREE)  # fmt: skip
    shown = run(world, 1)
    assert isinstance(shown, Trajectory)
    np.testing.assert_array_equal(shown.columns["x"], decay(1.0, 2.0)["x"])
    assert asked == [{"x": 1.0, "v": 2.0}]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"x": [1.0], "v": [1.0]}, "`t` is not a column"),
        ({"t": [0.0, 1.0], "x": [1.0, 1.0], "v": [1.0, 0.5]}, "no column `dv_dt`"),
        (7, "Rows must be a mapping"),
    ],
)
def test_what_is_no_trajectory_is_a_failed_run_with_its_reason(rows: object, words: str) -> None:
    world = ODEWorld.simulated(
        lambda _: rows, states=["x", "v"], known={"x": "v"}, sampling=Sampling(1.0, 5),
        experiments={"x": [0.0], "v": [1.0]},
    ).bind(FREE)  # fmt: skip
    failed = run(world, 0)
    assert isinstance(failed, FailedRun)
    assert words in failed.reason


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"states": ["x", "v", "w"]}, "`dw_dt` is not|`w` is not"),
        ({"states": []}, "No state is named; name one or more states"),
        ({"states": ["x"], "known": {"q": "v"}}, "`q` has a known rate but is no state; x is"),
        ({"known": {"q": "v"}}, "`q` has a known rate but is no state; x, v are"),
        ({"known": {"x": "w"}}, "`x` is `w`, which is no column of the system; x, v, u are"),
        ({"known": {"x": "2*v"}}, "is no column; name the column that is its derivative"),
        ({"states": ["x"], "known": {}}, "no derivatives: dx_dt are no columns.*discover_states"),
        ({"group": "ran"}, "`ran` is not a column"),
    ],
)
def test_a_wrong_recording_is_told_in_one_sentence(wishes: dict[str, object], words: str) -> None:
    with pytest.raises((BadWorld, BadTable), match=words):
        recorded(**wishes)


def test_a_system_is_discovered_from_recorded_trajectories() -> None:
    rng = np.random.default_rng(0)
    starts = rng.uniform(-2.0, 2.0, (14, 2))
    parts = [decay(x, v) for x, v in starts.tolist()]
    outcome = alder.discover_system(
        ODEWorld.recorded(joined(*parts[:6]), states=["x", "v"], group="run", known={"x": "v"}),
        FREE,
        initial=parts[6],
        protected=alder.Protected(joined(*parts[7:])),
        budget=alder.Budget(proposals=4, queries=4, batch=2),
    )
    assert outcome.refusal is None
    assert str(outcome.dynamics) == "dv_dt = -1*v\ndx_dt = v"
