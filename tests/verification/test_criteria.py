import dataclasses
import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.consistency import Errors, Whitening, errors_of
from alder.errors import BadStudy
from alder.verification.criteria import (
    Criteria,
    Reference,
    Thresholds,
    balanced_accuracy,
    consistency_p,
    improvement_p,
    is_negligible,
    is_vague,
    linear_reference,
    nmse,
    removes_share,
    with_doubt,
)
from alder.verification.stability import is_finite, is_stable
from alder.verification.structure import neighbour_p, polynomial_p, rank_sum_p, signed_rank_p
from verification.cases import SIGMA, TRUE, law_of, least_squares, observed

stats: Any = importlib.import_module("scipy.stats")  # the oracle; it has no types


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def inputs(rows: dict[str, FloatArray]) -> dict[str, FloatArray]:
    return {name: rows[name] for name in ("x", "u")}


@pytest.mark.parametrize(("n_fit", "n_new"), [(10, 40), (30, 150)])
def test_a_true_law_is_consistent_as_often_as_promised(n_fit: int, n_new: int) -> None:
    draws, level, n_trials = rng(n_fit), 0.05, 600
    refused = 0
    for _ in range(n_trials):
        law, rows = least_squares(observed(draws, n_fit)), observed(draws, n_new)
        refused += consistency_p(errors_of(law, rows), inputs(rows)) < level
    # At most the level, since four tests share it; three standard deviations of slack.
    assert refused <= n_trials * level + 3.0 * (n_trials * level * (1.0 - level)) ** 0.5


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_tests_of_structure_hold_their_level_whatever_the_noise(size: float) -> None:
    draws, n_trials, level = rng(1), 400, 0.05
    hits = np.zeros(2)
    for _ in range(n_trials):
        columns = {"x": draws.standard_cauchy(60), "u": draws.normal(size=60)}
        z = size * draws.normal(size=60)
        white = Whitening(np.zeros((60, 1)), np.zeros(1))
        hits += [
            polynomial_p(z, columns, columns["x"], white) < level,
            neighbour_p(z, columns) < level,
        ]
    slack = 3.5 * (n_trials * level * (1.0 - level)) ** 0.5
    assert (np.abs(hits - n_trials * level) <= slack).all()


def test_a_law_that_is_wrong_everywhere_is_not_saved_by_the_noise_it_states() -> None:
    rows = observed(rng(), 100)
    line = law_of("a", {"a": 3.0}, noise=50.0)
    assert consistency_p(errors_of(line, rows), inputs(rows)) < 1e-6


def test_a_ripple_under_generous_noise_is_found_by_neighbours() -> None:
    rows = observed(rng(), 300)
    rows["y"] = rows["y"] + np.sin(40.0 * rows["x"])
    generous = dataclasses.replace(TRUE, noise=dataclasses.replace(TRUE.noise, additive=3.0))
    only_x = {"x": rows["x"]}
    assert consistency_p(errors_of(generous, rows), only_x) < 1e-4


def test_one_huge_row_does_not_hide_structure_elsewhere() -> None:
    rows = observed(rng(), 100)
    rows["y"][0] = 1e9
    wrong = law_of("a + b*x", {"a": 1.0, "b": 2.6}, noise=1e8)
    assert consistency_p(errors_of(wrong, rows), inputs(rows)) < 1e-4


def test_errors_that_coefficients_explain_are_forgiven_and_others_are_not() -> None:
    rows = observed(rng(), 100)
    known = law_of("a + b*x", {"a": 1.1, "b": 2.0})
    unsure = law_of("a + b*x", {"a": 1.1, "b": 2.0}, covariance=np.diag([0.01, 0.0]))
    assert consistency_p(errors_of(known, rows), inputs(rows)) < 1e-6
    assert consistency_p(errors_of(unsure, rows), inputs(rows)) > 0.05


def test_a_law_with_as_many_coefficients_as_rows_is_consistent_with_nothing() -> None:
    rows = observed(rng(), 50)
    law = law_of("a + b*x", {"a": 1.0, "b": 2.0}, df=0)
    assert consistency_p(errors_of(law, rows), inputs(rows)) == 0.0


def test_noise_estimated_in_two_parts_is_believed_less() -> None:
    rows = observed(rng(), 50, 0.0, 2.0)
    noise = dataclasses.replace(TRUE.noise, additive=0.0, proportional=0.1)
    law = dataclasses.replace(TRUE, noise=noise)
    errors = errors_of(law, rows)
    doubted = with_doubt(errors, law)
    assert doubted.df == 12
    assert float(doubted.noise.min()) == pytest.approx(0.5 * float(np.median(errors.noise)))
    assert with_doubt(errors, TRUE) is errors


def test_the_mean_is_beaten_by_a_law_and_not_by_itself() -> None:
    rows = observed(rng(), 40)
    mean = Reference(3.0).predict(rows, 40)
    assert improvement_p(errors_of(TRUE, rows), mean, 0.05) < 1e-6
    itself = errors_of(law_of("a", {"a": 3.0}), rows)
    assert improvement_p(itself, mean, 0.0) == 1.0
    assert not removes_share(itself, mean, 0.05)


def test_improvement_on_a_few_huge_rows_is_none() -> None:
    rows = observed(rng(), 100)
    rows["y"] = rng(1).normal(size=100)
    rows["y"][:3] = 1e6
    rows["x"][:3] = 1e6
    law = law_of("a*max(x - 100, 0)", {"a": 1.0})
    mean = Reference(0.0).predict(rows, 100)
    assert removes_share(errors_of(law, rows), mean, 0.5)
    assert improvement_p(errors_of(law, rows), mean, 0.0) > 0.01


def test_a_line_is_a_reference_too() -> None:
    rows = observed(rng(), 200)
    line = linear_reference(rows, ("x", "u"), "y")
    assert line.slopes["x"] == pytest.approx(2.0, abs=0.1)
    assert improvement_p(errors_of(TRUE, rows), line.predict(rows, 200), 0.05) > 0.5


def test_a_saturated_value_is_not_finite() -> None:
    rows = observed(rng(), 10)
    assert is_finite(TRUE, errors_of(TRUE, rows))
    high = law_of("exp(exp(a*x))", {"a": 10.0})
    assert not is_finite(high, errors_of(high, rows))


@pytest.mark.parametrize(
    "text",
    [
        "x + 0.0001*a/(x - 1.0345)",
        "x + 0.0001*a/(x - 1.0345)^2",
        "a*(x - 1.0345)^-2",
        "sin(a*1000000000000000*x)",
    ],
)
def test_poles_between_rows_and_values_made_of_rounding_are_unstable(text: str) -> None:
    rows = observed(rng(), 60)
    rows["x"] = np.round(rows["x"], 1)
    law = law_of(text, {"a": 1.0})
    assert not is_stable(law, rows, errors_of(law, rows))
    assert is_stable(TRUE, rows, errors_of(TRUE, rows))


def test_a_pole_where_no_row_can_lie_is_no_fault() -> None:
    x = rng().uniform(1.0, 2.0, 100)
    u = x * rng(1).uniform(0.1, 0.9, 100)
    rows = {"x": x, "u": u, "y": 1.0 / (x - u)}
    law = law_of("a/(x - u)", {"a": 1.0})
    assert is_stable(law, rows, errors_of(law, rows))


def test_rounding_is_negligible_only_in_the_mean_and_in_the_median() -> None:
    rows = observed(rng(), 50)
    exact = {**rows, "y": 1.0 + 2.0 * rows["x"]}
    assert is_negligible(errors_of(TRUE, exact), 1e-12)
    huge = {**exact, "y": exact["y"].copy(), "x": exact["x"].copy()}
    huge["x"][0] = 1e12
    huge["y"] = 1.0 + 2.0 * huge["x"]
    off = law_of("a + b*x", {"a": 1.1, "b": 2.0})
    assert nmse(errors_of(off, huge)) < 1e-12
    assert not is_negligible(errors_of(off, huge), 1e-12)


def test_a_law_whose_coefficients_are_hardly_known_is_vague() -> None:
    rows = observed(rng(), 50)
    vague = law_of("a + b*x", {"a": 1.0, "b": 2.0}, covariance=np.diag([1.0, 1.0]))
    assert is_vague(errors_of(vague, rows), 0.25)
    assert not is_vague(errors_of(TRUE, rows), 0.25)


def test_a_law_that_knows_nothing_about_its_far_rows_is_vague() -> None:
    values = {"a": 1.0, "b": 2.0, "c": 0.1}
    law = law_of("a + b*x + c*x*x", values, covariance=np.diag([0.0, 0.0, 0.05**2]))
    near, x = observed(rng(), 40), np.linspace(90.0, 110.0, 15)
    far = {"x": x, "y": 1.0 + 2.0 * x + 0.1 * x**2}
    both = {name: np.concatenate([near[name], far[name]]) for name in far}
    assert not is_vague(errors_of(law, near), 0.25)
    assert np.median(errors_of(law, both).coefficient_error) < 0.25
    assert is_vague(errors_of(law, both), 0.25)


def test_balanced_accuracy_is_not_fooled_by_rare_events() -> None:
    happened = np.array([1.0] + [0.0] * 99)
    assert balanced_accuracy(np.full(100, -1.0), happened) == 0.5
    assert balanced_accuracy(np.where(happened > 0.5, 1.0, -1.0), happened) == 1.0


@given(st.integers(5, 60), st.integers(0, 100))
def test_the_signed_rank_test_agrees_with_scipy(n: int, seed: int) -> None:
    d = np.random.default_rng(seed).normal(0.2, 1.0, n)
    method = "exact" if n <= 50 else "approx"
    oracle = stats.wilcoxon(d, alternative="greater", correction=n > 50, method=method)
    assert signed_rank_p(d) == pytest.approx(oracle.pvalue, rel=1e-6)


def test_ranks_of_events_agree_with_scipy() -> None:
    happened = np.array([0.0, 1.0] * 25)
    scores = rng().normal(size=50) + happened
    oracle = stats.mannwhitneyu(
        scores[1::2], scores[::2], alternative="greater", use_continuity=False, method="asymptotic"
    )
    assert rank_sum_p(scores, happened) == pytest.approx(oracle.pvalue, rel=1e-9)
    assert rank_sum_p(scores, np.ones(50)) == 1.0


def test_a_removable_gap_is_no_pole() -> None:
    rows = observed(rng(), 60, -1.0, 1.0)
    law = law_of("a*sin(x)/x", {"a": 1.0})
    assert is_stable(law, rows, errors_of(law, rows))


@given(st.integers(0, 50))
def test_whitening_makes_errors_independent(seed: int) -> None:
    A = np.random.default_rng(seed).normal(size=(12, 3))
    nothing = np.zeros(12)
    white = Whitening.of(Errors(nothing, nothing, np.ones(12), A, None))
    W = white.apply(np.eye(12))
    np.testing.assert_allclose(W @ (np.eye(12) + A @ A.T) @ W.T, np.eye(12), atol=1e-9)


def test_settings_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(BadStudy, match="level"):
        Criteria(level=0.0)
    with pytest.raises(BadStudy, match="improvement"):
        Criteria(improvement=1.0)
    with pytest.raises(BadStudy, match="max_nodes"):
        Criteria(max_nodes=0)


def test_settings_round_trip_and_change_the_digest() -> None:
    plain, fixed = Criteria(), Criteria(thresholds=Thresholds(0.01, 0.02))
    assert Criteria.from_json(plain.to_json()) == plain
    assert Criteria.from_json(fixed.to_json()) == fixed
    assert plain.digest != fixed.digest


def test_error_bars_take_the_place_of_stated_noise() -> None:
    rows = observed(rng(), 30)
    errors = errors_of(
        law_of("a + b*x", {"a": 1.0, "b": 2.0}, noise=9.0), rows, sigma=np.full(30, SIGMA)
    )
    assert errors.df is None
    assert (errors.noise == SIGMA).all()
