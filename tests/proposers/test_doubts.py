"""What a law asks one to believe beyond the rows."""

import numpy as np
import pytest

from alder.expr.operators import Floors
from alder.expr.text import parse
from alder.proposers.search.doubts import doubts
from alder.proposers.search.table import Table
from alder.segments import Segments

N = 80
FLOORS = Floors()


@pytest.fixture(scope="module")
def table() -> Table:
    x = np.linspace(1.0, 2.0, N)
    empty = np.empty((N, 0))
    return Table({"x": x}, 3.0 / x, np.ones(N), empty, Segments.of(None), FLOORS, N)


def price(text: str, values: dict[str, float], table: Table) -> float:
    return doubts(parse(text, ("x",)), values, table)


@pytest.mark.parametrize("text", ["a*(b - x)^0.5", "a/(b - x)", "a*log(b - x)", "a*sqrt(b - x)"])
def test_a_law_that_ends_beside_the_rows_is_doubted_more(text: str, table: Table) -> None:
    near = price(text, {"a": 1.0, "b": 2.2}, table)
    far = price(text, {"a": 1.0, "b": 9.0}, table)
    assert near >= far + 3.0


def test_a_law_that_changes_sign_among_the_rows_is_not_blamed_for_what_is_beyond(
    table: Table,
) -> None:
    among = price("a/(x - b)", {"a": 1.0, "b": 1.5}, table)
    assert among == price("a/x", {"a": 1.0}, table)


def test_usual_exponents_cost_less_than_unusual_ones(table: Table) -> None:
    prices = [price(f"a*x^({p})", {"a": 1.0}, table) for p in (-1, -2, -4.5)]
    assert prices == sorted(prices)
    assert prices[-1] > prices[0] + 1.0


def test_terms_that_cancel_one_another_cost_more(table: Table) -> None:
    plain = price("a*x + b*x^2", {"a": 1.0, "b": -0.2}, table)
    large = price("a*x + b*x^2", {"a": 400.0, "b": -399.0}, table)
    assert large > plain + 5.0
