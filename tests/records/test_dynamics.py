import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadLawFile, BadTable, MalformedLaw
from alder.expr.evaluate import evaluate
from alder.expr.nodes import parameters
from alder.expr.operators import Floors
from alder.expr.sample import random_tree
from alder.expr.scalar import at_point
from alder.expr.text import parse
from alder.records.coefficient import Coefficient
from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable


def law(state: str, text: str, names: tuple[str, ...], **values: float) -> Law:
    coefficients = tuple(Coefficient(n, v, 0.0, v, v, "free") for n, v in values.items())
    return Law(
        structure=parse(text, names),
        target=Variable(f"d{state}_dt"),
        variables=tuple(map(Variable, names)),
        coefficients=coefficients,
        covariance=np.zeros((len(values), len(values))),
        residual_df=10,
        noise=Noise(0.0),
        scope=Scope(dict.fromkeys(names, (-2.0, 2.0))),
    )


def oscillator() -> Dynamics:
    return Dynamics({"v": law("v", "-k*x + u", ("x", "v", "u"), k=4.0)}, {"x": "v"})


def test_a_rollout_is_the_solution_of_the_equations() -> None:
    t = np.linspace(0.0, 5.0, 21)
    path = oscillator().rollout({"x": 1.0, "v": 0.0}, t, {"u": 0.0})
    np.testing.assert_allclose(path["x"], np.cos(2.0 * t), atol=1e-8)
    np.testing.assert_allclose(path["v"], -2.0 * np.sin(2.0 * t), atol=1e-8)


def test_an_input_in_an_array_is_held_until_the_next_sample() -> None:
    falling = Dynamics({"y": law("y", "u", ("u",))})
    path = falling.rollout({"y": 0.0}, [0.0, 1.0, 2.0, 4.0], {"u": [1.0, -2.0, 3.0, 99.0]})
    np.testing.assert_allclose(path["y"], [0.0, 1.0, -1.0, 5.0], atol=1e-9)


def test_a_diverging_rollout_is_finite_and_ends() -> None:
    path = Dynamics({"y": law("y", "y^2", ("y",))}).rollout({"y": 1.0}, np.linspace(0, 2, 11))
    np.testing.assert_allclose(path["y"][:4], 1.0 / (1.0 - np.array([0.0, 0.2, 0.4, 0.6])))
    assert np.isfinite(path["y"]).all()
    assert path["y"][-1] == 1e100


def test_a_stiff_rollout_ends_and_is_right() -> None:
    stiff = Dynamics({"y": law("y", "1e7*(1 - y)", ("y",))})
    assert stiff.rollout({"y": 0.0}, [0.0, 100.0])["y"][-1] == pytest.approx(1.0, abs=1e-9)


def test_rates_name_every_state_and_follow_the_laws() -> None:
    rates = oscillator().rates({"x": [1.0, 2.0], "v": [0.5, 0.0], "u": [0.0, 1.0]})
    assert rates["v"].tolist() == [-4.0, -7.0]
    assert rates["x"].tolist() == [0.5, 0.0]


def test_dynamics_survive_a_file_and_a_copy_and_no_edit(tmp_path: Path) -> None:
    dynamics, path = oscillator(), tmp_path / "motion.json"
    dynamics.save(path)
    assert Dynamics.load(path) == dynamics
    assert copy.copy(dynamics) == dynamics
    path.write_text(path.read_text().replace('"v"', '"x"', 1))
    with pytest.raises(BadLawFile):
        Dynamics.load(path)


def late(delay: float, horizon: float | None = None) -> Dynamics:
    """Return a state that adds up its input, which acts late."""
    return Dynamics({"y": law("y", "u", ("u",))}, delay=delay, horizon=horizon)


def test_an_input_acts_after_the_dead_time_and_its_first_value_until_then() -> None:
    t, u = np.arange(6.0), [1.0, 10.0, 100.0, 0.0, 0.0, 0.0]
    path = late(2.0).rollout({"y": 0.0}, t, {"u": u})
    np.testing.assert_allclose(path["y"], [0.0, 1.0, 2.0, 3.0, 13.0, 113.0], atol=1e-9)


def test_a_dead_time_between_samples_counts_to_the_digit() -> None:
    t, u = np.array([0.0, 1.0, 1.5, 4.0]), [0.0, 1.0, -2.0, 0.0]
    path = late(0.7).rollout({"y": 0.0}, t, {"u": u})
    # The 1 arrives at 1.7, the -2 at 2.2.
    np.testing.assert_allclose(path["y"], [0.0, 0.0, 0.0, 0.5 - 2.0 * 1.8], atol=1e-9)


def test_a_dead_time_of_whole_samples_is_one_in_times_that_are_rounded() -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(size=200)
    for begin in (0.0, 1.7e9):
        t = begin + 0.1 * np.arange(200)
        path = late(0.3).rollout({"y": 0.0}, t, {"u": u})["y"]
        arrived = np.concatenate([np.full(3, u[0]), u[:-3]])
        np.testing.assert_allclose(np.diff(path), np.diff(t) * arrived[:-1], atol=1e-6)


def test_a_function_is_asked_about_the_past_and_a_constant_has_always_been_there() -> None:
    t = np.linspace(0.0, 8.0, 9)
    ramp = late(5.0).rollout({"y": 0.0}, t, {"u": lambda time: time})
    np.testing.assert_allclose(ramp["y"], t**2 / 2.0 - 5.0 * t, atol=1e-9)
    steady = late(5.0).rollout({"y": 0.0}, t, {"u": 2.0})
    np.testing.assert_allclose(steady["y"], 2.0 * t, atol=1e-9)


def test_late_inputs_of_several_kinds_act_together() -> None:
    both = Dynamics({"y": law("y", "u + w", ("u", "w"))}, delay=1.0)
    path = both.rollout({"y": 0.0}, [0.0, 1.0, 2.5], {"u": [1.0, 0.0, 0.0], "w": lambda t: t})
    # `u` is 1 until 2; `w` is t - 1.
    np.testing.assert_allclose(path["y"], [0.0, 1.0 - 0.5, 2.0 + 3.125 - 2.5], atol=1e-9)


def test_delay_and_horizon_survive_a_file_a_copy_and_short_numbers(tmp_path: Path) -> None:
    dynamics, path = late(0.3, horizon=1.49), tmp_path / "motion.json"
    dynamics.save(path)
    for kept in (Dynamics.load(path), copy.copy(dynamics), dynamics.tidied()):
        assert (kept.delay, kept.horizon) == (0.3, 1.49)
    path.write_text(path.read_text().replace('"delay": 0.3', '"delay": 0.0'))
    with pytest.raises(BadLawFile, match="changed"):
        Dynamics.load(path)


def test_dynamics_without_delay_and_horizon_read_as_those_from_before() -> None:
    old = json.loads(oscillator().text())
    assert set(old) == {"schema", "digest", "states", "laws", "known"}
    read = Dynamics.read(json.dumps(old))
    assert (read.delay, read.horizon) == (0.0, None)
    assert late(0.0).digest != late(1.0).digest != late(1.0, horizon=2.0).digest


def test_a_dead_time_is_told_below_the_equations() -> None:
    assert str(late(5.0)) == "dy_dt = u\ninputs act 5 later"
    assert "inputs act 5 later" in late(5.0).latex()
    assert "later" not in oscillator().latex()


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_times_that_are_none_are_refused(wrong: float) -> None:
    with pytest.raises(MalformedLaw, match="delay is a time"):
        late(wrong)
    with pytest.raises(MalformedLaw, match="horizon is a time"):
        late(0.0, horizon=wrong)


def test_what_is_written_reads_as_equations() -> None:
    assert str(oscillator()) == "dv_dt = -4*x + u\ndx_dt = v"
    assert r"\dot{x} &= v" in oscillator().latex()
    assert oscillator().inputs == ("u",)
    assert oscillator().complexity == 6


def test_scope_is_that_of_every_law() -> None:
    inside = oscillator().in_scope({"x": [0.0, 3.0], "v": [9.0, 0.0], "u": [0.0, 0.0]})
    assert inside.tolist() == [True, False]


def test_misuse_is_told_in_a_sentence() -> None:
    with pytest.raises(MalformedLaw, match="two"):
        Dynamics({"x": law("x", "x", ("x",))}, {"x": "v"})
    with pytest.raises(BadTable, match="go up"):
        oscillator().rollout({"x": 0.0, "v": 0.0}, [1.0, 0.0], {"u": 0.0})
    with pytest.raises(BadTable, match="for 2 times"):
        oscillator().rollout({"x": 0.0, "v": 0.0}, [0.0, 1.0], {"u": [1.0, 2.0, 3.0]})


@given(st.integers(0, 2**32 - 1), st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2))
def test_a_tree_at_one_point_is_what_it_is_on_rows(seed: int, point: list[float]) -> None:
    rng = np.random.default_rng(seed)
    expr = random_tree(rng, variables=["x", "y"], n_nodes=int(rng.integers(1, 16)))
    values = {name: float(rng.normal()) for name in parameters(expr)}
    columns = {"x": point[:1], "y": point[1:]}
    expected = evaluate(expr, columns, values)[0]
    found = at_point(expr, ["x", "y"], values, Floors())(point)
    assert found == pytest.approx(expected, rel=1e-6) or math.isclose(found, expected, abs_tol=1e-9)
