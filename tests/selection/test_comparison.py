"""A whole round: compare, choose, run, compare again."""

from dataclasses import replace

import numpy as np

from alder.expr.text import to_text
from alder.records.evidence import Attempt, Evidence
from alder.records.experiment import Trajectory
from alder.records.problem import Problem
from alder.selection.candidates import labels_of, refit
from alder.selection.comparison import comparison_set
from alder.selection.registry import selector
from selection.worlds import HiddenPool, draw_pool, make_evidence, proposals, truth

LAWS = ("k*x + c*y", "k*tanh(x/s) + c*y", "k*sin(x) + c*y", "k*softsign(x/s) + c*y")


def run(world: HiddenPool, evidence: Evidence, name: str, n: int) -> Evidence:
    rng = np.random.default_rng(1)
    candidates = refit(proposals(LAWS), evidence)
    choices = selector(name).select(candidates, evidence, world, n, rng)
    noise = np.random.default_rng(2)
    told: list[Trajectory] = []
    for choice in choices:
        row = {key: np.array([float(value)]) for key, value in choice.experiment.settings.items()}
        outcome = truth(row) + 0.02 * noise.normal(size=1)
        told.append(Trajectory({**row, "a": outcome}, choice.experiment.id))
    return replace(evidence, trajectories=tuple(told), choices=choices)


def survivors(evidence: Evidence) -> list[str]:
    return [to_text(c.law.structure) for c in refit(proposals(LAWS), evidence)]


def test_one_chosen_batch_refutes_the_wrong_laws_where_more_of_the_same_does_not() -> None:
    world, before = draw_pool(1, n=300), make_evidence()
    assert set(survivors(before)) >= {"k*x + c*y", "k*sin(x) + c*y"}
    for name in ("disagreement", "information"):
        after = survivors(run(world, before, name, 6))
        assert after[0] == "k*tanh(x/s) + c*y"
        assert not {"k*x + c*y", "k*sin(x) + c*y"} & set(after)
    assert "k*sin(x) + c*y" in survivors(run(world, before, "passive", 6))


def test_a_single_attempt_is_compared_with_its_rivals() -> None:
    (attempt,) = (Attempt(proposal) for proposal in proposals(("k*x + c*y",)))
    evidence = replace(make_evidence(), attempts=(attempt,))
    candidates = comparison_set(evidence, rng=np.random.default_rng(0))
    assert len(candidates) > 1


def test_attempts_with_problems_take_no_part() -> None:
    problem = Problem("too-large", "", "It is too large.")
    attempts = tuple(Attempt(proposal, problems=(problem,)) for proposal in proposals())
    evidence = replace(make_evidence(), attempts=attempts)
    assert comparison_set(evidence, rng=np.random.default_rng(0)) == ()


def test_labels_are_kept_from_round_to_round() -> None:
    world, evidence = draw_pool(1, n=300), make_evidence()
    rng = np.random.default_rng(1)
    first = comparison_set(evidence, proposals(LAWS), rng=rng)
    labels = labels_of(first)
    later = run(world, evidence, "disagreement", 6)
    second = comparison_set(later, proposals(LAWS), rng=rng, labels=labels)
    before = {to_text(c.law.structure): c.label for c in first}
    after = {to_text(c.law.structure): c.label for c in second}
    assert after["k*tanh(x/s) + c*y"] == before["k*tanh(x/s) + c*y"]
    assert all(after[text] not in before.values() for text in after if text not in before)
