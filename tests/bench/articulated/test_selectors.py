"""Candidates are fitted and told apart by rows alone."""

import numpy as np
import pytest

from alder.bench.articulated.discovery import Columns
from alder.bench.articulated.selectors import fit_all, selector_figures, significant


def _rows(*, both_ways: bool, spring: float) -> Columns:
    rng = np.random.default_rng(0)
    v = rng.uniform(0.02, 0.1, 200) * (rng.choice([-1.0, 1.0], 200) if both_ways else 1.0)
    q, u = rng.uniform(0.2, 0.8, 200), rng.uniform(-1.0, 1.0, 200)
    return {"q": q, "v": v, "u": u, "force": -0.5 * v - 3.0 * np.sign(v) - spring * q}


@pytest.mark.parametrize("spring", [0.0, 5.0])
def test_rows_of_both_directions_tell_friction_from_a_bias(spring: float) -> None:
    rows = _rows(both_ways=True, spring=spring)
    best = min(fit_all(rows), key=lambda one: one.length)
    assert significant(best, rows) - {"position"} == {"velocity", "friction"}
    assert ("position" in significant(best, rows)) == (spring > 0.0)


def test_rows_of_one_direction_do_not() -> None:
    rows = _rows(both_ways=False, spring=0.0)
    best = min(fit_all(rows), key=lambda one: one.length)
    assert best.terms == ("bias", "velocity")


def test_a_world_that_is_never_identified_costs_seven() -> None:
    rows = [{"identified": True, "support": True, "queries": 0}, {"error": "killed"}]
    figures = selector_figures(rows)
    assert (figures["identified"], figures["queries_mean"]) == (0.5, 3.5)
