"""Laws written with the short numbers that the rows leave room for."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import alder


def _fitted(a: float, b: float, noise: float, seed: int = 0) -> alder.Law:
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1.0, 1.0, (2, 400))
    y = a * x + b * z + noise * rng.normal(size=400)
    return alder.fit("a*x + b*z", {"x": x, "z": z, "y": y}, target="y").law


def test_a_short_number_takes_the_place_of_one_that_cannot_be_told_from_it() -> None:
    law = _fitted(2.5, 0.73129, noise=1e-3)
    tidy = law.tidied()
    assert tidy.values["a"] == 2.5
    assert tidy.values["b"] == pytest.approx(law.values["b"], abs=1e-4)
    assert "2.5*x" in str(tidy)
    assert law.values["a"] != 2.5  # both forms are kept


def test_a_simple_fraction_is_short() -> None:
    assert _fitted(1.0 / 3.0, 2.0, noise=1e-6).tidied().values["a"] == 1.0 / 3.0


def test_where_an_interval_is_wide_nothing_is_short() -> None:
    law = _fitted(2.5, 0.7, noise=0.5)
    assert law.tidied() == law


@settings(max_examples=25, deadline=None)
@given(a=st.floats(0.5, 9.0), b=st.floats(-9.0, -0.5), seed=st.integers(0, 99))
@example(a=1.0, b=-1.0, seed=32)  # once one number is fixed, another's interval would hold -1
def test_short_numbers_lie_in_their_intervals_and_predict_within_them(
    a: float, b: float, seed: int
) -> None:
    law = _fitted(a, b, 1e-3, seed)
    tidy = law.tidied()
    for before, after in zip(law.coefficients, tidy.coefficients, strict=True):
        assert after.value == before.value or before.lower <= after.value <= before.upper
    rows = {"x": np.linspace(-1.0, 1.0, 9), "z": np.linspace(1.0, -1.0, 9)}
    apart = np.abs(tidy.predict(rows) - law.predict(rows))
    assert (apart <= 3.5 * law.standard_error(rows) + 1e-12).all()
    assert tidy.tidied() == tidy


def test_others_move_with_a_number_that_was_fixed() -> None:
    """The tidied law fits the rows as one does in which the short number was given."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0.8, 1.0, 200)
    rows = {"x": x, "y": 3.0 * x + 0.71828 * x**2 + 1e-5 * rng.normal(size=200)}
    law = alder.fit("a*x + b*x^2", rows, target="y").law
    tidy = law.tidied()
    given = alder.fit("3*x + b*x^2", rows, target="y").law
    assert tidy.values["a"] == 3.0
    assert law.values["b"] != pytest.approx(given.values["b"], abs=1e-7)
    assert tidy.values["b"] == pytest.approx(given.values["b"], abs=1e-7)


def test_equations_of_motion_are_tidied_law_by_law() -> None:
    law = _fitted(2.5, -1.0, noise=1e-6)
    rates = {"x": law}
    found = alder.Dynamics(rates, {"z": "x"}).tidied()
    assert found.laws["x"].values == {"a": 2.5, "b": -1.0}
    assert found.known == {"z": "x"}
