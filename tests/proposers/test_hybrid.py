"""A model that is nearly right, and the search that goes on from what it proposed."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from proposers.evidence import evidence

from alder.arrays import FloatArray
from alder.expr.canonical import skeleton_digest
from alder.expr.nodes import Expr
from alder.expr.text import parse, to_text
from alder.fitting.fit import fit
from alder.ports import Submission
from alder.proposers.hybrid import Hybrid, _shorter
from alder.proposers.llm.proposer import ModelProposer
from alder.proposers.repair import described, repair
from alder.proposers.search.proposer import Search
from alder.records.budget import Budget
from alder.records.evidence import Attempt, Evidence
from alder.records.experiment import Trajectory
from alder.records.glimpse import Glimpse
from alder.records.grammar import Grammar
from alder.records.outcome import Outcome
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.study.discover import discover
from alder.testing import ScriptedModel, check_proposer
from alder.worlds.function import FunctionWorld

NAMES = ("x", "v", "u")
GRAMMAR = Grammar(
    [Variable(name) for name in NAMES],
    target=Variable("y"),
    operators=("add", "mul", "pow", "sin", "tanh"),
    max_nodes=19,
)
# A function within which two shapes are added: nothing that a sum of terms says.
TRUTH = "k*sin(p*x + q*v^2) + c*u"
WRONG_FUNCTION = "k*tanh(p*x + q*v^2) + c*u"
NEARLY = [WRONG_FUNCTION, "k*sin(p*x + q*v^2)", "k*sin(p*x + q*v) + c*u"]


def law(text: str) -> Expr:
    return parse(text, NAMES)


def rows(n: int, seed: int, noise: float = 0.02) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    x, v, u = (rng.uniform(0.3, 1.8, n) for _ in NAMES)
    y = 2.0 * np.sin(1.5 * x + 0.8 * v**2) + 0.7 * u + noise * rng.normal(size=n)
    return {"x": x, "v": v, "u": u, "y": y}


def known(*refused: str) -> Evidence:
    return evidence(list(map(law, refused)), table=rows(100, 1), grammar=GRAMMAR)


def error(structure: Expr) -> float:
    """Return the error on fresh rows without noise, in spreads of the target."""
    found = fit(structure, rows(100, 1), target="y")
    fresh = rows(500, 9, noise=0.0)
    return float(np.std(fresh["y"] - found.law.predict(fresh)) / np.std(fresh["y"]))


def hybrid(*replies: str) -> tuple[Hybrid, ScriptedModel]:
    model = ScriptedModel(replies)
    return Hybrid(ModelProposer(model), Search()), model


def study(proposer: Hybrid | ModelProposer) -> Outcome:
    """Two proposals, and no experiment."""
    return discover(
        FunctionWorld(lambda _: 0.0, experiments={name: [1.0] for name in NAMES}),
        GRAMMAR,
        initial=rows(100, 1),
        protected=Protected(rows(100, 2)),
        budget=Budget(proposals=2, queries=0),
        proposer=proposer,
    )


@cache
def proposed(nearly: str) -> tuple[Proposal, tuple[Glimpse, ...]]:
    """Return what becomes of a refused structure of the model, and what was said meanwhile."""
    told: list[Glimpse] = []
    both = hybrid()[0].watched(told.append)
    submission = both.propose(known(nearly), np.random.default_rng(0))
    assert submission is not None
    assert isinstance(submission.source, Proposal)
    return submission.source, tuple(told)


@pytest.mark.parametrize("nearly", NEARLY)
def test_a_structure_that_is_nearly_right_is_made_right_without_a_search(nearly: str) -> None:
    proposal, told = proposed(nearly)
    assert error(law(nearly)) > 0.05
    assert error(proposal.structure) < 0.01
    assert {one.stage for one in told} == {"edits of a proposal"}


def test_the_rationale_says_whose_structure_was_edited() -> None:
    proposal, _ = proposed(WRONG_FUNCTION)
    assert proposal.rationale.startswith("Edited from attempt 1, by llm:scripted")
    assert f"`{WRONG_FUNCTION}` became `" in proposal.rationale
    assert to_text(proposal.structure, NAMES) in proposal.rationale


def test_a_study_reaches_the_law_that_the_model_alone_does_not_reach() -> None:
    alone = study(ModelProposer(ScriptedModel([WRONG_FUNCTION] * 2)))
    outcome = study(hybrid(WRONG_FUNCTION)[0])
    assert alone.law is None
    assert outcome.law is not None
    assert outcome.spent.proposals == 2
    assert error(outcome.law.structure) < 0.01


def test_the_model_is_told_what_the_search_proposed_and_why_it_failed() -> None:
    both, model = hybrid(TRUTH)
    both.propose(known(WRONG_FUNCTION, "k*x + c*u"), np.random.default_rng(0))
    second = json.loads(model.asked[0][1].text)["attempts"][1]
    assert second["law"] == "k*x + c*u"
    assert second["verdict"] == "inaccurate"
    assert second["error"] > 0.01


def test_an_edit_that_was_refused_on_these_rows_is_not_proposed_again() -> None:
    first, _ = proposed(WRONG_FUNCTION)
    refused = known(WRONG_FUNCTION, to_text(first.structure, NAMES))
    again = repair(law(WRONG_FUNCTION), refused)
    assert again is None or skeleton_digest(again.proposal.structure) != skeleton_digest(
        first.structure
    )


def test_what_the_grammar_refuses_may_be_where_edits_begin() -> None:
    """A change of sign is no operator here; the model's structure was never fitted."""
    attempt = Attempt(Proposal(law("k*sin(-(p*x) - q*v^2) + c*u")))
    table = Trajectory(rows(100, 1))
    unfitted = Evidence(GRAMMAR, Roles(), Budget(), table, None, (), (attempt,))
    submission = hybrid()[0].propose(unfitted, np.random.default_rng(0))
    assert submission is not None
    assert isinstance(submission.source, Proposal)
    assert error(submission.source.structure) < 0.01


def test_when_time_is_up_what_was_found_so_far_is_proposed() -> None:
    late = replace(known("k*tanh(p*x) + c*u"), budget=Budget(seconds=1e-9))
    cut_short = repair(law("k*tanh(p*x) + c*u"), late)
    assert cut_short is not None
    assert len(cut_short.path) == 2


def test_editing_keeps_the_contract_of_proposers() -> None:
    check_proposer(lambda: hybrid(WRONG_FUNCTION)[0], evidence=known(WRONG_FUNCTION))


@pytest.mark.parametrize("edited_is_right", [True, False])
def test_the_shorter_description_is_proposed_and_the_other_is_its_rival(
    edited_is_right: bool,
) -> None:
    right, wrong = Proposal(law(TRUTH)), Proposal(law(WRONG_FUNCTION))
    two = (right, wrong) if edited_is_right else (wrong, right)
    lengths = described([right, wrong], known())
    assert lengths[0] < lengths[1]
    chosen = _shorter(Submission(two[0], fits=3), Submission(two[1], fits=4), known())
    assert chosen.source == right
    assert chosen.rivals == (wrong,)
    assert chosen.fits == 3 + 4 + 2
