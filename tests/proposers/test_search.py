"""The built-in proposer: deterministic, inside the grammar, and indifferent to names."""

from dataclasses import replace

import numpy as np
import pytest
from proposers.evidence import evidence, rng
from study.problems import GRAMMAR, rows

from alder.arrays import FloatArray
from alder.checking import check
from alder.expr.canonical import canonical, skeleton_digest
from alder.expr.nodes import Apply, Expr, Param, Var, size
from alder.expr.text import parse
from alder.ports import Submission
from alder.proposers.search.proposer import Search
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.records.variable import Variable

SEARCH = Search()


def proposals(submission: Submission | None) -> list[Proposal]:
    assert submission is not None
    assert isinstance(submission.source, Proposal)
    return [submission.source, *submission.rivals]


def structures(submission: Submission | None) -> list[Expr]:
    return [proposal.structure for proposal in proposals(submission)]


def renamed(structure: Expr, names: dict[str, str]) -> Expr:
    match structure:
        case Var(name):
            return Var(names[name])
        case Apply(operator, arguments):
            return Apply(operator, tuple(renamed(argument, names) for argument in arguments))
        case _:
            return structure


def has_shape(structure: Expr, text: str) -> bool:
    return skeleton_digest(canonical(structure)) == skeleton_digest(
        canonical(parse(text, ("x", "v")))
    )


def test_the_law_of_a_small_world_is_proposed() -> None:
    best = structures(SEARCH.propose(evidence(), rng()))[0]
    assert {node.name for node in _leaves(best) if isinstance(node, Var)} == {"x", "v"}
    assert has_shape(best, "a*x + b*v^2")


def _leaves(structure: Expr) -> list[Expr]:
    if isinstance(structure, Apply):
        return [leaf for argument in structure.arguments for leaf in _leaves(argument)]
    return [structure]


def test_the_same_evidence_gives_the_same_proposals() -> None:
    first, second = (proposals(SEARCH.propose(evidence(), rng())) for _ in range(2))
    assert first == second


def test_a_refused_structure_is_not_proposed_again_on_the_same_rows() -> None:
    best, *_ = structures(SEARCH.propose(evidence(), rng()))
    other, *_ = structures(SEARCH.propose(evidence([best]), rng()))
    assert skeleton_digest(other) != skeleton_digest(best)


def test_a_refused_structure_may_come_again_when_rows_have_arrived() -> None:
    best, *_ = structures(SEARCH.propose(evidence(), rng()))
    known = evidence([best], later=[rows(10, seed=2)])
    assert skeleton_digest(structures(SEARCH.propose(known, rng()))[0]) == skeleton_digest(best)


@pytest.mark.parametrize(
    "grammar",
    [
        GRAMMAR,
        replace(GRAMMAR, operators=("add", "mul"), max_nodes=7),
        replace(GRAMMAR, operators=("mul", "exp", "div")),
        replace(GRAMMAR, operators=("add",)),
        replace(GRAMMAR, max_nodes=1),
        Grammar([Variable("x", unit="m"), Variable("v", unit="m/s")], Variable("y", unit="m")),
        Grammar(
            [Variable("x", unit="m"), Variable("v", unit="s")],
            Variable("y", unit="m"),
            operators=("add", "mul", "div", "exp"),
            units="strict",
        ),
    ],
    ids=["usual", "small", "no sums", "sums only", "one node", "units", "strict units"],
)
def test_nothing_is_proposed_that_the_checks_refuse(grammar: Grammar) -> None:
    submission = SEARCH.propose(evidence(grammar=grammar), rng())
    for proposal in proposals(submission) if submission is not None else []:
        assert check(proposal, grammar) == ()
        assert size(proposal.structure) <= grammar.max_nodes


def test_the_rivals_are_other_structures() -> None:
    found = structures(SEARCH.propose(evidence(table=rows(8, seed=1)), rng()))
    assert len({skeleton_digest(structure) for structure in found}) == len(found)


def test_other_names_give_the_same_law_under_these_names() -> None:
    table = rows(30, seed=1)
    names = {"x": "height", "v": "k"}
    other: dict[str, FloatArray] = {names.get(name, "T"): table[name] for name in table}
    grammar = replace(GRAMMAR, variables=[Variable("height"), Variable("k")], target=Variable("T"))
    expected = [renamed(law, names) for law in structures(SEARCH.propose(evidence(), rng()))]
    assert structures(SEARCH.propose(evidence(table=other, grammar=grammar), rng())) == expected


def test_the_order_of_variables_and_rows_does_not_matter() -> None:
    table = rows(30, seed=1)
    order = np.random.default_rng(0).permutation(30)
    shuffled = {name: table[name][order] for name in ("y", "v", "x")}
    grammar = replace(GRAMMAR, variables=[Variable("v"), Variable("x")])
    first, *_ = structures(SEARCH.propose(evidence(), rng()))
    second, *_ = structures(SEARCH.propose(evidence(table=shuffled, grammar=grammar), rng()))
    assert skeleton_digest(canonical(first)) == skeleton_digest(canonical(second))


def test_other_units_of_the_rows_do_not_change_the_structure() -> None:
    table = rows(30, seed=1)
    scaled = {"x": 1e3 * table["x"], "v": 1e-6 * table["v"], "y": 1e4 * table["y"]}
    first, *_ = structures(SEARCH.propose(evidence(), rng()))
    second, *_ = structures(SEARCH.propose(evidence(table=scaled), rng()))
    assert skeleton_digest(canonical(first)) == skeleton_digest(canonical(second))


def test_a_coefficient_of_its_own_stands_before_every_term() -> None:
    best, *_ = structures(SEARCH.propose(evidence(), rng()))
    names = [leaf.name for leaf in _leaves(best) if isinstance(leaf, Param)]
    assert len(set(names)) == len(names)


def test_a_tidy_number_does_not_take_the_place_of_a_length() -> None:
    """A literal has no unit, so that x + 0.5 is no law where x is a length."""
    x = np.linspace(0.5, 3.0, 60)
    noise = np.random.default_rng(3).normal(0.0, 1e-3, 60)
    grammar = Grammar(
        [Variable("x", unit="m")], Variable("y", unit="N"), operators=("add", "mul", "div")
    )
    table = {"x": x, "y": 2.0 / (x + 0.5) + noise}
    found = structures(SEARCH.propose(evidence(table=table, grammar=grammar), rng()))
    assert all(check(law, grammar) == () for law in found)
    wanted = skeleton_digest(parse("c*(1/(x + p))", ("x",)))
    assert wanted in {skeleton_digest(law) for law in found}
