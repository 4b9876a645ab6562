"""Subsets of columns by description length."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.fitting.subsets import Normal, choose, solve


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_exchange_of_one_column_is_better_than_what_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 7)) @ (np.eye(7) + 0.4 * rng.normal(size=(7, 7)))
    y = X @ (rng.normal(size=7) * (rng.uniform(size=7) < 0.4)) * 3.0 + rng.normal(size=60)
    normal, costs = Normal.of(X, y), rng.uniform(2.0, 6.0, size=7)
    found = choose(normal, costs)
    for n_columns in range(8):
        for columns in combinations(range(7), n_columns):
            away, into = set(found.columns) - set(columns), set(columns) - set(found.columns)
            if len(away) <= 1 and len(into) <= 1:
                assert found.length <= solve(normal, columns, costs).length + 1e-6


def test_strong_columns_are_found_and_idle_ones_left_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = 3.0 * X[:, 4] - 2.0 * X[:, 17] + rng.normal(size=200)
    found = choose(Normal.of(X, y), np.full(30, 12.0))
    assert sorted(found.columns) == [4, 17]
    assert dict(zip(found.columns, found.coefficients, strict=True))[4] == pytest.approx(
        3.0, abs=0.3
    )


def test_a_barred_column_is_never_chosen_and_the_most_is_kept() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 5))
    y = 10.0 * X.sum(axis=1)
    costs = np.array([1.0, np.inf, 1.0, 1.0, 1.0])
    found = choose(Normal.of(X, y), costs, most=2)
    assert len(found.columns) == 2
    assert 1 not in found.columns
