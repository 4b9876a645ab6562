"""A structure split into linear terms is still the same structure."""

from importlib import import_module
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.nodes import parameters
from alder.expr.sample import random_tree
from alder.expr.text import parse
from alder.records.effort import FULL, SCREENED
from alder.records.proposal import Bounds
from kernel.points import NAMES, clear_of_switches, solved

optimize: Any = import_module("scipy.optimize")  # it has no types
N_ROWS = 60
N_STRUCTURES = 12
# Beyond this a sum of squares holds no digit of the target any more.
WELL_CONDITIONED = 1e6


def random_bounds(rng: np.random.Generator, names: tuple[str, ...]) -> dict[str, Bounds]:
    """Bound some parameters on one side, some on both."""
    bounds: dict[str, Bounds] = {}
    for name in names:
        kind, lower = rng.random(), float(rng.normal())
        if kind < 0.3:
            bounds[name] = Bounds(lower, lower + float(rng.uniform(0.1, 3.0)))
        elif kind < 0.4:
            bounds[name] = Bounds(lower=lower)
        elif kind < 0.5:
            bounds[name] = Bounds(upper=lower)
    return bounds


def columns_and_target(rng: np.random.Generator) -> tuple[dict[str, FloatArray], FloatArray]:
    columns = {
        "x": rng.uniform(-3.0, 3.0, N_ROWS),
        "y": rng.uniform(0.1, 3.0, N_ROWS),
        "r": rng.normal(size=N_ROWS),
    }
    return columns, columns["x"] + rng.normal(size=N_ROWS)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_the_reported_sum_of_squares_is_that_of_the_returned_parameters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, target = columns_and_target(rng)
    weights = rng.uniform(0.2, 3.0, N_ROWS)
    trees = [random_tree(rng, int(rng.integers(1, 32)), NAMES) for _ in range(N_STRUCTURES)]
    bounds = [random_bounds(rng, parameters(tree)) for tree in trees]
    found = solved(trees, columns, target, SCREENED, bounds=bounds, weights=weights)
    for index, tree in enumerate(trees):
        values = found.of(index)
        clear = clear_of_switches(tree, columns, values).all()
        if not clear or rounding_bound(tree, columns, values).max() > WELL_CONDITIONED:
            continue
        residuals = target - evaluate(tree, columns, values)
        expected = float(np.sum(weights * np.square(residuals)))
        np.testing.assert_allclose(found.reports[index, 0], expected, rtol=1e-6)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_every_bound_holds_for_linear_and_nonlinear_parameters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, target = columns_and_target(rng)
    trees = [random_tree(rng, int(rng.integers(1, 32)), NAMES) for _ in range(N_STRUCTURES)]
    bounds = [random_bounds(rng, parameters(tree)) for tree in trees]
    found = solved(trees, columns, target, SCREENED, bounds=bounds)
    for index in range(N_STRUCTURES):
        if np.isfinite(found.reports[index, 0]):
            for name, value in found.of(index).items():
                assert bounds[index].get(name, Bounds()).clip(value) == value


def test_coefficients_that_enter_linearly_are_found_by_the_tree_alone() -> None:
    rng = np.random.default_rng(0)
    columns, target = columns_and_target(rng)
    for text, n_nonlinear in {
        "a + b*x + c*y^2": 0,
        "(a*x + b)/y - c*exp(x)": 0,
        "where(x, a*y, b) - (-c)": 0,
        "x*(a + y*(b + c*x))": 0,
        "k*y^p - c*x": 1,
        "k*tanh(w*x + b) + d": 2,
        "a*x + a^2": 1,
        "a*x + b*a": 1,
        "exp(a*x)": 1,
        "max(a*x, b)": 2,
    }.items():
        found = solved([parse(text, NAMES)], columns, target, FULL)
        assert found.reports[0, 4] == n_nonlinear, text


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_bounded_least_squares_agrees_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ("a", "b", "c", "d", "f")
    columns = {f"x{i}": rng.normal(size=N_ROWS) for i in range(5)}
    target = rng.normal(size=N_ROWS) + 3.0 * columns["x0"]
    law = parse(" + ".join(f"{n}*x{i}" for i, n in enumerate(names)), tuple(columns))
    lower = rng.normal(size=5)
    upper = lower + rng.uniform(0.05, 2.0, 5)
    bounds = {n: Bounds(lower[i], upper[i]) for i, n in enumerate(names)}
    found = solved([law], columns, target, FULL, bounds=[bounds])
    A = np.array(list(columns.values())).T
    oracle = optimize.lsq_linear(A, target, (lower, upper), method="bvls", tol=1e-14)
    values = found.of(0)
    np.testing.assert_allclose([values[n] for n in names], oracle.x, rtol=1e-7, atol=1e-9)


def test_ridge_keeps_equal_columns_solvable() -> None:
    rng = np.random.default_rng(1)
    columns, target = columns_and_target(rng)
    found = solved([parse("a*x + b*x", NAMES)], columns, target, FULL)
    slope = float(columns["x"] @ target / (columns["x"] @ columns["x"]))
    np.testing.assert_allclose(sum(found.of(0).values()), slope, rtol=1e-9)
