"""Rows that make up one observation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.segments import (
    Segments,
    numbered_through,
    observation_names,
    only_whole,
    require_agreement,
)

NAMES = st.lists(st.integers(-3, 3), min_size=1, max_size=30).map(
    lambda names: np.array(names, dtype=np.float64)
)


def in_order(names: FloatArray) -> list[float]:
    """The names in the order in which they are met."""
    return list(dict.fromkeys(names.tolist()))


@given(NAMES, st.integers(0, 3))
def test_sums_are_those_of_a_loop_over_the_rows(names: FloatArray, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(len(names), 2))
    brute = [np.sum(values[names == name], axis=0) for name in in_order(names)]
    segments = Segments.of(names)
    np.testing.assert_allclose(segments.total(values), brute, atol=1e-12)
    np.testing.assert_allclose(segments.total(values[:, 0]), np.array(brute)[:, 0], atol=1e-12)
    assert segments.count(len(names)) == len(brute)


@given(NAMES)
def test_each_row_knows_the_number_of_its_observation(names: FloatArray) -> None:
    segments = Segments.of(names)
    met = np.array(in_order(names))
    np.testing.assert_array_equal(met[segments.number(len(names))], names)
    np.testing.assert_array_equal(segments.first(names), met)
    np.testing.assert_allclose(segments.mean(names), met)


@given(NAMES, st.randoms(use_true_random=False))
def test_observations_in_another_order_keep_their_rows(names: FloatArray, random: object) -> None:
    segments = Segments.of(names)
    n = segments.count(len(names))
    chosen = np.random.default_rng(hash(random) % 2**32).permutation(n)
    rows, kept = segments.take(chosen)
    assert sorted(rows.tolist()) == list(range(len(names)))
    np.testing.assert_array_equal(kept.first(names[rows]), segments.first(names)[chosen])
    assert kept.agree(names[rows])


def test_without_names_every_row_is_an_observation() -> None:
    values = np.arange(3.0)
    segments = Segments.of(None)
    assert segments.total(values) is values
    assert segments.count(3) == 3
    assert segments.number(3).tolist() == [0, 1, 2]
    assert segments.take(np.array([2, 0]))[0].tolist() == [2, 0]


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_no_two_tables_share_an_observation(tables: list[FloatArray]) -> None:
    found = numbered_through(tables)
    parts = np.split(found, np.cumsum([len(table) for table in tables])[:-1])
    for table, part in zip(tables, parts, strict=True):
        assert len(set(part)) == len(set(table))
        assert Segments.of(table).agree(part)
    assert sum(len(set(part)) for part in parts) == len(set(found))


@given(NAMES, st.data())
def test_an_observation_that_misses_a_row_is_left_out(
    names: FloatArray, data: st.DataObject
) -> None:
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names))))
    whole = only_whole(names, keep)
    for name in set(names):
        rows = names == name
        assert (whole[rows] == keep[rows].all()).all()


def test_names_may_be_text() -> None:
    assert observation_names({"o": ["b", "a", "b"]}, "o").tolist() == [0.0, 1.0, 0.0]


def test_a_row_without_a_name_is_refused() -> None:
    with pytest.raises(BadTable, match="row 2 has none"):
        observation_names({"o": [1.0, np.nan]}, "o")


def test_rows_of_one_sum_share_its_value() -> None:
    segments = Segments.of(np.array([1.0, 1.0, 2.0]))
    require_agreement(segments, np.array([5.0, 5.0, 6.0]), "a")
    with pytest.raises(BadTable, match="must share `a`"):
        require_agreement(segments, np.array([5.0, 5.1, 6.0]), "a")
