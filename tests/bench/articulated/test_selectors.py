"""Figures of selectors, and candidates that hold the truth of every family."""

from alder.bench.articulated.identification import SELECTORS
from alder.bench.articulated.selectors import (
    CANDIDATES,
    TRUE_TERMS,
    selector_figures,
    selector_table,
)
from alder.bench.articulated.worlds import FAMILIES


def test_the_truth_of_every_family_is_a_candidate_once() -> None:
    assert set(TRUE_TERMS) == set(FAMILIES)
    assert all(CANDIDATES.count(terms) == 1 for terms in TRUE_TERMS.values())


def test_a_world_that_is_never_identified_costs_seven() -> None:
    rows = [{"identified": True, "support": True, "queries": 0}, {"error": "killed"}]
    figures = selector_figures(rows)
    assert (figures["identified"], figures["queries_mean"]) == (0.5, 3.5)


def test_the_table_has_the_paper_below_every_selector() -> None:
    figures = selector_figures([{"identified": True, "support": True, "queries": 1}])
    lines = selector_table("door", dict.fromkeys(SELECTORS, figures))
    assert len(lines) == 1 + 2 * len(SELECTORS)
    assert "25.0" in lines[2]
