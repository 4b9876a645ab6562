import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.records.law import Law
from alder.records.verdict import Category
from alder.verification.admit import Sealed, admit, error_bound
from alder.verification.criteria import Criteria, Reference, Thresholds
from alder.verification.spending import AlphaSpending, Spending, Thresholdout
from alder.verification.terms import Terms
from verification.cases import SIGMA, TERMS, TRUE, WRONG, law_of, observed


def sealed(
    criteria: Criteria | None = None,
    spending: Spending | None = None,
    rows: Mapping[str, Mapping[str, FloatArray]] | None = None,
    sigma: str | None = None,
) -> Sealed:
    rng = np.random.default_rng(0)
    tables = rows or {"admission": observed(rng, 80), "shift": observed(rng, 80, 2.0, 4.0)}
    terms = Terms(
        TERMS.variables,
        TERMS.target,
        TERMS.references,
        criteria or Criteria(),
        spending or AlphaSpending(),
        sigma,
    )
    return Sealed(tables, terms)


def answer(law: Law, where: Sealed | None = None) -> Category:
    return admit(where or sealed(), law, []).category


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (TRUE, "accept"),
        (WRONG, "inaccurate"),
        (law_of("a", {"a": 3.0}), "no-better-than-reference"),
        (law_of("a + b*y", {"a": 0.0, "b": 1.0}, variables=("x", "y")), "invalid"),
        (law_of("a + b*q", {"a": 0.0, "b": 1.0}, variables=("x", "q")), "invalid"),
        (law_of("a + b*x", {"a": 1.0, "b": 2.0}, target="z"), "invalid"),
        (law_of("a + b*x", {"a": float("nan"), "b": 2.0}), "invalid"),
        (law_of("exp(exp(a*x))", {"a": 9.0}), "unstable"),
        (law_of("a + b*min(x, 2)", {"a": 1.0, "b": 2.0}), "fails-under-shift"),
    ],
)
def test_every_fault_has_its_category(law: Law, expected: Category) -> None:
    assert answer(law) == expected


def test_a_law_of_too_many_nodes_is_too_complex() -> None:
    assert answer(TRUE, sealed(Criteria(max_nodes=4))) == "too-complex"
    assert answer(TRUE, sealed(Criteria(max_nodes=5))) == "accept"


def test_a_law_of_events_needs_events() -> None:
    assert answer(dataclasses.replace(TRUE, objective="events")) == "invalid"


def events(rng: np.random.Generator) -> dict[str, FloatArray]:
    x = rng.uniform(-3.0, 3.0, 120)
    return {"x": x, "u": x, "y": np.where(x + 0.1 * rng.normal(size=120) > 0.0, 1.0, 0.0)}


@pytest.mark.parametrize(
    ("slope", "expected"), [(5.0, "accept"), (-5.0, "no-better-than-reference")]
)
def test_events_are_judged_by_hits(slope: float, expected: Category) -> None:
    law = dataclasses.replace(law_of("a*x", {"a": slope}), objective="events")
    rows = {"admission": events(np.random.default_rng(0))}
    verdict = admit(sealed(rows=rows), law, [])
    assert verdict.category == expected
    assert verdict.bound is None or verdict.bound < 0.6


def test_events_told_badly_are_inaccurate() -> None:
    law = dataclasses.replace(law_of("a*x + b", {"a": 5.0, "b": 8.0}), objective="events")
    where = sealed(rows={"admission": events(np.random.default_rng(0))})
    assert answer(law, where) == "inaccurate"


def test_fixed_limits_replace_the_tests_against_noise() -> None:
    loose, tight = Thresholds(0.05), Thresholds(0.001)
    assert answer(WRONG, sealed(Criteria(thresholds=Thresholds(0.5)))) == "accept"
    assert answer(TRUE, sealed(Criteria(thresholds=loose))) == "accept"
    assert answer(TRUE, sealed(Criteria(thresholds=tight))) == "inaccurate"
    assert answer(TRUE, sealed(Criteria(thresholds=Thresholds(0.05, 1e-4)))) == "fails-under-shift"
    greedy = Thresholds(0.05, improvement=0.9999)
    assert answer(TRUE, sealed(Criteria(thresholds=greedy))) == "no-better-than-reference"


def test_a_line_that_is_reference_is_no_discovery() -> None:
    line = dataclasses.replace(TERMS, references=(Reference(1.0, {"x": 2.0}),))
    where = Sealed(sealed().rows, line)
    assert answer(TRUE, where) == "no-better-than-reference"


def test_error_bars_of_protected_rows_are_believed() -> None:
    rows = observed(np.random.default_rng(0), 80)
    told = {**rows, "s": np.full(80, SIGMA)}
    modest = law_of("a + b*x", {"a": 1.0, "b": 2.0}, noise=SIGMA / 3.0)
    assert answer(modest, sealed(rows={"admission": rows})) == "inaccurate"
    assert answer(modest, sealed(rows={"admission": told}, sigma="s")) == "accept"


def test_a_spent_verifier_says_only_that() -> None:
    where = sealed(spending=AlphaSpending(submissions=1))
    assert admit(where, TRUE, ["inaccurate"]).category == "budget-spent"


def test_the_bound_grows_with_what_was_answered_before() -> None:
    first = admit(sealed(), TRUE, []).bound
    later = admit(sealed(), TRUE, ("inaccurate",) * 10).bound
    assert first is not None
    assert later is not None
    assert SIGMA < first < later


def test_errors_under_shift_have_a_bound_of_their_own() -> None:
    rng = np.random.default_rng(1)
    rows = {"admission": observed(rng, 80), "shift": observed(rng, 80, 2.0, 4.0)}
    rows["shift"]["y"] = rows["shift"]["y"] + rng.normal(0.0, 0.5 * SIGMA, 80)
    verdict = admit(sealed(rows=rows), TRUE, [])
    assert verdict.bound is not None
    assert verdict.shift_bound is not None
    assert verdict.bound < verdict.shift_bound
    assert admit(sealed(rows={"admission": rows["admission"]}), TRUE, []).shift_bound is None


def test_the_bound_holds_as_often_as_it_says() -> None:
    rng, alpha, n_trials = np.random.default_rng(0), 0.05, 1000
    broken = sum(error_bound(rng.normal(size=30), alpha) < 1.0 for _ in range(n_trials))
    assert broken <= n_trials * alpha + 3.0 * (n_trials * alpha * (1.0 - alpha)) ** 0.5


def test_the_bound_is_wider_for_heavy_tails() -> None:
    plain = np.ones(50)
    heavy = np.where(np.arange(50) == 0, 7.0, 0.1)
    widening = [error_bound(e, 0.01) / float(np.sqrt(np.mean(e**2))) for e in (plain, heavy)]
    assert widening[0] < widening[1] < float("inf")
    assert error_bound(np.zeros(5), 0.01) == 0.0


def test_noise_of_the_reusable_holdout_depends_on_the_secret() -> None:
    rows = sealed().rows
    terms = dataclasses.replace(TERMS, spending=Thresholdout(scale=10.0))
    answers = {admit(Sealed(rows, terms, bytes([i])), TRUE, []).category for i in range(30)}
    assert "accept" in answers
    assert len(answers) > 1
    again = [admit(Sealed(rows, terms, b"x"), TRUE, []) for _ in range(2)]
    assert again[0] == again[1]
