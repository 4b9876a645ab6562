"""Laws behind symmetries, or that are ratios of sums, are found and fitted to the rows."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from proposers.evidence import evidence
from proposers.found import found_in, values_of

from alder.arrays import FloatArray
from alder.expr.nodes import Var
from alder.expr.text import parse
from alder.proposers.search.algebra import shortened
from alder.proposers.search.implicit import ratios
from alder.proposers.search.laws import Fitter
from alder.proposers.search.reduction import Ground, Reduced, beyond, early, reductions
from alder.proposers.search.table import Table, read_table
from alder.proposers.search.watch import Watch
from alder.records.grammar import Grammar
from alder.records.variable import Variable

Columns = Mapping[str, FloatArray]
OPERATORS = ("add", "sub", "mul", "div", "pow", "sqrt", "exp", "log", "sin", "cos")


def draw(seed: int, names: str, n: int = 120) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(1.0, 4.0, n) for name in names}


def table_of(columns: Columns, y: FloatArray) -> Table:
    grammar = Grammar([Variable(name) for name in columns], Variable("y"))
    return read_table(evidence(table={**columns, "y": y}, grammar=grammar))


def peak_of_a_difference(c: Columns) -> FloatArray:
    return c["c"] / (c["d"] ** 2 + 2.0 * (c["a"] - c["b"]) ** 2)


def root_with_a_wave(c: Columns) -> FloatArray:
    return c["c"] * np.sqrt(c["a"] ** 2 + c["b"] ** 2 + c["a"] * c["b"] * np.sin(c["d"]))


@pytest.mark.parametrize("law", [peak_of_a_difference, root_with_a_wave])
def test_a_law_of_four_variables_is_found_through_its_symmetries(
    law: Callable[[Columns], FloatArray],
) -> None:
    columns = draw(1, "abcd")
    table = table_of(columns, law(columns))
    fitter = Fitter(table, 31)
    found = beyond(Ground(table, {}, set(OPERATORS)), [], fitter, Watch())
    assert any(fitter.is_exact(one.rss) for one in found)


def test_symmetries_reduce_a_noisy_table() -> None:
    columns = draw(2, "abcd")
    noise = np.random.default_rng(3).normal(0.0, 0.002, 120)
    table = table_of(columns, peak_of_a_difference(columns) + noise)
    start = Reduced(table, {}, {name: Var(name) for name in columns})
    smallest = reductions(start, set(OPERATORS), Watch())[-1]
    assert len(smallest.table.columns) < 4


def saturated(c: Columns) -> FloatArray:
    return (2.0 * c["a"] + c["b"]) / (1.0 + 0.3 * c["a"] * c["b"])


@pytest.mark.parametrize("noise", [0.0, 0.003])
def test_a_ratio_of_sums_is_found(noise: float) -> None:
    columns = draw(4, "ab")
    y = saturated(columns) + np.random.default_rng(5).normal(0.0, noise, 120)
    table = table_of(columns, y)
    best = ratios(table, set(OPERATORS), Fitter(table, 31))[0]
    assert best.rss / table.n <= 1.1 * noise**2 + 1e-20


def test_a_table_that_a_law_explains_is_not_reduced() -> None:
    columns = draw(6, "ab")
    noise = np.random.default_rng(7).normal(0.0, 0.05, 120)
    table = table_of(columns, saturated(columns) + noise)
    fitter = Fitter(table, 31)
    known = ratios(table, set(OPERATORS), fitter)
    before = fitter.fits
    assert beyond(Ground(table, {}, set(OPERATORS)), known, fitter, Watch()) == []
    assert fitter.fits == before


def test_reductions_of_a_noisy_table_wait() -> None:
    columns = draw(11, "ab")
    noise = np.random.default_rng(12).normal(0.0, 0.05, 120)
    table = table_of(columns, saturated(columns) + noise)
    assert early(Ground(table, {}, set(OPERATORS)), [], Fitter(table, 31), Watch()) == []


def test_the_unit_of_a_column_does_not_matter_to_a_reduction() -> None:
    rows, elsewhere = draw(8, "abc"), draw(9, "abc")

    def law(c: Columns) -> FloatArray:
        return c["c"] / np.sqrt(2.0 + c["a"] / c["b"])

    moved, far = ({**c, "c": 1e3 * c["c"], "a": 1e-2 * c["a"]} for c in (rows, elsewhere))
    found = found_in({**moved, "y": law(rows)}, OPERATORS)
    np.testing.assert_allclose(values_of(found, far), law(elsewhere), rtol=1e-8)


@pytest.mark.parametrize(
    ("long", "short"),
    [("t*(x/t - u)", "x - u*t"), ("(x/t)/(u/t)", "x/u"), ("t*(x/t)^2", "x^2/t")],
)
def test_products_are_gathered(long: str, short: str) -> None:
    names = ("t", "x", "u")
    made = shortened(parse(long, names), set(OPERATORS))
    assert made == parse(short, names)


def test_a_sum_over_the_root_of_another_is_found() -> None:
    columns = draw(10, "ab")
    y = (3.0 + columns["a"]) / np.sqrt(1.0 + 0.5 * columns["b"] ** 2)
    table = table_of(columns, y)
    fitter = Fitter(table, 31)
    assert fitter.is_exact(ratios(table, set(OPERATORS), fitter)[0].rss)
