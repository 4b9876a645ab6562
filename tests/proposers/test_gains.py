"""Closed-form gains against least squares."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from proposers.evidence import evidence

from alder.arrays import FloatArray
from alder.proposers.search.gains import block_squares, frame
from alder.proposers.search.table import Table, read_table
from alder.records.grammar import Grammar
from alder.records.variable import Variable

N_ROWS = 40


def table_of(rng: np.random.Generator) -> Table:
    columns = {name: rng.standard_normal(N_ROWS) for name in ("x", "y")}
    return read_table(evidence(table=columns, grammar=Grammar([Variable("x")], Variable("y"))))


def left(table: Table, columns: FloatArray) -> float:
    """Return the sum of squares that least squares leaves beside a constant."""
    design = np.vstack([np.ones((1, N_ROWS)), columns]).T
    solution = np.linalg.lstsq(design, table.target, rcond=None)[0]
    return float(np.sum(np.square(table.target - design @ solution)))


@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(1, 5))
def test_the_gain_of_a_block_is_that_of_least_squares(seed: int, there: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(rng)
    known = rng.standard_normal((there, N_ROWS))
    columns = rng.standard_normal((3, N_ROWS))
    others = rng.standard_normal((block, N_ROWS))
    gains = frame(table, known).block_gains(columns, others, block_squares(columns, others, table))
    for gain, column in zip(gains, columns, strict=True):
        expected = left(table, known) - left(table, np.vstack([known, column * others]))
        np.testing.assert_allclose(gain, expected, rtol=1e-5, atol=1e-7)


@given(st.integers(0, 2**32), st.integers(0, 4))
def test_the_gain_of_a_column_is_that_of_least_squares(seed: int, there: int) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(rng)
    known, columns = rng.standard_normal((there, N_ROWS)), rng.standard_normal((3, N_ROWS))
    expected = [left(table, known) - left(table, np.vstack([known, c])) for c in columns]
    np.testing.assert_allclose(frame(table, known).gains(columns), expected, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 2**32))
def test_a_column_that_is_there_already_gains_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(rng)
    known = rng.standard_normal((3, N_ROWS))
    inside = rng.standard_normal((1, 3)) @ known
    assert frame(table, known).gains(inside)[0] == 0.0
