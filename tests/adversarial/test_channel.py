"""The verifier's answers as a channel: what they tell of protected outcomes is bounded."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.bench.benchmark import Row
from alder.bench.channel.run import (
    METHODS,
    Setting,
    ceiling,
    conversation_bits,
    figures,
    table,
    told,
    trial,
)
from alder.records.verdict import Category
from alder.verification.criteria import Criteria
from alder.verification.spending import REVEALING, AlphaSpending, Naive, level
from alder.verification.structure import signed_rank_p

N_LAWS = 40
FEW = 64


def small(name: str, number: int = 0) -> Row:
    return trial(METHODS[name], np.random.default_rng([3, number]), N_LAWS)


def test_an_attacker_reads_a_bit_of_every_answer_where_reuse_is_not_paid_for() -> None:
    row = small("naive")
    assert row["read"] == row["right"] >= N_LAWS - 4


def test_alpha_spending_ends_what_answers_tell_before_the_rows_are_known() -> None:
    paid, free = (Setting(rule, Criteria(), n_rows=FEW) for rule in (AlphaSpending(), Naive()))
    for number in range(4):
        rows = [trial(one, np.random.default_rng([5, number]), FEW) for one in (paid, free)]
        assert rows[1]["right"] == FEW - 2  # all but the two that calibrate
        assert 0 < rows[0]["right"] < FEW / 2
        assert rows[0]["conversation_bits"] <= ceiling(paid)


@pytest.mark.parametrize("name", METHODS)
def test_no_attack_reads_more_than_its_answers_can_tell(name: str) -> None:
    row = small(name)
    assert row["right"] <= row["conversation_bits"]
    assert row["right"] <= row["ceiling_bits"]


@given(st.lists(st.sampled_from(REVEALING[:3]), max_size=150), st.sampled_from([16, 40, 64, 128]))
def test_no_conversation_longer_than_the_ceiling_leads_to_another_answer(
    answers: list[Category], n_rows: int
) -> None:
    """Whatever was answered: as long as any law can pass, little was told."""
    setting = Setting(AlphaSpending(), Criteria(), n_rows=n_rows)
    can_pass = level(setting.spending, answers) / 2.0 >= signed_rank_p(np.ones(n_rows))
    assert not can_pass or max(
        conversation_bits([*answers, answer]) for answer in REVEALING
    ) <= ceiling(setting, 1000)


@pytest.mark.parametrize("n_answers", [1, 3, 5])
def test_conversation_lengths_are_those_of_a_code(n_answers: int) -> None:
    """Kraft: lengths whose powers of a half sum to one are at least the entropy on average."""
    shares = [
        2.0 ** -conversation_bits(answers)
        for answers in itertools.product(REVEALING, repeat=n_answers)
    ]
    assert sum(shares) == pytest.approx(1.0)


def test_readings_that_are_wrong_half_the_time_tell_nothing() -> None:
    assert told(100.0, 2000, 4000) == pytest.approx(0.0, abs=0.05)
    assert told(100.0, 0, 10**7) == pytest.approx(100.0, rel=1e-4)


def test_a_trial_that_failed_counts_as_told() -> None:
    rows = [small("alpha-spending", n) for n in range(3)]
    failed: Row = {"case": "trial-0000", "method": "naive", "error": "it crashed"}
    assert figures([*rows, failed])["bits_read"] > figures(rows)["bits_read"]
    assert figures([failed])["failed"] == 1.0


def test_the_table_has_a_line_for_each_method() -> None:
    found = {"alpha-spending": figures([small("alpha-spending")])}
    assert len(table([], found)) == 2


def test_a_coin_a_submission_is_the_ceiling_without_spending() -> None:
    assert ceiling(METHODS["naive"], 100) == pytest.approx(100.0 * math.log2(3.0))
