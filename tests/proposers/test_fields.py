from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.bench.odes.systems import given_law
from alder.expr.evaluate import evaluate
from alder.expr.nodes import size
from alder.expr.operators import Floors
from alder.expr.text import parse, to_text
from alder.proposers.search.fields.description import Field, Fields
from alder.proposers.search.fields.finding import find_fields
from alder.proposers.search.fields.lent import parts_of
from alder.proposers.search.fields.monomials import exponents
from alder.proposers.search.fields.polishing import polish
from alder.proposers.search.fields.relation import Scaled, regress
from alder.records.short import shorten

OPERATORS = {
    "add", "sub", "mul", "div", "pow", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs", "neg",
}  # fmt: skip
NAMES = ("x", "z")


def rows(n: int, seed: int = 0, low: float = 0.2, high: float = 2.0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(low, high, n) for name in NAMES}


ARITHMETIC = {"add", "sub", "mul", "div", "pow", "neg"}


def found(
    columns: Mapping[str, FloatArray], y: FloatArray, allowed: set[str] = OPERATORS
) -> list[Field]:
    ranges = dict.fromkeys(columns, (0.0, 3.0))
    return find_fields(columns, y, allowed=allowed, max_nodes=127, floors=Floors(), ranges=ranges)


def assert_found(law: str, low: float = 0.2) -> Field:
    """Find a law on some rows; check it on others, farther out."""
    tree, columns = parse(law, NAMES), rows(120, low=low)
    best = found(columns, evaluate(tree, columns, {}))[0]
    others = rows(200, seed=1, low=low, high=2.9)
    said, true = evaluate(best.structure, others, best.values), evaluate(tree, others, {})
    np.testing.assert_allclose(said, true, rtol=1e-8, atol=1e-9)
    return best


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10_000))
def test_a_ratio_of_sums_drawn_at_random_is_recovered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    above = rng.choice(6, size=int(rng.integers(1, 4)), replace=False)
    below = rng.choice(np.arange(1, 6), size=int(rng.integers(1, 3)), replace=False)
    monomials = exponents(2, 2)
    columns = rows(120, seed)

    def value(
        places: NDArray[np.int64], numbers: FloatArray, at: Mapping[str, FloatArray]
    ) -> FloatArray:
        terms = [
            c * at["x"] ** monomials[int(j)][0] * at["z"] ** monomials[int(j)][1]
            for c, j in zip(numbers, places, strict=True)
        ]
        return np.sum(terms, axis=0)

    a, b = rng.uniform(0.5, 3.0, len(above)), rng.uniform(0.2, 2.0, len(below))
    y = value(above, a, columns) / (1.0 + value(below, b, columns))
    best = found(columns, y, ARITHMETIC)[0]
    others = rows(100, seed + 1, high=2.5)
    true = value(above, a, others) / (1.0 + value(below, b, others))
    np.testing.assert_allclose(evaluate(best.structure, others, best.values), true, rtol=1e-6)


@pytest.mark.parametrize(
    "law",
    [
        "0.00003*x^2 - 1.5*x*z",
        "x/(x + z)",
        "x - cos(z)/x",
        "x*log(x) - 0.3*z",
        "sin(x)*cos(z) + 1.432",
        "1/(1 + exp(0.4*x + 0.89*z - 1.4)) - x",
        "0.2*x^1.2 - 0.8*z",
        "-0.05*z*sqrt(x^2 + z^2) - 9.81",
        "0.3*z - 1.7*x/((x^2 + z^2)*sqrt(x^2 + z^2))",
    ],
)
def test_laws_of_every_space_are_found(law: str) -> None:
    assert_found(law)


def test_a_law_of_two_kinds_of_functions_is_found() -> None:
    assert_found("1.67 - sin(x) - 0.64*z*abs(z)", low=-2.0)


def test_phases_of_three_are_found_by_their_differences() -> None:
    """Each pair's sine is two products of four functions, which are too many to lift at once."""
    rng = np.random.default_rng(0)
    names = ("x", "z", "w")
    columns = {name: rng.uniform(-3.0, 3.0, 120) for name in names}
    tree = parse("0.5 + 0.6*sin(z - x) + 0.35*sin(w - x)", names)
    best = found(columns, evaluate(tree, columns, {}))[0]
    others = {name: rng.uniform(-6.0, 6.0, 100) for name in names}
    true = evaluate(tree, others, {})
    np.testing.assert_allclose(evaluate(best.structure, others, best.values), true, atol=1e-9)
    assert size(best.structure) <= 15


def test_short_numbers_are_written_as_they_are() -> None:
    best = assert_found("2.5*x - 0.125*x*z")
    assert not best.values
    assert to_text(best.structure, NAMES) == "2.5*x - 0.125*(x*z)"


def test_numbers_that_are_not_short_stay_free() -> None:
    best = assert_found("0.8414709848078965*x - z")
    assert list(best.values.values()) == [pytest.approx(0.8414709848078965, rel=1e-12)]


def test_noise_does_not_bring_terms() -> None:
    columns = rows(200)
    y = 2.0 * columns["x"] - columns["z"] + np.random.default_rng(2).normal(0.0, 0.05, 200)
    best = found(columns, y, ARITHMETIC)[0]
    others = rows(100, 3)
    said = evaluate(best.structure, others, best.values)
    assert np.abs(said - 2.0 * others["x"] + others["z"]).max() < 0.1


def test_the_same_rows_give_the_same_laws() -> None:
    columns = rows(60)
    y = columns["x"] / (1.0 + columns["z"])
    first, second = found(columns, y, ARITHMETIC), found(columns, y, ARITHMETIC)
    assert [one.structure for one in first] == [one.structure for one in second]


def test_the_rise_of_the_residual_is_that_of_leaving_a_column_out() -> None:
    A = np.random.default_rng(0).normal(size=(30, 5))
    scaled = Scaled.of(A)
    whole = regress(scaled.triangle, 4, [0, 1, 2, 3])
    for j in range(4):
        without = regress(scaled.triangle, 4, [k for k in range(4) if k != j])
        assert without.rss - whole.rss == pytest.approx(whole.rises[j], rel=1e-8)


def test_a_number_is_short_only_where_chance_does_not_explain_it() -> None:
    short = shorten(0.2500000001, 1e-8)
    assert short is not None
    assert short.value == 0.25
    assert shorten(0.2513, 1e-2) is None
    assert shorten(0.8414709848078965, 1e-13) is None


def test_a_part_of_another_rate_is_not_looked_for_again() -> None:
    columns = rows(120)
    other = "1.9*z - 0.8*x*z/(0.317 + x^1.43)"
    law = given_law("z", other, NAMES)
    (part, *_) = parts_of([law])
    y = evaluate(parse("0.4*x*z/(0.317 + x^1.43) - 0.7*x", NAMES), columns, {})
    alone = found(columns, y)
    with_it = find_fields(
        columns, y, allowed=OPERATORS, max_nodes=127, floors=Floors(),
        ranges=dict.fromkeys(columns, (0.0, 3.0)), lent=[part],
    )  # fmt: skip
    assert not alone or alone[0].rest > 1e-9
    assert with_it[0].rest < 1e-13
    assert with_it[0].label == "a part of another rate"


def test_a_saturation_with_a_number_inside_is_found() -> None:
    assert_found("1.84*x - 1.45*z*tanh(0.7371*x)")


@pytest.mark.parametrize(
    "law",
    [
        "2.2/(1 + z^3.5) - 0.6*x",
        "0.9*(1 - x)*exp(2.5 - 3.1/z) - 0.4*x",
    ],
)
def test_sums_of_shapes_with_numbers_inside_are_found(law: str) -> None:
    assert_found(law)


def test_an_angle_that_comes_in_by_sine_and_cosine_alone_is_found() -> None:
    best = assert_found("(9.81*sin(x) - 0.4*z^2*sin(x)*cos(x))/(1.3 - 0.4*cos(x)^2)")
    assert not best.values


def test_numbers_inside_are_moved_with_all_others_so_that_no_term_makes_up_for_them() -> None:
    columns = rows(100)
    y = evaluate(parse("0.2*tanh(x/1.45) - 0.4*z + 2.2*x^1.5", NAMES), columns, {})
    fields = Fields(columns, y, 127)
    nearly = parse("c*x + a*tanh(k*x) - 0.4*z + 2.2*x^1.50000001", NAMES)
    values = {"c": -1e-9, "a": 0.2000000001, "k": 0.68965517}
    rest = fields.rest_of(evaluate(nearly, columns, values))
    fields.keep(Field(nearly, values, rest, fields.length_of(rest, 19, 200.0), ""))
    polish(fields, Floors())
    best = min(fields.found.values(), key=lambda one: one.length)
    assert to_text(best.structure, NAMES) == "0.2*tanh(k*x) - 0.4*z + 2.2*x^1.5"
    assert best.values["k"] == pytest.approx(1.0 / 1.45, rel=1e-13)
    assert best.rest <= best.rounding


def test_a_term_that_is_nothing_goes_with_all_numbers_inside_of_it() -> None:
    columns = rows(120)
    fields = Fields(columns, evaluate(parse("0.3*x - 0.7*z", NAMES), columns, {}), 127)
    nearly = parse("0.3*x - b*z + c*tanh(k*x)", NAMES)
    values = {"b": 0.7 + 1e-11, "c": 1e-12, "k": 0.3}
    rest = fields.rest_of(evaluate(nearly, columns, values))
    fields.keep(Field(nearly, values, rest, fields.length_of(rest, 19, 200.0), ""))
    polish(fields, Floors())
    best = min(fields.found.values(), key=lambda one: one.length)
    assert to_text(best.structure, NAMES) == "0.3*x - 0.7*z"
