"""Laws that are no sum are found exactly, behind an inverse of the target."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from proposers.found import found_in, values_of

from alder.arrays import FloatArray
from alder.expr.canonical import canonical, skeleton_digest
from alder.expr.text import parse

Columns = Mapping[str, FloatArray]


def draw(seed: int, n: int, **decades: tuple[float, float]) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    return {name: 10.0 ** rng.uniform(*ends, n) for name, ends in decades.items()}


def product_of_powers(c: Columns) -> FloatArray:
    return 3.0 * c["x"] ** 1.5 * c["w"] / c["v"] ** 2


def root_of_squares(c: Columns) -> FloatArray:
    return np.sqrt(4.0 * c["x"] ** 2 + c["v"] ** 2)


def arcsine_of_product(c: Columns) -> FloatArray:
    return np.arcsin(c["x"] * c["v"])


@pytest.mark.parametrize(
    ("law", "decades", "operators", "text"),
    [
        (
            product_of_powers,
            {"x": (-1.0, 1.0), "v": (0.0, 2.0), "w": (0.0, 3.0)},
            ("add", "mul", "div", "pow"),
            "a*x^1.5*v^(-2)*w",
        ),
        (
            root_of_squares,
            {"x": (-0.3, 0.5), "v": (-0.3, 0.5)},
            ("add", "mul", "sqrt", "pow"),
            "sqrt(a*x^2 + b*v^2)",
        ),
        (
            arcsine_of_product,
            {"x": (-1.0, 0.0), "v": (-1.0, 0.0)},
            ("add", "mul", "asin"),
            "asin(a*(x*v))",
        ),
    ],
    ids=["a product of powers over decades", "a root of a sum of squares", "asin of a product"],
)
def test_a_law_that_is_no_sum_is_found_exactly(
    law: Callable[[Columns], FloatArray],
    decades: dict[str, tuple[float, float]],
    operators: tuple[str, ...],
    text: str,
) -> None:
    columns = draw(1, 30, **decades)
    found = found_in({**columns, "y": law(columns)}, operators)
    elsewhere = draw(2, 50, **decades)
    np.testing.assert_allclose(values_of(found, elsewhere), law(elsewhere), rtol=1e-9)
    expected = canonical(parse(text, tuple(columns)))
    assert skeleton_digest(canonical(found.structure)) == skeleton_digest(expected)
