"""The error on rows a law was not fitted to: on validation rows, or by leaving parts out."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from study.problems import GRAMMAR, rows

from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.fitting.crossvalidation import FOLDS, HeldOut, held_out_error, parts_of
from alder.fitting.fit import fit
from alder.records.budget import Budget
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.proposal import Proposal
from alder.records.roles import Roles

TRUTH = Proposal(parse("a*x + b*v^2", ["x", "v"]))


def evidence(table: Mapping[str, FloatArray], roles: Roles | None = None) -> Evidence:
    return Evidence(GRAMMAR, roles or Roles(), Budget(), Trajectory(table))


def error(proposal: Proposal, known: Evidence) -> HeldOut | None:
    table = known.rows()
    found = fit(proposal, table, target="y", group=known.roles.group)
    return held_out_error(proposal, found.values, known)


def test_the_error_of_a_true_law_is_the_share_of_the_noise() -> None:
    table = rows(60, seed=1)
    found = error(TRUTH, evidence(table))
    assert found is not None
    assert found.folds == FOLDS
    assert found.nmse == pytest.approx(0.05**2 / np.var(table["y"]), rel=0.4)


def test_a_law_of_many_coefficients_is_seen_through() -> None:
    table = {**rows(20, seed=1), "y": np.random.default_rng(0).standard_normal(20)}
    many = Proposal(parse("a + b*x + c*v + d*x^2 + e*v^2 + f*x*v + g*x^3 + h*v^3", ["x", "v"]))
    found = error(many, evidence(table))
    assert found is not None
    assert found.nmse > 1.0 > fit(many, table, target="y").nmse


def test_linear_folds_agree_with_a_fit_by_hand() -> None:
    table = rows(40, seed=2)
    found = error(TRUTH, evidence(table))
    part, y = parts_of(table), table["y"]
    X = np.column_stack([table["x"], table["v"] ** 2])
    missed = 0.0
    for left_out in range(FOLDS):
        out = part == left_out
        beta = np.linalg.lstsq(X[~out], y[~out], rcond=None)[0]
        missed += float(np.sum((y[out] - X[out] @ beta) ** 2))
    assert found is not None
    assert found.nmse == pytest.approx(missed / np.sum((y - y.mean()) ** 2), rel=1e-6)


def test_validation_rows_come_first() -> None:
    known = replace(evidence(rows(30, seed=1)), validation=Trajectory(rows(20, seed=3)))
    found = error(TRUTH, known)
    assert found is not None
    assert found.folds == 0
    y = rows(20, seed=3)["y"]
    said = fit(TRUTH, rows(30, seed=1), target="y").law.predict(rows(20, seed=3))
    assert found.nmse == pytest.approx(np.sum((y - said) ** 2) / np.sum((y - y.mean()) ** 2))


@pytest.mark.parametrize("n", [9, 1000])
def test_too_few_rows_and_many_rows_are_not_cross_validated(n: int) -> None:
    assert error(TRUTH, evidence(rows(n, seed=1))) is None


def test_whole_groups_are_left_out_and_their_offsets_are_no_error() -> None:
    table = rows(60, seed=1)
    group = np.repeat(np.arange(6.0), 10)
    shifted = Proposal(parse("a*x + b*v^2 + c", ["x", "v"]))
    plain = error(shifted, evidence(table))
    table = {**table, "y": table["y"] + 5.0 * group, "g": group}
    found = error(shifted, evidence(table, Roles(group="g")))
    part = parts_of(table, "g")
    assert all(len(set(part[group == g])) == 1 for g in range(6))
    assert found is not None
    assert plain is not None
    assert found.nmse * np.var(table["y"]) < 2.0 * plain.nmse * np.var(rows(60, seed=1)["y"])


def test_fewer_groups_than_folds_are_so_many_parts() -> None:
    part = parts_of({"g": np.repeat([4.0, 8.0, 9.0], 5)}, "g")
    assert set(part) == {0, 1, 2}


def test_blocks_of_time_are_left_out() -> None:
    t = np.random.default_rng(0).permutation(23).astype(float)
    part = parts_of({"t": t}, time="t")
    in_order = part[np.argsort(t)]
    assert (np.diff(in_order) >= 0).all()
    assert set(in_order) == set(range(FOLDS))


def test_observations_that_are_sums_over_rows_are_left_out_whole() -> None:
    rng = np.random.default_rng(0)
    x, v = rng.uniform(-2.0, 2.0, (2, 60))
    pair = np.repeat(np.arange(30.0), 2)
    total = np.bincount(pair.astype(int), 2.0 * x + 0.5 * v**2) + rng.normal(0.0, 0.05, 30)
    table = {"x": x, "v": v, "y": total[pair.astype(int)], "o": pair}
    known = evidence(table, Roles(sums="o"))
    found = held_out_error(TRUTH, {"a": 2.0, "b": 0.5}, known)
    assert found is not None
    assert found.folds == FOLDS
    assert found.nmse == pytest.approx(0.05**2 / np.var(total), rel=0.5)
