"""Laws written with the short numbers that the rows leave room for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import alder
from alder.records.coefficient import Coefficient
from alder.records.tidying import tidied


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


def _told(value: float, error: float) -> Coefficient:
    law = _fitted(2.0, -1.0, noise=1e-3)
    half = 2.0 * error
    return replace(
        law.coefficients[0], value=value, standard_error=error, lower=value - half,
        upper=value + half,
    )  # fmt: skip


def test_what_stays_as_it_is_does_not_make_room_for_a_short_number() -> None:
    """An exponent that was read off the rows moves with nothing, however the rows tie them."""
    C = np.array([[1.0, 0.995], [0.995, 1.0]]) * 2e-5**2
    kept, _ = tidied([_told(2.50003, 2e-5)], C)
    assert kept[0].value == 2.50003
    moved, _ = tidied([_told(2.50003, 2e-5)], C * np.eye(2))
    assert moved[0].value == 2.5


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
def test_what_is_short_does_not_hang_on_units(unit: float) -> None:
    errors = np.array([20.0, 2e-5 * unit, 2e-5 * unit])
    R = np.eye(3)
    R[1, 2] = R[2, 1] = -0.99
    told = [
        _told(1200010.0, 20.0),
        _told(2.49998 * unit, errors[1]),
        _told(0.7313 * unit, errors[2]),
    ]
    found, _ = tidied(told, R * np.outer(errors, errors))
    assert found[1].value == pytest.approx(2.5 * unit, rel=1e-12)
    assert found[2].value == pytest.approx(0.73128 * unit, rel=1e-5)
