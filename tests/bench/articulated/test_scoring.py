"""Targets and choices among finitely many actions, on numbers one can follow."""

import numpy as np
import pytest

from alder.bench.articulated.rollout import Probe
from alder.bench.articulated.scoring import (
    by_family,
    finite_choices,
    nmse,
    optional_terms,
    relative_successes,
    rmse,
    targets_of,
)

PROBES = [Probe(state, pull, 11, None, "control") for state in range(4) for pull in (-1, 0, 1)]
ENDS = np.array([0.2 * (p.state + 1) + 0.1 * p.pull for p in PROBES])


def test_targets_lie_at_shares_of_the_range_that_a_state_reaches() -> None:
    targets = targets_of(PROBES, ENDS)
    assert len(targets) == 16
    assert [t.position for t in targets[:4]] == pytest.approx([0.14, 0.18, 0.22, 0.26])


def test_a_model_that_is_right_chooses_as_well_as_the_best_candidate() -> None:
    targets = targets_of(PROBES, ENDS)
    chosen = finite_choices(targets, PROBES, ENDS)
    assert relative_successes(targets, PROBES, ENDS, chosen) == 16


def test_a_choice_stays_among_the_probes_of_its_state() -> None:
    targets = targets_of(PROBES, ENDS)
    backwards = finite_choices(targets, PROBES, ENDS[::-1].copy())
    assert all(PROBES[i].state == t.state for i, t in zip(backwards, targets, strict=True))


def test_a_model_that_takes_left_for_right_fails() -> None:
    targets = targets_of(PROBES, ENDS)
    mirrored = np.array([0.2 * (p.state + 1) - 0.1 * p.pull for p in PROBES])
    chosen = finite_choices(targets, PROBES, mirrored)
    assert relative_successes(targets, PROBES, ENDS, chosen) < 16


def test_errors_are_those_of_their_formulas() -> None:
    seen, said = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0])
    assert rmse(said, seen) == pytest.approx(np.sqrt(1.0 / 3.0))
    assert nmse(said, seen) == pytest.approx(0.5)


def test_means_are_taken_family_by_family() -> None:
    assert by_family(["a-01", "b-01", "a-02"], [1.0, 5.0, 3.0]) == {"a": 2.0, "b": 5.0}


def test_every_law_begins_with_bias_and_velocity() -> None:
    assert optional_terms(frozenset({"bias", "velocity", "friction"})) == {"friction"}
