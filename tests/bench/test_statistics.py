from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.bench.statistics import (
    bootstrap_interval,
    mcnemar_p,
    median_ratio,
    tally,
    wilcoxon_p,
)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_exact_binomial_test_of_discordant_pairs(wins: int, losses: int) -> None:
    n = wins + losses
    patterns = [comb(n, k) / 2**n for k in range(n + 1)]
    expected = sum(p for p in patterns if p <= patterns[wins] * (1.0 + 1e-9))
    assert mcnemar_p(wins, losses) == pytest.approx(expected)


def test_a_bootstrap_covers_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        values = rng.normal(size=40)
        low, high = bootstrap_interval(values, range(40), n_resamples=500)
        covered += low <= 0.0 <= high
    # 95 % of 200, four standard deviations either way, less what the percentile method loses.
    assert 170 <= covered <= 200


def test_copies_in_a_cluster_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(1).normal(size=20)
    once = bootstrap_interval(values, range(20))
    thrice = bootstrap_interval(np.repeat(values, 3), np.repeat(np.arange(20), 3).tolist())
    assert thrice == pytest.approx(once)


def test_the_same_values_give_the_same_interval() -> None:
    values = [0.0, 1.0, 1.0, 0.0]
    assert bootstrap_interval(values, "aabb") == bootstrap_interval(values, "aabb")


def test_pairs_that_never_differ_are_no_evidence() -> None:
    assert wilcoxon_p([1.0, 2.0], [1.0, 2.0]) == 1.0


def test_wilcoxon_sees_a_shift_in_every_pair() -> None:
    x = np.arange(1.0, 21.0)
    # Twenty differences of one sign: two of 2^20 sign patterns are as extreme.
    assert wilcoxon_p(x, 2.0 * x) == pytest.approx(2.0**-19)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_wins_ties_and_losses_are_all_pairs(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    counted, turned = tally(first, second), tally(second, first)
    assert counted.wins + counted.ties + counted.losses == len(pairs)
    assert (counted.wins, counted.losses) == (turned.losses, turned.wins)


def test_ratios_are_taken_pair_by_pair() -> None:
    assert median_ratio([1.0, 10.0, 300.0], [2.0, 100.0, 100.0]) == 0.5
    assert median_ratio([0.0], [0.0]) == 1.0
