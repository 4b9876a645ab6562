"""Why a study refuses: the cause follows from public evidence, and names what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from study.problems import GRAMMAR, rows

from alder.arrays import FloatArray
from alder.checking import check
from alder.diagnosis import Stop, diagnose
from alder.fitting.fit import fit
from alder.fitting.residuals import find_misfits
from alder.records.budget import Budget
from alder.records.evidence import Attempt, Candidate, Evidence
from alder.records.experiment import FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.outcome import CAUSES, Cause, Refusal
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.variable import Variable


def evidence(
    laws: Sequence[str], table: Mapping[str, FloatArray], grammar: Grammar = GRAMMAR, **changes: Any
) -> Evidence:
    """Return what is public after laws were fitted to rows and refused."""
    attempts: list[Attempt] = []
    for law in laws:
        found = fit(law, table, target=grammar.target, variables=grammar.variables)
        misfits = find_misfits(found, table, grammar.variable_names)
        attempts.append(
            Attempt(Proposal(found.structure), fit=found, misfits=misfits, category="inaccurate")
        )
    given: dict[str, Any] = {"roles": Roles(), "attempts": tuple(attempts), **changes}
    return Evidence(grammar, budget=Budget(), initial=Trajectory(table), **given)


def candidates(known: Evidence) -> tuple[Candidate, ...]:
    laws = [attempt.fit.law for attempt in known.attempts if attempt.fit is not None]
    return tuple(Candidate(law, 0.5, f"law {i}") for i, law in enumerate(laws))


def cause(known: Evidence, stop: Stop = "budget") -> Cause:
    return diagnose(known, candidates(known), stop).cause


def test_every_documented_cause_has_a_meaning() -> None:
    assert set(CAUSES) == set(get_args(Cause))


def test_rows_that_show_nothing_are_noise() -> None:
    table = {**rows(60, seed=1), "y": np.random.default_rng(0).standard_normal(60)}
    refusal = diagnose(evidence(["a*x + b*v + c"], table), (), "budget")
    assert refusal.cause == "noise"
    assert "%" in refusal.reason
    assert "repeats" in refusal.advice


def test_structure_no_law_explains_is_a_missing_operator() -> None:
    table = rows(60, seed=1)
    table["y"] = table["y"] + 2.0 * np.sin(3.0 * table["x"])
    refusal = diagnose(evidence(["a*x + b*v", "a*x + b*v^2"], table), (), "budget")
    assert refusal.cause == "missing-operator"
    assert "along x" in refusal.reason


@pytest.mark.parametrize("range_", [None, (0.0, 100.0)], ids=["constant", "hardly moved"])
def test_a_variable_that_was_not_moved_is_named(range_: tuple[float, float] | None) -> None:
    table = rows(30, seed=1)
    grammar = GRAMMAR
    if range_ is None:
        table["v"] = np.ones(30)
    else:
        grammar = replace(GRAMMAR, variables=[Variable("x"), Variable("v", range=range_)])
    refusal = diagnose(evidence(["a*x + b"], table, grammar), (), "budget")
    assert refusal.cause == "excitation"
    assert refusal.reason.startswith("v stayed between")
    assert "v" in refusal.advice


def test_replicates_that_scatter_beyond_their_error_bars_miss_a_variable() -> None:
    once = rows(15, seed=1)
    table = {name: np.repeat(column, 2) for name, column in once.items()}
    table["y"] = table["y"] + np.tile([-1.0, 1.0], 15)
    table["s"] = np.full(30, 0.05)
    known = evidence(["a*x + b*v^2"], table, roles=Roles(sigma="s"))
    assert cause(known) == "missing-variable"
    table["s"] = np.full(30, 1.5)
    assert cause(evidence(["a*x + b*v^2"], table, roles=Roles(sigma="s"))) != "missing-variable"


def test_laws_that_no_safe_experiment_separates_are_listed() -> None:
    known = evidence(["a*x + b*v^2", "a*x + b*v^2 + c"], rows(30, seed=1))
    refusal = diagnose(known, candidates(known), "no-safe-experiment")
    assert refusal.cause == "no-safe-experiment"
    assert "2 laws" in refusal.reason
    assert "a*x + b*v^2 + c" in refusal.reason
    assert len(refusal.rivals) == 1


def test_one_law_alone_is_not_said_to_be_inseparable_from_others() -> None:
    known = evidence(["a*x + b*v^2"], rows(30, seed=1))
    refusal = diagnose(known, candidates(known), "no-safe-experiment")
    assert refusal.cause == "no-safe-experiment"
    assert "the law that is left: a*x + b*v^2" in refusal.reason


def test_laws_that_explain_nothing_are_noise_although_no_experiment_is_left() -> None:
    table = {**rows(60, seed=1), "y": np.random.default_rng(0).standard_normal(60)}
    assert cause(evidence(["a*x", "b*v"], table), "no-safe-experiment") == "noise"


def test_proposals_that_all_failed_the_checks_are_named_with_a_problem() -> None:
    problems = check("sin(x)", GRAMMAR)
    known = replace(evidence([], rows(30, seed=1)), attempts=(Attempt(None, problems=problems),))
    refusal = diagnose(known, (), "budget")
    assert refusal.cause == "no-valid-proposal"
    assert problems[0].code in refusal.reason
    assert refusal.candidate is None


def test_a_proposer_that_was_silent_is_no_valid_proposal() -> None:
    assert cause(evidence([], rows(30, seed=1)), "nothing-left-to-propose") == "no-valid-proposal"


@pytest.mark.parametrize("stop", ["budget", "nothing-left-to-propose"])
def test_what_remains_is_the_budget(stop: Stop) -> None:
    known = evidence(["a*x + b*v^2"], rows(30, seed=1))
    refusal = diagnose(known, candidates(known), stop)
    assert refusal.cause == "budget"
    assert refusal.candidate is not None
    assert refusal.rivals == ()


def test_experiments_that_all_failed_are_named_with_what_went_wrong() -> None:
    """A simulator that is broken is no question of the budget alone."""
    known = evidence(["a*x + b*v^2"], rows(30, seed=1))
    failures = (FailedRun("e1", "BadTable: empty."), FailedRun("e2", "ZeroDivisionError: by zero."))
    refusal = diagnose(replace(known, failures=failures), candidates(known), "budget")
    assert "2 failed, the last since: ZeroDivisionError: by zero" in refusal.reason
    assert "correct what runs them" in refusal.advice
    assert str(refusal).startswith(f"REFUSED  {refusal.cause}: ")


def test_the_best_law_by_validation_is_kept() -> None:
    known = evidence(["a*x + b*v^2", "a*x"], rows(30, seed=1))
    first, second = known.attempts
    scored = (replace(first, validation_nmse=0.9), replace(second, validation_nmse=0.1))
    refusal = diagnose(replace(known, attempts=scored), (), "budget")
    assert refusal.candidate is not None
    assert second.fit is not None
    assert refusal.candidate.digest == second.fit.law.digest


@pytest.mark.parametrize("stop", get_args(Stop))
def test_every_cause_has_one_finding_and_one_stands(stop: Stop) -> None:
    known = evidence(["a*x + b*v^2", "a*x"], rows(30, seed=1))
    refusal = diagnose(known, candidates(known), stop)
    assert {finding.cause for finding in refusal.findings} == set(CAUSES)
    assert len(refusal.findings) == len(CAUSES)
    (stands,) = [finding for finding in refusal.findings if finding.ruling == "stands"]
    assert (stands.cause, stands.sentence) == (refusal.cause, refusal.reason)


def test_what_rules_a_cause_out_is_a_number() -> None:
    known = evidence(["a*x + b*v^2"], rows(30, seed=1))
    refusal = diagnose(known, candidates(known), "budget")
    ruled_out = {finding.cause: finding.sentence for finding in refusal.ruled_out}
    assert set(ruled_out) == {"no-valid-proposal", "excitation", "missing-operator", "noise"}
    assert "1 of 1 proposal " in ruled_out["no-valid-proposal"]
    assert "2 inputs" in ruled_out["excitation"]
    assert "%" in ruled_out["noise"]


def test_a_cause_that_could_not_be_tested_is_not_ruled_out() -> None:
    known = evidence(["a*x + b*v^2"], rows(30, seed=1))
    findings = {f.cause: f for f in diagnose(known, candidates(known), "budget").findings}
    assert findings["missing-variable"].ruling == "untested"
    assert "error bars" in findings["missing-variable"].sentence
    assert findings["no-safe-experiment"].ruling == "untested"


def test_a_cause_that_would_have_spoken_too_is_left_open() -> None:
    table = {**rows(60, seed=1), "y": np.random.default_rng(0).standard_normal(60)}
    refusal = diagnose(evidence(["a*x + b*v + c"], table), (), "budget")
    findings = {finding.cause: finding.ruling for finding in refusal.findings}
    assert findings["noise"] == "stands"
    assert findings["budget"] == "undecided"


def test_repeats_that_agree_rule_a_missing_variable_out() -> None:
    once = rows(15, seed=1)
    table = {name: np.repeat(column, 2) for name, column in once.items()}
    table["y"] = table["y"] + np.tile([-1.0, 1.0], 15)
    table["s"] = np.full(30, 1.5)
    known = evidence(["a*x + b*v^2"], table, roles=Roles(sigma="s"))
    ruled_out = {f.cause: f.sentence for f in diagnose(known, (), "budget").ruled_out}
    assert "0.9 times their error bars" in ruled_out["missing-variable"]


def test_cross_validation_does_not_change_the_cause() -> None:
    known = evidence(["a*x + b*v^2", "a*x"], rows(30, seed=1))
    first, second = known.attempts
    scored = (replace(first, validation_nmse=0.9, folds=5), replace(second, validation_nmse=0.1))
    scored = (scored[0], replace(scored[1], folds=5))
    refusal = diagnose(replace(known, attempts=scored), (), "budget")
    assert refusal.candidate is not None
    assert first.fit is not None
    assert refusal.candidate.digest == first.fit.law.digest


@pytest.mark.parametrize("stop", get_args(Stop))
def test_reason_and_advice_are_sentences(stop: Stop) -> None:
    known = evidence(["a*x + b*v^2", "a*x"], rows(30, seed=1))
    refusal: Refusal = diagnose(known, candidates(known), stop)
    for sentence in (refusal.reason, refusal.advice):
        assert sentence[0].isalnum()
        assert sentence.endswith(".")
        assert "\n" not in sentence
