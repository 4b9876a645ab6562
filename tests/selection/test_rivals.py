import numpy as np

from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.expr.text import to_text
from alder.records.effort import SCREENED
from alder.records.evidence import Evidence
from alder.records.grammar import Grammar
from alder.records.proposal import Bounds, Proposal
from alder.records.variable import Variable
from alder.selection.candidates import REFUTED, fit_all, refit
from alder.selection.likelihood import bic
from alder.selection.rivals import rivals
from selection.worlds import make_evidence, proposals

ONE = proposals(("k*x + c*y",))


def found(evidence: Evidence, seed: int = 0, most: int = 16) -> tuple[Proposal, ...]:
    return rivals(ONE, evidence, np.random.default_rng(seed), most=most)


def test_a_single_proposal_gets_rivals_that_saturate() -> None:
    texts = [to_text(rival.structure) for rival in found(make_evidence())]
    assert any("tanh(x" in text for text in texts)


def test_rivals_are_laws_of_the_grammar() -> None:
    narrow = Grammar(
        [Variable("x"), Variable("y")],
        target=Variable("a"),
        operators=("add", "mul", "tanh", "div"),
        max_nodes=11,
    )
    base = make_evidence()
    evidence = Evidence(narrow, base.roles, base.budget, base.initial)
    kept = found(evidence)
    assert kept
    assert all(check(rival.structure, narrow) == () for rival in kept)


def test_rivals_differ_from_their_law_and_from_one_another() -> None:
    digests = [skeleton_digest(rival.structure) for rival in (*ONE, *found(make_evidence()))]
    assert len(set(digests)) == len(digests)


def test_rivals_are_not_refuted_by_the_rows_their_law_explains() -> None:
    evidence = make_evidence()
    kept = found(evidence)
    criteria = bic(fit_all((*ONE, *kept), evidence, SCREENED), evidence)
    assert (criteria[1:] <= criteria[0] + REFUTED).all()
    assert len(refit((*ONE, *kept), evidence)) > 1


def test_the_same_generator_gives_the_same_rivals() -> None:
    assert found(make_evidence()) == found(make_evidence())


def test_at_most_as_many_rivals_as_asked() -> None:
    assert len(found(make_evidence(), most=3)) == 3


def test_bounds_go_along_with_the_parameters_that_are_left() -> None:
    parent = Proposal(ONE[0].structure, {"k": Bounds(0.0, 5.0)})
    for rival in rivals([parent], make_evidence(), np.random.default_rng(0)):
        assert set(rival.bounds) <= {"k"}
