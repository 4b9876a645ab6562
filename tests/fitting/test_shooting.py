"""Solutions of systems of trees, their sensitivities, and fits by shooting."""

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]
from strategies import PARAMETERS, TAME_NUMBERS, VARIABLES, exprs

from alder.arrays import FloatArray
from alder.expr.evaluate import gradient, jacobian, rounding_bound
from alder.expr.nodes import Expr, Var, parameters
from alder.expr.text import parse
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.fitting.shooting import shoot, shoot_growing

STATES = ("x", "y")
PREY = (parse("a*x*(1 - y)", STATES), parse("-b*y*(c - x)", STATES))
TRUE = {"a": 1.1, "b": 0.7, "c": 1.3}
STARTS = np.array([[1.0, 0.5], [2.0, 1.0], [0.4, 1.6]])


def _blank(n_rows: int = 40, horizon: float = 4.0) -> Samples:
    t = np.linspace(0.0, horizon, n_rows)
    return Samples.of([(t, np.zeros((n_rows, 2))) for _ in STARTS])


def _observed(noise: float, seed: int = 0) -> Samples:
    blank = _blank()
    clean = Flow.of(PREY, STATES).solve(blank, STARTS, TRUE).states
    rng = np.random.default_rng(seed)
    return blank.with_states(clean + noise * rng.normal(size=clean.shape))


def test_solutions_agree_with_an_independent_solver() -> None:
    blank = _blank()
    found = Flow.of(PREY, STATES).solve(blank, STARTS, TRUE)

    def f(_t: float, s: FloatArray) -> list[float]:
        return [1.1 * s[0] * (1.0 - s[1]), -0.7 * s[1] * (1.3 - s[0])]

    for k, start in enumerate(STARTS):
        t = blank.times[blank.rows_of(k)]
        solution = cast("Any", solve_ivp(f, (0.0, 4.0), start, t_eval=t, rtol=1e-11, atol=1e-12))
        expected: FloatArray = np.asarray(solution.y.T, dtype=np.float64)
        assert found.states[blank.rows_of(k)] == pytest.approx(expected, abs=1e-6)


@settings(max_examples=150, deadline=None)
@given(expr=exprs(numbers=TAME_NUMBERS, max_leaves=10), seed=st.integers(0, 99))
def test_one_step_of_a_map_and_its_derivatives_are_those_of_the_tree(expr: Expr, seed: int) -> None:
    rng = np.random.default_rng(seed)
    point = dict(zip(VARIABLES, rng.uniform(0.3, 2.0, 3), strict=True))
    values = {str(n): float(v) for n, v in zip(PARAMETERS, rng.uniform(0.3, 2.0, 4), strict=True)}
    rows = {name: np.array([value]) for name, value in point.items()}
    expected, by_variable = gradient(expr, rows, values, VARIABLES)
    _, by_parameter = jacobian(expr, rows, values, parameters(expr))
    assume(abs(expected[0]) < 1e90)  # beyond it a solution counts as diverged
    assume(float(rounding_bound(expr, rows, values)[0]) < 1e6 * max(abs(expected[0]), 1e-3))
    flow = Flow.of([expr, Var("y"), Var("r")], VARIABLES, discrete=True)
    start = np.array([[point[name] for name in VARIABLES]])
    found = flow.solve(
        Samples.of([(np.arange(2.0), np.zeros((2, 3)))]), start, values, sensitivities=True
    )
    assert found.states[1, 0] == pytest.approx(expected[0], rel=1e-8, abs=1e-8)
    derived = np.concatenate([by_variable[0], by_parameter[0]])
    assume(np.abs(derived).max(initial=0.0) < 1e8)
    assert found.sensitivities[1, 0] == pytest.approx(derived, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_sensitivities_by_parameters_are_the_slopes_of_solutions(name: str) -> None:
    flow, blank, h = Flow.of(PREY, STATES), _blank(), 1e-5
    exact = flow.solve(blank, STARTS, TRUE, sensitivities=True).sensitivities
    up = flow.solve(blank, STARTS, {**TRUE, name: TRUE[name] + h}, tolerance=1e-11).states
    down = flow.solve(blank, STARTS, {**TRUE, name: TRUE[name] - h}, tolerance=1e-11).states
    column = 2 + flow.parameters.index(name)
    assert exact[:, :, column] == pytest.approx((up - down) / (2.0 * h), abs=1e-5)


def test_sensitivities_by_the_start_are_the_slopes_of_solutions() -> None:
    flow, blank, h = Flow.of(PREY, STATES), _blank(), 1e-5
    exact = flow.solve(blank, STARTS, TRUE, sensitivities=True).sensitivities
    moved = np.array([0.0, h])
    up = flow.solve(blank, STARTS + moved, TRUE, tolerance=1e-11).states
    down = flow.solve(blank, STARTS - moved, TRUE, tolerance=1e-11).states
    assert exact[:, :, 1] == pytest.approx((up - down) / (2.0 * h), abs=1e-5)


def test_sensitivities_by_a_coefficient_that_is_zero_say_what_a_term_would_do() -> None:
    terms = [parse(text, STATES) for text in ("x", "x*y", "y", "x^2")]
    mix = np.array([[1.1, -1.1, 0.0, 0.0], [0.0, 0.7, -0.91, 0.0]])
    flow, blank, h = Flow.library(terms, STATES, 2), _blank(), 1e-6
    exact = flow.mixed(mix).solve(blank, STARTS, np.zeros(0), sensitivities=True).sensitivities
    up, down = mix.copy(), mix.copy()
    up[0, 3], down[0, 3] = h, -h
    slope = (
        flow.mixed(up).solve(blank, STARTS, np.zeros(0), tolerance=1e-11).states
        - flow.mixed(down).solve(blank, STARTS, np.zeros(0), tolerance=1e-11).states
    ) / (2.0 * h)
    assert exact[:, :, 2 + 3] == pytest.approx(slope, abs=1e-4)


def test_a_solution_that_diverges_ends_and_says_where() -> None:
    t = np.linspace(0.05, 2.05, 21)
    found = Flow.of([parse("x^2", ["x"])], ["x"]).solve(
        Samples.of([(t, np.zeros((21, 1)))]), np.array([[1.0 / 0.95]]), {}
    )
    assert found.reached[0] == 10  # the pole is at t = 1
    assert np.isfinite(found.states).all()


def test_inputs_hold_between_samples() -> None:
    t = np.array([0.0, 1.0, 2.0, 3.0])
    u = np.array([[1.0], [-2.0], [0.5], [9.0]])
    samples = Samples.of([(t, np.zeros((4, 1)))], [u])
    found = Flow.of([parse("u", ["x", "u"])], ["x", "u"]).solve(samples, np.array([[0.0]]), {})
    assert found.states[:, 0] == pytest.approx([0.0, 1.0, -1.0, -0.5])


@pytest.mark.parametrize("gaps", [(1.0, 1.0, 5.0), (1.0, 5.0), (1.0, 25.0, 5.0), (1.0, 4.0)])
@pytest.mark.parametrize("unit", [0.09, 0.1, 0.007, 1.0 / 3.0])
def test_samples_with_gaps_of_any_length_are_followed_to_the_end(
    gaps: tuple[float, ...], unit: float
) -> None:
    """A step that grows to a gap but for rounding has no rest that is a step of its own."""
    t = np.concatenate([[0.0], np.cumsum(np.tile(gaps, 12) * unit)])
    samples = Samples.of([(t, np.zeros((len(t), 1)))])
    found = Flow.of([parse("-0.1*x", ("x",))], ("x",)).solve(samples, np.array([[2.0]]), {})
    assert found.reached.tolist() == [len(t)]
    assert found.states[:, 0] == pytest.approx(2.0 * np.exp(-0.1 * t), rel=1e-5)


def test_numbers_of_a_chaotic_map_are_known_however_large_its_derivatives() -> None:
    """What starts and numbers do grows alike: normal equations cannot tell them apart."""
    samples = Samples.of([(np.arange(40.0), np.zeros((40, 1)))])
    flow = Flow.of([parse("a*x - b*x^2", ("x",))], ("x",), discrete=True)
    true, start = np.array([3.7, 3.7]), np.array([[0.3]])
    observed = samples.with_states(flow.solve(samples, start, true).states)
    shot = shoot(flow, observed, true, start, np.array([1e-10]))
    assert (np.sqrt(np.diag(shot.covariance)) < 1e-8).all()


def test_a_discrete_system_is_iterated() -> None:
    samples = Samples.of([(np.arange(5.0), np.zeros((5, 1)))])
    flow = Flow.of([parse("r*x*(1 - x)", ["x"])], ["x"], discrete=True)
    x = [0.2]
    for _ in range(4):
        x.append(3.2 * x[-1] * (1.0 - x[-1]))
    found = flow.solve(samples, np.array([[0.2]]), {"r": 3.2})
    assert found.states[:, 0] == pytest.approx(x)


def test_a_fit_recovers_parameters_within_their_errors() -> None:
    samples, sigma = _observed(0.02), np.array([0.02, 0.02])
    flow = Flow.of(PREY, STATES)
    shot = shoot_growing(flow, samples, np.array([0.8, 1.0, 1.0]), samples.states, sigma)
    score = (shot.values - [TRUE[n] for n in flow.parameters]) / np.sqrt(np.diag(shot.covariance))
    assert np.abs(score).max() < 4.0
    assert shot.samples.n_segments == 3  # whole trajectories were followed
    assert shot.chi2 / shot.n_free == pytest.approx(1.0, abs=0.25)


def test_a_fit_whose_first_guess_diverges_is_said_not_to_be_sound() -> None:
    t = np.linspace(0.0, 5.0, 30)
    samples = Samples.of([(t, np.exp(-t)[:, None])])
    flow = Flow.of([parse("a*x^3", ["x"])], ["x"])
    shot = shoot(flow, samples, np.array([50.0]), np.array([[1.0]]), np.array([0.01]))
    assert not shot.sound
    assert shot.chi2 == np.inf


def test_what_the_samples_do_not_determine_has_an_infinite_error() -> None:
    samples, sigma = _observed(0.02), np.array([0.02, 0.02])
    flow = Flow.of((parse("(a + d)*x*(1 - y)", STATES), PREY[1]), STATES)
    values = np.array([0.6, 0.5, 0.7, 1.3])
    shot = shoot(flow, samples, values, samples.start_rows(), sigma)
    errors = dict(zip(flow.parameters, np.diag(shot.covariance), strict=True))
    assert np.isinf(errors["a"])
    assert np.isinf(errors["d"])
    assert np.isfinite(errors["b"])


def test_where_the_first_guess_runs_away_pieces_get_shorter_until_it_is_followed() -> None:
    """From 1 the guess has a pole at 0.25, between the second sample and the third."""
    t = np.linspace(0.0, 5.0, 30)
    flow = Flow.of([parse("a*x^2 - b*x", ["x"])], ["x"])
    blank = Samples.of([(t, np.zeros((30, 1)))])
    clean = flow.solve(blank, np.array([[1.0]]), {"a": 0.5, "b": 1.0})
    samples, guess = blank.with_states(clean.states), np.array([4.0, 0.0])
    pieces = samples.cut(8)
    assert not shoot(flow, pieces, guess, pieces.start_rows(), np.ones(1)).sound
    shot = shoot_growing(flow, samples, guess, clean.states, np.array([0.01]))
    assert shot.sound
    assert shot.samples.n_segments == 1
    assert shot.values == pytest.approx([0.5, 1.0], abs=1e-3)


def test_a_fit_that_cannot_become_good_enough_ends_early_and_others_go_on_unchanged() -> None:
    samples, sigma = _observed(0.02), np.array([0.02, 0.02])
    flow = Flow.of((parse("a*x + d*x^3", STATES), PREY[1]), STATES)  # the prey is not eaten
    begin = np.array([0.3, -0.5, 0.7, 1.3])
    whole = shoot(flow, samples, begin, samples.start_rows(), sigma)
    ended = shoot(flow, samples, begin, samples.start_rows(), sigma, 0.01 * whole.chi2)
    reached = shoot(flow, samples, begin, samples.start_rows(), sigma, 1.01 * whole.chi2)
    assert ended.n_solved < whole.n_solved
    assert ended.chi2 > 0.01 * whole.chi2
    assert np.array_equal(reached.values, whole.values)


def test_a_number_in_several_summands_and_rates_is_one_number() -> None:
    once = Flow.of([parse("a*(x + y^2)", STATES), parse("-b*y", STATES)], STATES)
    apart = Flow.of([parse("a*x + a*y^2", STATES), parse("-(b*y)", STATES)], STATES)
    blank, values = _blank(), {"a": -0.8, "b": 0.4}
    found, same = (flow.solve(blank, STARTS, values, sensitivities=True) for flow in (once, apart))
    assert found.states == pytest.approx(same.states, rel=1e-6, abs=1e-6)
    assert found.sensitivities == pytest.approx(same.sensitivities, rel=1e-6, abs=1e-6)


@given(lengths=st.lists(st.integers(2, 60), min_size=1, max_size=4), piece=st.integers(1, 70))
def test_pieces_hold_all_rows_and_no_piece_is_a_single_one(lengths: list[int], piece: int) -> None:
    parts = [(np.arange(float(n)), np.zeros((n, 1))) for n in lengths]
    firsts = Samples.of(parts).cut(piece).firsts
    assert set(np.cumsum([0, *lengths]).tolist()) <= set(firsts.tolist())
    assert np.diff(firsts).min() >= 2
