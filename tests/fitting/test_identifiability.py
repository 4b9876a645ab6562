import numpy as np
import pytest

from alder import fit
from alder.arrays import FloatArray


def rows(scale: float = 1.0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0.5, 3.0, 60), rng.uniform(1.0, 2.0, 60)
    return {"x": x, "z": z, "y": scale * (3.0 * x + 0.7 * z + rng.normal(0.0, 0.05, 60))}


@pytest.mark.parametrize(
    ("law", "sentences"),
    [
        ("k*c*x", ("Only k*c matters, not its factors.",)),
        ("k*x/c", ("Only k/c matters, not its factors.",)),
        ("k/(b*c)*x", ("Only k/(b*c) matters, not its factors.",)),
        ("k*c*d*x", ("Only k*c*d matters, not its factors.",)),
        ("k*c^2*x", ("Only k*c^2 matters, not its factors.",)),
        ("(a + b)*x", ("Only a + b matters, not its terms.",)),
        ("a - b + c*x", ("Only a - b matters, not its terms.",)),
        ("exp(a + b*x + c)", ("Only a + c matters, not its terms.",)),
        ("k*x + sign(s^2 + 1)", ("s does not matter on these rows.",)),
        (
            "k*c*x + d*b*z",
            ("Only k*c matters, not its factors.", "Only d*b matters, not its factors."),
        ),
        (
            "a + b*x + c*(x + 1)",
            ("a, b, c are not determined separately by these rows.",),
        ),
    ],
)
def test_what_the_rows_do_not_determine_is_said_in_words(
    law: str, sentences: tuple[str, ...]
) -> None:
    assert fit(law, rows(), target="y").undetermined == sentences


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_sentence_does_not_depend_on_units(scale: float) -> None:
    table = rows(scale)
    found = fit("k*c*x + d", table, target="y")
    assert found.undetermined == ("Only k*c matters, not its factors.",)
    states = {c.name: c.state for c in found.coefficients}
    assert states == {"k": "undetermined", "c": "undetermined", "d": "free"}
    assert found.residual_df == 60 - 2


def test_undetermined_coefficients_have_infinite_errors_and_the_rest_finite_ones() -> None:
    found = fit("k*c*x + d", rows(), target="y")
    errors = {c.name: c.standard_error for c in found.coefficients}
    assert np.isinf([errors["k"], errors["c"]]).all()
    assert 0.0 < errors["d"] < 1.0
    assert found.condition == np.inf


@pytest.mark.parametrize(
    "law",
    ["a*x + b*z", "k*x^p", "m*x/(K + x)", "A*exp(-x/T) + b", "a + b*x + c*x^2 + d*x^3", "k*x*z^p"],
)
def test_a_well_determined_law_raises_no_alarm(law: str) -> None:
    found = fit(law, rows(), target="y")
    assert found.undetermined == ()
    assert all(c.state == "free" for c in found.coefficients)
    assert found.condition < 1e8


def test_a_fixed_factor_determines_the_other() -> None:
    found = fit("k*c*x + d", rows(), target="y", fixed={"c": 2.0})
    assert found.undetermined == ()
    assert {c.name: c.state for c in found.coefficients}["k"] == "free"


def test_two_products_of_very_different_size_count_as_two_coefficients() -> None:
    table = rows()
    table["x"] = table["x"] * 1e9
    found = fit("k*c*x + d*b*z", table, target="y")
    assert found.residual_df == 60 - 2
