"""Literal exponents as parameters: the same law, and how it moves with its exponents."""

import numpy as np
import pytest

from alder.expr.evaluate import evaluate, jacobian
from alder.expr.loosen import literal_exponents, loosen
from alder.expr.operators import Floors
from alder.expr.text import parse

COLUMNS = {"r": np.linspace(0.4, 3.0, 40), "v": np.linspace(-2.0, 2.0, 40)}


@pytest.mark.parametrize("text", ["k*r^-1.37 + c*v^2", "k*(r + s)^-2*v", "k*v^3 - r^0.25"])
def test_a_loosened_law_says_the_same(text: str) -> None:
    law = parse(text, ["r", "v"])
    values = {"k": 2.3, "c": -0.4, "s": 0.3}
    loose, names = loosen(law, literal_exponents(law))
    moved = {**values, **dict.fromkeys(names, 0.0)}
    assert np.array_equal(evaluate(loose, COLUMNS, moved), evaluate(law, COLUMNS, values))


def test_the_slope_by_an_exponent_is_that_of_the_law_with_another_exponent() -> None:
    law = parse("k*(r + 0.3)^-1.4", ["r"])
    loose, (name,) = loosen(law, [-1.4])
    _, slopes = jacobian(loose, COLUMNS, {"k": 2.0, name: 0.0}, [name], Floors())
    sides = [
        evaluate(parse(f"k*(r + 0.3)^{n}", ["r"]), COLUMNS, {"k": 2.0}) for n in (-1.399, -1.401)
    ]
    assert slopes[:, 0] == pytest.approx((sides[0] - sides[1]) / 0.002, rel=1e-5)


def test_only_the_named_exponents_move_and_each_power_by_itself() -> None:
    law = parse("r^2 + (r + 1)^2 + v^3", ["r", "v"])
    assert literal_exponents(law) == (2.0, 3.0)
    assert len(loosen(law, [2.0])[1]) == 2
    assert loosen(law, []) == (law, ())
