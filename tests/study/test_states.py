"""Equations of motion from logs, and what a log is refused for."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import alder
from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.text import parse
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.proposers.states.finding import Setting, find_delay
from alder.study.logs import read_samples

Log = dict[str, FloatArray]
COLUMNS = ("x", "v", "u")
OSCILLATOR = (parse("v", COLUMNS), parse("-3*x - 0.5*v + 2*u", COLUMNS))


def _log(noise: float = 0.01, late: int = 0, n_episodes: int = 6, seed: int = 0) -> Log:
    """Record a driven oscillator whose command arrives `late` samples later."""
    rng = np.random.default_rng(seed)
    n, t = 50, np.linspace(0.0, 4.9, 50)
    parts: list[Log] = []
    for episode in range(n_episodes):
        sent = np.repeat(rng.uniform(-1.0, 1.0, 10), 5)
        arrives = sent[np.maximum(np.arange(n) - late, 0)]
        samples = Samples.of([(t, np.zeros((n, 2)))], [arrives[:, None]])
        start = rng.uniform(-1.0, 1.0, (1, 2))
        clean = Flow.of(OSCILLATOR, COLUMNS).solve(samples, start, {}).states
        x, v = (clean + noise * rng.normal(size=clean.shape)).T
        part: Log = {"t": t, "x": x, "v": v, "u": sent, "run": np.full(n, float(episode))}
        parts.append(part)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _discover(log: Log, **wishes: object) -> alder.StatesOutcome:
    asked = {"states": ["x", "v"], "inputs": ["u"], "group": "run", **wishes}
    return alder.discover_states(log, **asked)  # pyright: ignore[reportArgumentType]


def test_a_log_with_dead_time_gives_the_equations_and_the_dead_time() -> None:
    outcome = _discover(_log(late=3), known={"x": "v"})
    assert outcome.refusal is None
    assert outcome.delay == pytest.approx(0.3)
    law = outcome.laws["v"]
    rows = {"x": [1.0, 0.0, 0.0], "v": [0.0, 1.0, 0.0], "u": [0.0, 0.0, 1.0]}
    assert law.predict(rows) == pytest.approx([-3.0, -0.5, 2.0], abs=0.1)
    assert len(law.coefficients) == 3
    assert outcome.noise["v"] == pytest.approx(0.01, rel=0.3)


def test_saved_equations_keep_the_dead_time_and_follow_a_run_by_it(tmp_path: Path) -> None:
    outcome = _discover(_log(late=3), known={"x": "v"})
    assert outcome.dynamics is not None
    outcome.dynamics.save(tmp_path / "motion.json")
    motion = alder.Dynamics.load(tmp_path / "motion.json")
    assert (motion.delay, motion.horizon) == (outcome.delay, outcome.horizon)
    assert motion.horizon == pytest.approx(4.9 - 0.3)  # a run, without what came before its inputs
    assert str(outcome).splitlines()[2] == "inputs act 0.3 later"
    fresh = {name: column[:50] for name, column in _log(late=3, noise=0.0, seed=7).items()}
    start = {name: float(fresh[name][0]) for name in motion.states}
    path = motion.rollout(start, fresh["t"], {"u": fresh["u"]})
    assert np.abs(path["v"] - fresh["v"]).max() < 0.05
    prompt = replace(motion, delay=0.0).rollout(start, fresh["t"], {"u": fresh["u"]})
    assert np.abs(prompt["v"] - fresh["v"]).max() > 0.2


def test_coefficients_lie_within_their_intervals_widened() -> None:
    outcome = _discover(_log(seed=5), known={"x": "v"})
    true = {"x": -3.0, "v": -0.5, "u": 2.0}
    law = outcome.laws["v"]
    for name, slope in true.items():
        rows = {each: [float(each == name)] for each in COLUMNS}
        error = float(law.standard_error(rows)[0])
        assert abs(float(law.predict(rows)[0]) - slope) < 4.5 * error


def test_an_input_tied_to_the_states_is_refused_with_the_tie() -> None:
    log = _log()
    outcome = _discover({**log, "u": -0.5 * log["x"] - 0.2 * log["v"]})
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "excitation"
    assert "u = -0.5*x - 0.2*v" in outcome.refusal.reason
    assert outcome.refusal.step is not None
    assert outcome.refusal.step.variables == ("u",)


def test_an_input_that_never_moves_is_refused_with_the_run_that_would_move_it() -> None:
    log = _log()
    outcome = _discover({**log, "u": np.full(len(log["t"]), 2.0)})
    assert outcome.refusal is not None
    assert outcome.refusal.cause == "excitation"
    assert "`u` is 2 in the whole log" in outcome.refusal.reason
    assert "steps between 1 and 3" in outcome.refusal.advice


def test_what_an_unseen_force_does_is_refused_not_fitted() -> None:
    rng = np.random.default_rng(3)
    log = _log(noise=0.002)
    hidden = np.repeat(rng.uniform(-3.0, 3.0, len(log["t"]) // 10), 10)
    log["v"] = log["v"] + 0.3 * hidden
    outcome = _discover(log, known={"x": "v"})
    assert outcome.refusal is not None
    assert outcome.refusal.cause in ("missing-operator", "missing-variable", "noise")
    assert outcome.dynamics is not None
    assert outcome.dynamics.horizon is None  # nothing was verified


def test_a_discrete_log_gives_the_law_of_the_next_sample() -> None:
    rng = np.random.default_rng(0)
    u = rng.uniform(-1.0, 1.0, 300)
    x = np.zeros(300)
    for k in range(299):
        x[k + 1] = 0.9 * x[k] - 0.2 * x[k] ** 3 + 0.4 * u[k]
    log = {"x": x + 0.005 * rng.normal(size=300), "u": u}
    outcome = alder.discover_states(log, states=["x"], inputs=["u"], discrete=True)
    assert outcome.refusal is None
    assert outcome.dynamics is None
    law = outcome.laws["x"]
    assert law.target.name == "x_next"
    assert law.predict({"x": [1.0, 0.5], "u": [0.0, 1.0]}) == pytest.approx([0.7, 0.825], abs=0.02)


_DIGEST = """
import numpy as np
import alder

t = 0.1 * np.arange(30)
log = {"t": [], "x": [], "y": [], "run": []}
rng = np.random.default_rng(0)
for run, x in enumerate([0.3, 1.0, -0.8, 1.6]):
    y = 2.0 * x
    for time in t:
        for name, value in zip(log, (time, x + 0.01 * rng.normal(), y, run)):
            log[name].append(value)
        x, y = x + 0.1 * (y - x), y - 0.05 * x
outcome = alder.discover_states(log, states=["x", "y"], group="run", operators=["add", "mul"])
print([law.digest for law in outcome.laws.values()])
"""


def test_the_same_log_gives_the_same_equations_in_every_process() -> None:
    """Sets are walked in another order wherever texts are hashed with another seed."""
    said = [
        subprocess.run(
            [sys.executable, "-c", _DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert said[0].count(",") == 1


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"known": {"w": "v"}}, "`w` has a known rate but is no state; x, v are"),
        ({"known": {"x": "a*v"}}, "uses `a`, which is no state or input"),
        ({"states": ["x", "y"]}, "`y` is not a column"),
        ({"states": ["x", "u"]}, "stands only once; `u` repeats"),
        ({"states": ["t", "v"]}, "`t` is the time, which is no state"),
        ({"states": "x,v"}, r"`states` is a list, .* states=\[.*\]; it is the text \"x,v\""),
        ({"inputs": "u"}, "`inputs` is a list"),
        ({"mirrored": "x"}, "`mirrored` is a list"),
        ({"operators": "add"}, "`operators` is a list"),
        ({"conserved": "x"}, "`conserved` is a list"),
        ({"operators": []}, "`operators` is empty"),
        ({"states": []}, "name one or more states, such as"),
        ({"known": "x: v"}, "Known rates are a mapping"),
        ({"known": {"x": "v", "v": "u - x"}}, "Every rate is known, of x, v"),
        ({"states": ["v"], "known": {"w": "v"}}, "no state; v is"),
        ({"conserved": ["v**2 + q"]}, "uses `q`, which is no state; x, v are"),
        ({"conserved": ["3"]}, "has no state in it; the states are x, v"),
        ({"operators": ["add", "foo"]}, "`foo` is not an operator"),
    ],
)
def test_a_wrong_wish_is_told_in_one_sentence(wishes: dict[str, object], words: str) -> None:
    with pytest.raises(alder.AlderError, match=words):
        _discover(_log(n_episodes=1), **wishes)


def test_rows_that_are_missing_end_a_trajectory_since_nobody_saw_the_input() -> None:
    log = _log(n_episodes=5)
    whole = np.ones(len(log["t"]), dtype=np.bool_)
    whole[[20, 21, 120]] = False  # in the first run and in the third
    some = {name: column[whole] for name, column in log.items()}
    read = read_samples(some, Setting(("x", "v"), ("u",)), "t", "run")
    assert (read.n_gaps, read.samples.n_segments) == (2, 7)
    without_input = read_samples(some, Setting(("x", "v")), "t", "run")
    assert (without_input.n_gaps, without_input.samples.n_segments) == (0, 5)


def test_where_times_are_irregular_no_row_is_missing() -> None:
    log = _log(n_episodes=5)
    some = np.random.default_rng(0).random(len(log["t"])) < 0.7
    read = read_samples(
        {name: column[some] for name, column in log.items()},
        Setting(("x", "v"), ("u",)), "t", "run",
    )  # fmt: skip
    assert (read.n_gaps, read.samples.n_segments) == (0, 5)


def test_a_time_that_repeats_is_told_with_its_row() -> None:
    log = _log(n_episodes=1)
    log["t"][17] = log["t"][16]
    with pytest.raises(alder.BadTable, match="Row 18 has the time of row 17, t = "):
        _discover(log)


def test_shuffled_rows_are_told_apart_from_several_runs() -> None:
    log, order = _log(n_episodes=1), np.random.default_rng(0).permutation(50)
    shuffled = {name: column[:50][order] for name, column in log.items()}
    with pytest.raises(alder.BadTable, match=r"goes back at \d+ of 50 rows.*Sort the rows"):
        _discover(shuffled, group=None)
    with pytest.raises(
        alder.BadTable, match=r"must increase; they do not at row \d+, where.* Sort"
    ):
        _discover(shuffled)


def test_a_column_without_a_number_is_named() -> None:
    log = _log(n_episodes=1)
    log["v"][:] = np.nan
    with pytest.raises(alder.BadTable, match="Empty: v"):
        _discover(log)


def test_too_few_samples_are_refused_as_a_table() -> None:
    log = {name: column[:10] for name, column in _log(n_episodes=1).items()}
    with pytest.raises(alder.BadTable, match="20 are the fewest"):
        _discover(log)


def _without_noise(rate: str, low: float, high: float) -> Log:
    """Record nine starts of one equation, as a simulator would write them."""
    t = np.linspace(0.0, 1.0, 25)
    starts = np.linspace(low, high, 9)[:, None]
    blank = Samples.of([(t, np.zeros((25, 1))) for _ in starts])
    x = Flow.of((parse(rate, ("x",)),), ("x",)).solve(blank, starts, {}, tolerance=1e-10).states
    return {"t": blank.times, "x": x[:, 0], "run": np.repeat(np.arange(9.0), 25)}


@pytest.mark.parametrize(
    ("rate", "n_numbers"),
    [("1/(1 + 1.65*exp(-1.04*x)) - 0.5", 4), ("0.9*x - 0.18*x^2 - 0.7*x^2/(0.8 + x^2)", 4)],
)
def test_a_log_without_noise_gives_the_law_and_not_what_imitates_it(
    rate: str, n_numbers: int
) -> None:
    log = _without_noise(rate, 0.1, 4.0)
    outcome = alder.discover_states(log, states=["x"], group="run")
    assert outcome.refusal is None
    law = outcome.laws["x"]
    assert len(law.coefficients) <= n_numbers
    x = np.linspace(0.2, 3.9, 50)
    true = evaluate(parse(rate, ("x",)), {"x": x}, {})
    assert law.predict({"x": x}) == pytest.approx(true, abs=1e-5)


@pytest.mark.parametrize("unit", [1e-6, 8e9])
def test_a_law_is_the_same_in_any_unit(unit: float) -> None:
    log = _without_noise("0.8*x - 0.4*x^2", 0.1, 4.0)
    noise = 0.01 * np.random.default_rng(0).normal(size=len(log["x"]))
    outcome = alder.discover_states(
        {**log, "x": unit * (log["x"] + noise)}, states=["x"], group="run"
    )
    assert outcome.refusal is None
    values = sorted(one.value for one in outcome.laws["x"].coefficients)
    assert values == pytest.approx(sorted([0.8, -0.4 / unit]), rel=0.05)


def test_a_chaotic_map_without_noise_is_admitted() -> None:
    path = [(0.1, 0.03)]
    for _ in range(120):
        x, y = path[-1]
        path.append((1.0 - 1.4 * x**2 + y, 0.3 * x))
    x, y = np.array(path).T
    outcome = alder.discover_states({"x": x, "y": y}, states=["x", "y"], discrete=True)
    assert outcome.refusal is None
    sizes = sorted(abs(one.value) for one in outcome.laws["x"].coefficients)
    assert sizes == pytest.approx([1.0, 1.0, 1.4], rel=1e-9)


def test_inputs_that_never_change_within_a_run_have_no_dead_time() -> None:
    """Nothing in such a log says when they arrive."""
    log = _log(n_episodes=6)
    log["u"] = np.repeat(log["u"][::50], 50)
    setting = Setting(("x", "v"), ("u",))
    assert find_delay(read_samples(log, setting, "t", "run").samples, setting) == 0.0


def test_a_dead_time_that_a_held_back_run_is_too_short_for_is_not_tried() -> None:
    log = _log(n_episodes=4, late=3)
    setting = Setting(("x", "v"), ("u",))
    samples = read_samples(log, setting, "t", "run").samples
    assert find_delay(samples, setting) == pytest.approx(0.3)
    assert find_delay(samples, setting, within=0.6) < 0.2


def test_a_share_of_two_populations_is_found_in_noise() -> None:
    """What one rate has, the other has too: both are looked for together."""
    names = ("x", "y")
    rates = ("x*(1 - 0.4*x) - 0.8*x*y/(x + y)", "0.7*x*y/(x + y) - 0.3*y")
    rng = np.random.default_rng(5)
    t, starts = np.linspace(0.0, 3.0, 40), rng.uniform(0.2, 2.5, (10, 2))
    blank = Samples.of([(t, np.zeros((40, 2))) for _ in starts])
    clean = Flow.of([parse(r, names) for r in rates], names).solve(blank, starts, {}).states
    x, y = (clean + 0.005 * rng.normal(size=clean.shape)).T
    log = {"t": blank.times, "x": x, "y": y, "run": np.repeat(np.arange(10.0), 40)}
    outcome = alder.discover_states(log, states=["x", "y"], group="run")
    assert outcome.refusal is None
    grid = np.meshgrid(np.linspace(0.3, 2.0, 8), np.linspace(0.3, 2.0, 8))
    rows = {"x": grid[0].ravel(), "y": grid[1].ravel()}
    for name, rate in zip(names, rates, strict=True):
        true = evaluate(parse(rate, names), rows, {})
        assert outcome.laws[name].predict(rows) == pytest.approx(true, abs=0.03)


def test_a_pole_within_reach_does_not_hide_the_law() -> None:
    """Rates grow without bounds beside y = 0: no first guess can be followed from there."""
    names = ("x", "y")
    rates = ("0.8*cos(x)*cos(y)/sin(y)", "3*sin(x) - 1.6*sin(x)*sin(y)*sin(y)")
    rng = np.random.default_rng(2)
    t, starts = np.linspace(0.0, 1.0, 30), rng.uniform(-2.5, 2.5, (12, 2))
    blank = Samples.of([(t, np.zeros((30, 2))) for _ in starts])
    solved = Flow.of([parse(r, names) for r in rates], names).solve(
        blank, starts, {}, tolerance=1e-9
    )
    whole = np.repeat(solved.reached == 30, 30)
    clean, run = solved.states[whole], np.repeat(np.arange(12.0), 30)[whole]
    x, y = (clean + 0.005 * rng.normal(size=clean.shape)).T
    log = {"t": blank.times[whole], "x": x, "y": y, "run": run}
    outcome = alder.discover_states(log, states=["x", "y"], group="run")
    assert outcome.refusal is None
    grid = np.meshgrid(np.linspace(-2.0, 2.0, 8), np.linspace(0.4, 2.2, 8))
    rows = {"x": grid[0].ravel(), "y": grid[1].ravel()}
    for name, rate in zip(names, rates, strict=True):
        true = evaluate(parse(rate, names), rows, {})
        assert outcome.laws[name].predict(rows) == pytest.approx(true, abs=0.05)
