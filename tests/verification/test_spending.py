import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadStudy
from alder.records.verdict import Category
from alder.verification.criteria import Reference
from alder.verification.spending import (
    OWN,
    REVEALING,
    AlphaSpending,
    Naive,
    Spending,
    Thresholdout,
    is_spent,
    level,
    spending_from_json,
    spending_to_json,
)
from alder.verification.terms import Terms

SETTINGS: tuple[Spending, ...] = (AlphaSpending(), Thresholdout(), Naive())
categories = st.lists(st.sampled_from(REVEALING), max_size=30)


@pytest.mark.parametrize("possible", [REVEALING, (*REVEALING, OWN)])
def test_all_conversations_together_spend_no_more_than_alpha(
    possible: tuple[Category, ...],
) -> None:
    spent = [
        sum(
            level(AlphaSpending(0.05), answers, possible)
            for answers in itertools.product(possible, repeat=n)
        )
        for n in range(5)
    ]
    expected = [0.05 * 6.0 / (math.pi * k) ** 2 for k in range(1, 6)]
    assert spent == pytest.approx(expected)


@given(categories)
def test_every_answer_leaves_less(answers: list[Category]) -> None:
    before = level(AlphaSpending(), answers)
    assert all(0.0 < level(AlphaSpending(), [*answers, c]) < before for c in REVEALING)


def test_monotonous_answers_are_cheaper_than_varied_ones() -> None:
    same: list[Category] = ["inaccurate"] * 20
    mixed: list[Category] = ["inaccurate", "no-better-than-reference"] * 10
    assert level(AlphaSpending(), same) > 1e3 * level(AlphaSpending(), mixed)


@given(categories)
def test_what_needs_no_outcomes_costs_nothing(answers: list[Category]) -> None:
    free: list[Category] = ["invalid", "too-complex", "unstable"]
    assert level(AlphaSpending(), [*free, *answers]) == level(AlphaSpending(), answers)


def test_a_long_conversation_still_has_a_level_above_zero() -> None:
    answers: list[Category] = ["inaccurate", "no-better-than-reference", "fails-under-shift"] * 400
    assert level(AlphaSpending(), answers) > 0.0


def test_naive_reuse_pays_nothing() -> None:
    assert level(Naive(0.05), ("inaccurate",) * 50) == 0.05


def test_budgets_end() -> None:
    refused: list[Category] = ["inaccurate"] * 3
    assert is_spent(AlphaSpending(submissions=3), refused)
    assert is_spent(Naive(submissions=3), refused)
    assert is_spent(Thresholdout(refusals=3), refused)
    assert not is_spent(Thresholdout(refusals=3), ["invalid", "accept", "inaccurate", "inaccurate"])


@pytest.mark.parametrize("spending", SETTINGS)
def test_settings_and_terms_round_trip(spending: Spending) -> None:
    assert spending_from_json(spending_to_json(spending)) == spending
    terms = Terms(("x",), "y", (Reference(1.0, {"x": 2.0}),), spending=spending, sigma="s")
    assert Terms.from_json(terms.to_json()) == terms
    assert terms.columns == ("x", "y", "s")


def test_terms_differ_in_their_digest_where_they_differ() -> None:
    digests = {Terms(("x",), "y", (Reference(1.0),), spending=s).digest for s in SETTINGS}
    assert len(digests) == len(SETTINGS)


def test_terms_that_admit_everything_are_refused() -> None:
    with pytest.raises(BadStudy, match="alpha"):
        Terms(("x",), "y", (Reference(1.0),), spending=AlphaSpending(1.5))
    with pytest.raises(BadStudy, match="reference"):
        Terms(("x",), "y", ())
