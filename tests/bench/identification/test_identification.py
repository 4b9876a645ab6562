"""The identification benchmark: cases, the oracle, costs, calibration, figures."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.bench.benchmark import Row
from alder.bench.identification import cases, trial
from alder.bench.identification.calibration import bins, calibration_error, statements
from alder.bench.identification.cases import make_case
from alder.bench.identification.families import FAMILIES, GRAMMAR
from alder.bench.identification.oracle import Oracle
from alder.bench.identification.run import figures
from alder.bench.identification.table import saves, table
from alder.bench.identification.trial import METHODS, UNRESOLVED, conduct, cost_of, world_of
from alder.cli.main import main
from alder.expr.evaluate import evaluate
from alder.records.budget import Budget
from alder.records.effort import FULL
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.roles import Roles
from alder.selection.candidates import fit_all

CASE = "1-mass-03"


def test_a_case_is_a_function_of_its_name_and_the_seed() -> None:
    first, second = make_case("3-contact-07", 5), make_case("1-contact-07", 7)
    assert first.truth == second.truth
    for name, column in first.pool.items():
        np.testing.assert_array_equal(column, second.pool[name])
    assert not np.array_equal(first.pool["r"], make_case("1-contact-07", 5).pool["r"])


@pytest.mark.parametrize("family", FAMILIES)
def test_candidates_agree_where_the_decisive_variable_is_not_moved(family: str) -> None:
    """Fitted to noiseless rows all over the other variables, no candidate misses by 3 noise sd."""
    rng = np.random.default_rng(0)
    of = FAMILIES[family]
    box = {name: ends for name, ends in cases.FAR.items() if name != of.decisive}
    box[of.decisive] = cases.NARROW[of.decisive]
    rows = cases._draw(box, 100, rng)
    structure = of.proposals()[0].structure
    rows["a"] = evaluate(structure, rows, {"k": 2.0, "c": 1.0})
    evidence = Evidence(GRAMMAR, Roles(), Budget(), Trajectory(rows))
    fits = fit_all(of.proposals(), evidence, FULL)
    assert np.sqrt(fits.loss.max()) < 3.0 * cases.NOISE


def test_every_selector_makes_eight_distinct_queries_of_the_same_pool() -> None:
    case = make_case(CASE, 1)
    for method in METHODS:
        found = conduct(case, method, 1)
        assert len(set(found.experiments)) == trial.N_QUERIES
        assert found.posteriors.shape == (9, 4)
        np.testing.assert_allclose(found.posteriors.sum(axis=1), 1.0)


def test_before_the_first_query_all_selectors_know_the_same() -> None:
    case = make_case(CASE, 1)
    starts = [conduct(case, method, 1).posteriors[0] for method in ("passive", "disagreement")]
    np.testing.assert_array_equal(*starts)


def test_a_choice_does_not_depend_on_outcomes_that_were_not_asked_for() -> None:
    case = make_case(CASE, 1)
    ran = conduct(case, "disagreement", 1).experiments
    kept = [int(name[1:]) - 1 for name in ran]
    hidden = np.full(64, 1e6)
    hidden[kept] = case.pool["a"][kept]
    other = replace(case, pool={**case.pool, "a": hidden})
    assert conduct(other, "disagreement", 1).experiments == ran


def test_the_oracle_takes_the_query_with_the_largest_expected_posterior() -> None:
    case = make_case(CASE, 1)
    clean = evaluate(case.proposals[case.truth].structure, case.pool, case.coefficients)
    oracle = Oracle(case.proposals, case.truth, clean, cases.NOISE)
    evidence = Evidence(GRAMMAR, Roles(), Budget(), Trajectory(case.initial))
    world = world_of(case)
    candidates, _ = trial.weigh(case, evidence, laws=True)
    rng = np.random.default_rng(0)
    (choice,) = oracle.select(candidates, evidence, world, 1, rng)
    pool = world.pool()
    expected = [
        oracle._expected(evidence, pool.experiment(i), float(clean[i])) for i in range(0, 64, 4)
    ]
    assert choice.score >= max(expected) - 1e-9


@given(st.lists(st.floats(0.0, 1.0), min_size=9, max_size=9))
def test_from_the_cost_on_confidence_stays_high_and_before_it_was_not(
    confidence: list[float],
) -> None:
    cost = cost_of(np.array(confidence))
    assert 0 <= cost <= UNRESOLVED
    assert all(p >= 0.95 for p in confidence[cost:])
    if cost:
        assert confidence[cost - 1] < 0.95


def row(case: str, method: str, cost: int, posteriors: list[list[float]] | None = None) -> Row:
    return {
        "case": case, "method": method, "cost": cost, "ambiguous": True, "truth": 0, "idle": 0,
        "posteriors": posteriors or [],
    }  # fmt: skip


def test_a_failed_row_is_an_unresolved_case() -> None:
    rows = [row("1-mass-00", "random", 1), {"case": "1-mass-01", "method": "random", "error": "x"}]
    found = figures(rows)
    assert found["identified"] == 0.5
    assert found["mean_cost"] == 5.0
    assert found["failed"] == 0.5
    assert "random" in "\n".join(table(rows, {"random": found}))


def test_cases_identified_from_the_start_do_not_count_as_cheap() -> None:
    easy = {**row("1-mass-00", "random", 0), "ambiguous": False}
    found = figures([easy, row("1-mass-01", "random", 3)])
    assert found["ambiguous"] == 1.0
    assert found["mean_cost"] == 3.0


def test_savings_are_paired_by_case() -> None:
    rows = [row("1-mass-00", "disagreement", 1), row("1-mass-01", "disagreement", 2)]
    rows += [row("1-mass-01", "random", 5), row("1-mass-00", "random", 1)]
    found = saves(rows, "disagreement", "random")
    assert (found["mean"], found["wins"], found["ties"], found["losses"]) == (1.5, 1, 1, 0)


def test_statements_that_come_true_as_often_as_they_say_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    said = rng.uniform(0.25, 1.0, 20_000)
    right = (rng.random(20_000) < said).astype(np.float64)
    assert calibration_error(said, right) < 0.02
    assert calibration_error(said, np.ones(20_000)) > 0.3
    assert sum(b.n for b in bins(said, right)) == 20_000


def test_a_statement_is_about_the_likeliest_candidate() -> None:
    said, right = statements([row("1-mass-00", "random", 1, [[0.7, 0.3], [0.4, 0.6]])])
    assert said.tolist() == [0.7, 0.6]
    assert right.tolist() == [1.0, 0.0]


def test_a_run_writes_the_promised_figures_and_both_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["identification", "--cases", "1-action-00", "--seed", "1", "--out", str(tmp_path)]
    assert main(["bench", *words, "--method", "random", "--method", "disagreement"]) == 0
    assert "disagreement saves on" in capsys.readouterr().out
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    for method in ("random", "disagreement"):
        promised = {"identified", "mean_cost", "median_cost", "calibration_error"}
        assert promised <= set(summary["methods"][method])
    for picture in ("identified.svg", "calibration.svg"):
        assert (tmp_path / picture).read_text("utf-8").startswith("<svg xmlns=")
