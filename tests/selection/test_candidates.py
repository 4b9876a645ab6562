from dataclasses import replace

import numpy as np
import pytest

from alder.expr.text import parse, to_text
from alder.records.evidence import Attempt, Evidence
from alder.records.experiment import Trajectory
from alder.records.proposal import Bounds, Proposal
from alder.records.roles import Roles
from alder.selection.candidates import LIGHTEST, labels_of, letters, refit, to_weights
from alder.selection.likelihood import Weighing
from selection.worlds import NAMES, make_evidence, proposals, some_candidates, truth


def texts(evidence: Evidence, *laws: str, weighing: Weighing = "likelihood") -> list[str]:
    found = refit(proposals(laws), evidence, weighing=weighing)
    return [to_text(candidate.law.structure) for candidate in found]


def with_validation(evidence: Evidence, width: float = 3.0) -> Evidence:
    return replace(evidence, validation=make_evidence(seed=5, width=width).initial)


@pytest.mark.parametrize("weighing", ["likelihood", "error", "bic", "uniform"])
def test_weights_sum_to_one_and_come_heaviest_first(weighing: Weighing) -> None:
    found = refit(proposals(), make_evidence(), weighing=weighing)
    weights = [candidate.weight for candidate in found]
    assert sum(weights) == pytest.approx(1.0)
    assert weights == sorted(weights, reverse=True)


def test_a_law_the_rows_refute_is_no_candidate() -> None:
    assert texts(make_evidence(), "k*x + c*y", "k*x^2 + c*y") == ["k*x + c*y"]


def test_a_refused_law_does_not_refute_the_next_best() -> None:
    laws = ("k*x + c*y", "k*x^2 + c*y", "k*x*y + c")
    attempt = Attempt(proposals(laws)[0], category="inaccurate")
    refused = replace(make_evidence(), attempts=(attempt,))
    assert set(texts(refused, *laws)) == set(laws)


def test_laws_that_differ_in_a_variable_no_row_has_moved_are_told_apart() -> None:
    base = make_evidence()
    columns = {"x": base.initial.columns["x"], "y": np.ones(base.initial.n_rows)}
    still = {**columns, "a": truth(columns) + 0.02 * np.sin(97.0 * columns["x"])}
    evidence = replace(base, initial=Trajectory(still))
    assert len(texts(evidence, "k*x + c*y", "k*x + c*y^2")) == 2


def test_structures_that_differ_by_names_count_once() -> None:
    assert len(refit(proposals(("k*x + c*y", "q*y + g*x")), make_evidence())) == 1


def test_laws_whose_fits_cannot_be_told_apart_count_once_and_the_simpler_stays() -> None:
    found = texts(make_evidence(), "k*(s*tanh(x/s)) + c*y", "k*tanh(x/s) + c*y")
    assert found == ["k*tanh(x/s) + c*y"]


def test_validation_rows_decide_where_there_are_some() -> None:
    evidence = with_validation(make_evidence())
    found = refit(proposals(("k*x + c*y", "k*tanh(x/s) + c*y", "k*sin(x) + c*y")), evidence)
    assert to_text(found[0].law.structure) == "k*tanh(x/s) + c*y"
    assert found[0].weight > 0.9


def test_labels_stay_with_their_structures_from_round_to_round() -> None:
    first = some_candidates()
    labels = labels_of(first)
    evidence = with_validation(make_evidence(seed=3))
    later = refit(
        proposals(("k*softsign(x/s) + c*y", "k*tanh(x/s) + c*y", "g*y + k*sin(x)")),
        evidence,
        labels=labels,
    )
    named = {to_text(c.law.structure): c.label for c in (*first, *later)}
    assert named["g*y + k*sin(x)"] == named["k*sin(x) + c*y"]
    known = {c.label for c in first}
    assert named["k*softsign(x/s) + c*y"] not in known
    assert len({c.label for c in later}) == len(later)


def test_error_bars_decide_what_is_refuted() -> None:
    base = make_evidence()
    columns = {**base.initial.columns, "e": np.full(base.initial.n_rows, 1.0)}
    vague = replace(base, roles=Roles(sigma="e"), initial=Trajectory(columns))
    laws = ("k*x + c*y", "k*x^2 + c*y")
    assert len(refit(proposals(laws), vague)) == 2
    assert len(refit(proposals(laws), base)) == 1


def test_at_most_as_many_as_asked_remain() -> None:
    assert len(refit(proposals(), make_evidence(), most=2)) == 2


def test_no_proposals_give_no_candidates() -> None:
    assert refit((), make_evidence()) == ()


def test_few_rows_are_weighed_alike_where_no_noise_can_be_estimated() -> None:
    evidence = make_evidence(n=2)
    found = refit(proposals(("k*x + c*y", "k*sin(x) + c*y")), evidence)
    assert len({candidate.weight for candidate in found}) == 1


def test_refitting_is_repeatable() -> None:
    one, other = (refit(proposals(), make_evidence()) for _ in range(2))
    assert [(c.label, c.weight, c.law.digest) for c in one] == [
        (c.label, c.weight, c.law.digest) for c in other
    ]


def test_bounds_of_a_proposal_hold() -> None:
    bounded = Proposal(parse("k*x + c*y", NAMES), {"k": Bounds(0.0, 0.5)})
    (candidate,) = refit([bounded], make_evidence())
    assert candidate.law.values["k"] <= 0.5


def test_no_score_is_calibrated_where_none_is_finite() -> None:
    np.testing.assert_allclose(to_weights(np.array([-np.inf, -np.inf])), 0.5)


def test_a_light_law_keeps_its_smallest_share() -> None:
    weights = to_weights(np.array([0.0, -500.0, -np.inf]))
    np.testing.assert_allclose(weights[1:] / weights[0], LIGHTEST)


def test_letters_are_distinct_and_ordered_by_length() -> None:
    found = [letters(i) for i in range(800)]
    assert len(set(found)) == 800
    assert found == sorted(found, key=lambda label: (len(label), label))
