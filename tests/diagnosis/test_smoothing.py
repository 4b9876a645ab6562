from typing import cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.diagnosis.smoothing import find_pattern, foresee, scaled


def test_noise_is_not_foreseen() -> None:
    rng = np.random.default_rng(0)
    shares = [
        find_pattern(rng.normal(size=80), rng.random((80, 3)), ("a", "b", "c")).share
        for _ in range(10)
    ]
    assert max(shares) < 0.25


def test_a_curve_is_foreseen_along_its_own_variable() -> None:
    rng = np.random.default_rng(1)
    inputs = rng.random((120, 3))
    values = np.sin(12.0 * inputs[:, 1]) + 0.1 * rng.normal(size=120)
    found = find_pattern(values, inputs, ("a", "b", "c"))
    assert found.along == ("b",)
    assert found.share > 0.9


def test_a_product_is_foreseen_along_both_of_its_variables() -> None:
    rng = np.random.default_rng(2)
    inputs = rng.random((160, 3))
    values = (inputs[:, 0] - 0.5) * (inputs[:, 2] - 0.5) + 0.01 * rng.normal(size=160)
    found = find_pattern(values, inputs, ("a", "b", "c"))
    assert found.along == ("a", "c")
    assert found.share > 0.8


@given(st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_what_is_foreseen_of_a_row_does_not_depend_on_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u: FloatArray = rng.random(20)
    kernel: FloatArray = np.exp(-np.square(u[:, None] - u[None, :]) / 0.08)
    values = np.sin(6.0 * u)
    found = foresee(values, kernel)
    # Leaving a row out by hand: the ridge regression of the others, about the same mean.
    for ridge in (0.01, 0.1, 1.0, 10.0):
        inner: FloatArray = kernel[1:, 1:] + ridge * np.eye(19)
        weights = cast(FloatArray, np.linalg.solve(inner, values[1:] - values.mean()))
        by_hand = float(values.mean() + np.dot(kernel[0, 1:], weights))
        if abs(by_hand - float(found.foreseen[0])) < 1e-8:
            return
    raise AssertionError("no ridge gives what was foreseen of the first row")


def test_columns_are_scaled_to_the_unit_interval() -> None:
    found = scaled([np.array([2.0, 4.0, 3.0]), np.full(3, 7.0)])
    assert found[:, 0].tolist() == [0.0, 1.0, 0.5]
    assert found[:, 1].tolist() == [0.0, 0.0, 0.0]
