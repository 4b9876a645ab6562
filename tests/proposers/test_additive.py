import numpy as np
import pytest

import alder
from alder.errors import BadStudy
from alder.expr.text import parse, to_text
from alder.proposers.additive import Additive, Term
from alder.records.evidence import Attempt, Evidence
from alder.records.experiment import Trajectory
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.testing import check_proposer

TEXTS = {"one": "1", "x": "x", "square": "x^2", "step": "sign(x)", "z": "z", "both": "x*z"}
TERMS = tuple(Term(name, parse(text, ("x", "z"))) for name, text in TEXTS.items())
GRAMMAR = alder.Grammar(
    variables=[alder.Variable("x"), alder.Variable("z")],
    target=alder.Variable("y"),
    operators=("add", "mul", "pow", "sign"),
)


def evidence(
    noise: float = 0.0, attempts: tuple[Attempt, ...] = (), roles: Roles | None = None
) -> Evidence:
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1.0, 1.0, (2, 200))
    y = 3.0 * x - 2.0 * np.sign(x) + 0.5 * x * z + noise * rng.standard_normal(200)
    rows = {"x": x, "z": z, "y": y}
    return Evidence(GRAMMAR, roles or Roles(), alder.Budget(), Trajectory(rows), attempts=attempts)


def names(proposer: Additive, seen: Evidence) -> tuple[str, ...] | None:
    submission = proposer.propose(seen, np.random.default_rng(0))
    assert submission is not None
    assert isinstance(submission.source, Proposal)
    return proposer.terms_of(submission.source.structure)


def test_at_most_two_terms_are_added_in_a_round() -> None:
    proposer = Additive(TERMS, start=("one",))
    first = names(proposer, evidence())
    assert first is not None
    assert len(set(first) - {"one"}) == 2
    attempt = Attempt(Proposal(proposer.structure(first)), category="inaccurate")
    assert names(proposer, evidence(attempts=(attempt,))) == ("x", "step", "both")


def test_noise_adds_no_term() -> None:
    assert names(Additive(TERMS, start=("x",)), evidence(noise=0.05)) == ("x", "step", "both")


def test_at_most_four_structures_are_fitted_and_the_others_are_rivals() -> None:
    submission = Additive(TERMS, start=("x",)).propose(evidence(0.5), np.random.default_rng(0))
    assert submission is not None
    assert submission.fits == 4
    assert submission.rivals


def test_a_law_found_before_is_the_only_one_submitted() -> None:
    proposer = Additive(TERMS, start=("x",), only=("x", "step"))
    assert names(proposer, evidence()) == ("x", "step")


def test_a_law_has_one_term_of_a_kind() -> None:
    smooth = Term("smooth", parse("x/(0.01 + abs(x))", ("x",)), kind="friction")
    step = Term("step", parse("sign(x)", ("x",)), kind="friction")
    proposer = Additive((TERMS[0], TERMS[1], smooth, step), start=("one", "x"))
    found = names(proposer, evidence())
    assert found is not None
    assert not {"smooth", "step"} <= set(found)


def test_an_undeclared_start_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadStudy, match="`w` is no declared term"):
        Additive(TERMS, start=("w",))


def test_no_other_structure_is_read_as_a_sum_of_terms() -> None:
    proposer = Additive(TERMS)
    assert proposer.terms_of(parse("k_x*x*z", ("x", "z"))) is None
    assert to_text(proposer.structure(("one", "x")), ("x",)) == "k_one + k_x*x"


def test_it_keeps_the_contract_of_proposers() -> None:
    check_proposer(lambda: Additive(TERMS, start=("one",)), evidence=evidence(0.1))
