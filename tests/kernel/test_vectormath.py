from importlib import import_module
from typing import Any

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Var
from alder.expr.operators import OPERATORS
from alder.kernel.encode import encode
from alder.kernel.engine import evaluate_with_jacobian
from kernel.points import rows_of

mpmath: Any = import_module("mpmath")  # it has no types
RELATIVE = 4e-15
"""What the module promises of every function."""

TINY = np.geomspace(1e-300, 1e-3, 400)
BOTH = np.concatenate([-TINY[::-1], TINY])


def applied(name: str, x: FloatArray) -> FloatArray:
    """Evaluate one operator by the compiled kernel."""
    batch = encode([Apply(OPERATORS[name], (Var("x"),))], ["x"])
    return evaluate_with_jacobian(batch, np.empty(0), rows_of({"x": x}))[0]


def in_fifty_digits(name: str, x: FloatArray) -> FloatArray:
    with mpmath.workdps(50):
        return np.array([float(getattr(mpmath, name)(mpmath.mpf(float(value)))) for value in x])


def largest_error(name: str, x: FloatArray) -> float:
    """Return the largest relative error."""
    exact = in_fifty_digits(name, x)
    return float(np.max(np.abs(applied(name, x) - exact) / np.abs(exact)))


def test_the_exponential_is_exact_over_its_whole_range() -> None:
    x = np.concatenate([np.linspace(-690.0, 690.0, 4001), np.linspace(-1.0, 1.0, 801), BOTH])
    assert largest_error("exp", x) < RELATIVE


def test_the_logarithm_is_exact_over_its_whole_range() -> None:
    x = np.concatenate([np.geomspace(1e-150, 1e300, 3001), np.linspace(0.2, 5.0, 3000)])
    x = x[x != 1.0]
    assert largest_error("log", x) < RELATIVE


def test_the_logarithm_keeps_its_digits_beside_one() -> None:
    steps = np.geomspace(1e-15, 1e-2, 300)
    assert largest_error("log", np.concatenate([1.0 + steps, 1.0 - steps])) < RELATIVE
    assert applied("log", np.array([1.0]))[0] == 0.0


def test_the_hyperbolic_tangent_is_exact_also_near_zero() -> None:
    x = np.concatenate([np.linspace(-25.0, 25.0, 3000), BOTH])
    assert largest_error("tanh", x) < RELATIVE
    assert applied("tanh", np.array([0.0, 1e300, -1e300])).tolist() == [0.0, 1.0, -1.0]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine_are_exact_up_to_rounding_of_one(name: str) -> None:
    grid = np.concatenate([np.linspace(-20.0, 20.0, 2001), np.linspace(-1e5, 1e5, 2001), BOTH])
    error = np.abs(applied(name, grid) - in_fifty_digits(name, grid))
    assert float(error.max()) < RELATIVE


def test_a_small_sine_keeps_its_relative_digits() -> None:
    assert largest_error("sin", BOTH) < RELATIVE


def test_a_sine_beside_a_multiple_of_pi_keeps_most_of_its_digits() -> None:
    x = np.pi * np.arange(1.0, 1000.0)  # each within a rounding of a zero of the sine
    assert largest_error("sin", x) < 1e-9


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_huge_angles_are_reduced_exactly(name: str) -> None:
    x = np.concatenate([np.geomspace(1e5, 1e15, 200), -np.geomspace(1e5, 1e15, 200)])
    error = np.abs(applied(name, x) - in_fifty_digits(name, x))
    assert float(error.max()) < RELATIVE


def test_the_gate_is_exact_on_both_sides() -> None:
    x = np.linspace(-600.0, 600.0, 2001)
    with mpmath.workdps(50):
        exact = [float(1 / (1 + mpmath.exp(-mpmath.mpf(float(value))))) for value in x]
    np.testing.assert_allclose(applied("gate", x), exact, rtol=RELATIVE)
