import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import PARAMETERS, exprs

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate, jacobian, rounding_bound
from alder.expr.nodes import Apply, Expr, Param, Var, parameters
from alder.expr.operators import OPERATORS, Floors
from alder.expr.sample import random_tree
from alder.kernel.encode import encode
from alder.kernel.engine import evaluate_with_jacobian
from kernel.points import NAMES, clear_of_switches, random_columns, rows_of

AGREEMENT = 1e-12
SEEDS = st.integers(0, 2**32 - 1)
PAPER = Floors(denominator=1e-6, base=1e-6, exponent=30.0, saturation=1e6)


def interpreted(
    expr: Expr, columns: dict[str, FloatArray], values: dict[str, float], floors: Floors
) -> tuple[FloatArray, FloatArray]:
    """Run the kernel; return values (n) and derivatives (n, p) in the order of `parameters`."""
    batch = encode([expr], NAMES)
    names = batch.parameters[0]
    point = np.array([values[name] for name in names])
    found, slopes = evaluate_with_jacobian(batch, point, rows_of(columns, floors))
    order = [names.index(name) for name in parameters(expr)]
    return found, slopes[order].T


def drawn(seed: int, n_rows: int = 20) -> tuple[Expr, dict[str, FloatArray], dict[str, float]]:
    """Draw a tree of 1 to 31 nodes over all operators, rows, and parameters."""
    rng = np.random.default_rng(seed)
    expr = random_tree(rng, int(rng.integers(1, 32)), NAMES)
    values = {name: float(rng.normal()) for name in parameters(expr)}
    return expr, random_columns(rng, n_rows), values


@settings(max_examples=150)
@given(SEEDS, st.sampled_from([Floors(), PAPER]))
def test_values_agree_with_the_reference_away_from_switches(seed: int, floors: Floors) -> None:
    expr, columns, values = drawn(seed)
    found, _ = interpreted(expr, columns, values, floors)
    exact = evaluate(expr, columns, values, floors)
    bound = rounding_bound(expr, columns, values, floors)
    clear = clear_of_switches(expr, columns, values, floors)
    assert np.all((np.abs(found - exact) <= AGREEMENT * bound + 1e-290)[clear])


@settings(max_examples=200)
@given(exprs(NAMES, max_leaves=10), SEEDS)
def test_values_agree_for_trees_with_any_numbers(expr: Expr, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, 8)
    values = {name: float(rng.normal()) for name in PARAMETERS}
    found, _ = interpreted(expr, columns, values, Floors())
    exact = evaluate(expr, columns, values)
    bound = rounding_bound(expr, columns, values)
    # A bound beyond this is an expression whose every digit is lost.
    clear = clear_of_switches(expr, columns, values) & (bound < 1e290)
    assert np.all((np.abs(found - exact) <= AGREEMENT * bound + 1e-290)[clear])


@settings(max_examples=150)
@given(SEEDS)
def test_the_jacobian_agrees_with_the_reference_away_from_switches(seed: int) -> None:
    expr, columns, values = drawn(seed)
    names = parameters(expr)
    if not names:
        return
    _, found = interpreted(expr, columns, values, Floors())
    _, exact = jacobian(expr, columns, values, names)
    near = {name: value * (1.0 + 1e-9) for name, value in values.items()}
    moved = {name: column * (1.0 - 1e-9) for name, column in columns.items()}
    _, beside = jacobian(expr, moved, near, names)
    size = 1.0 + np.abs(exact).max(axis=1)
    # Where a change in the tenth digit of the inputs shows, roundings inside the tree show too; so
    # they do where a slope overflows, which is no number to compare.
    with np.errstate(invalid="ignore"):
        steady = np.abs(beside - exact).max(axis=1) < 1e-6 * size
    steady &= np.isfinite(size) & (rounding_bound(expr, columns, values) < 1e4)
    steady &= clear_of_switches(expr, columns, values)
    apart = np.abs(found[steady] - exact[steady]).max(axis=1, initial=0.0)
    assert np.all(apart <= 1e-9 * size[steady])


@given(exprs(NAMES), st.lists(st.floats(-1e300, 1e300), min_size=7, max_size=7))
def test_the_kernel_is_finite_for_finite_rows(expr: Expr, numbers: list[float]) -> None:
    columns = {name: np.array([number]) for name, number in zip(NAMES, numbers[:3], strict=True)}
    values: dict[str, float] = dict(zip(PARAMETERS, numbers[3:], strict=True))
    assert np.isfinite(interpreted(expr, columns, values, Floors())[0]).all()
    assert np.isfinite(interpreted(expr, columns, values, PAPER)[0]).all()


@pytest.mark.parametrize("n_rows", [1, 255, 256, 257, 1000])
def test_rows_beyond_one_block_are_evaluated_like_the_first(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    columns = {name: rng.uniform(0.5, 2.0, n_rows) for name in NAMES}
    x, k, p = Var("x"), Param("k"), Param("p")
    expr = Apply(
        OPERATORS["mul"],
        (k, Apply(OPERATORS["tanh"], (Apply(OPERATORS["powp"], (x, p)),))),
    )
    values = {"k": 1.7, "p": -0.8}
    found, slopes = interpreted(expr, columns, values, Floors())
    exact, derivatives = jacobian(expr, columns, values, ["k", "p"])
    np.testing.assert_allclose(found, exact, rtol=1e-13)
    np.testing.assert_allclose(slopes, derivatives, rtol=1e-12, atol=1e-14)


def test_derivatives_of_a_saturated_power_are_those_of_the_operator_table() -> None:
    expr = Apply(OPERATORS["powp"], (Var("x"), Param("p")))
    columns = {name: np.array([-1.0, 1e-140]) for name in NAMES}
    _, found = interpreted(expr, columns, {"p": -2.2}, Floors())
    _, exact = jacobian(expr, columns, {"p": -2.2}, ["p"])
    np.testing.assert_allclose(found, exact, rtol=1e-12)
