"""Names, order, units and bystanders of the columns leave the law the same function."""

import numpy as np
import pytest
from proposers.found import found_in, values_of

from alder.arrays import FloatArray

NAMES = ("x", "v", "u")
OPERATORS = ("add", "mul", "exp")


def draw(seed: int, n: int = 30) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(0.5, 3.0, n) for name in NAMES}


def truth(columns: dict[str, FloatArray]) -> FloatArray:
    return 2.0 * columns["x"] * np.exp(-columns["v"] / 3.0) + columns["u"]


ROWS, ELSEWHERE = draw(1), draw(2)


@pytest.mark.parametrize("name", NAMES)
def test_the_unit_of_a_column_does_not_matter(name: str) -> None:
    rows, elsewhere = ({**c, name: 1e3 * c[name]} for c in (ROWS, ELSEWHERE))
    law = found_in({**rows, "y": truth(ROWS)}, OPERATORS)
    np.testing.assert_allclose(values_of(law, elsewhere), truth(ELSEWHERE), rtol=1e-8)


def test_names_of_columns_do_not_matter() -> None:
    names = {"x": "u", "v": "height", "u": "k2"}
    rows, elsewhere = ({names[n]: c[n] for n in NAMES} for c in (ROWS, ELSEWHERE))
    law = found_in({**rows, "y": truth(ROWS)}, OPERATORS)
    np.testing.assert_allclose(values_of(law, elsewhere), truth(ELSEWHERE), rtol=1e-8)


@pytest.mark.parametrize("order", [("x", "v", "u"), ("v", "u", "x"), ("u", "v", "x")])
def test_the_order_of_columns_does_not_matter(order: tuple[str, ...]) -> None:
    law = found_in({**{name: ROWS[name] for name in order}, "y": truth(ROWS)}, OPERATORS)
    np.testing.assert_allclose(values_of(law, ELSEWHERE), truth(ELSEWHERE), rtol=1e-8)


def test_a_column_that_has_nothing_to_do_with_it_does_not_matter() -> None:
    idle = np.random.default_rng(3).uniform(-5.0, 5.0, len(ROWS["x"]))
    law = found_in({"idle": idle, **ROWS, "y": truth(ROWS)}, OPERATORS)
    moved = {**ELSEWHERE, "idle": np.full(len(ELSEWHERE["x"]), 1e3)}
    np.testing.assert_allclose(values_of(law, moved), truth(ELSEWHERE), rtol=1e-8)
