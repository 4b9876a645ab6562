"""A small honest study as ledger entries, and a chain of them in memory."""

from collections.abc import Iterable, Sequence

import numpy as np

from alder.expr.text import parse
from alder.ledger import entries
from alder.ledger.configuration import Configuration
from alder.ledger.content import GENESIS, chain, pack
from alder.ledger.entries import Entry
from alder.ports import Event, Submission
from alder.records.budget import Budget, Spent
from alder.records.coefficient import Coefficient
from alder.records.evidence import Candidate, Choice, Evidence, Misfit, Separation
from alder.records.experiment import Experiment, FailedRun, Trajectory
from alder.records.fit import Fit
from alder.records.grammar import Grammar
from alder.records.noise import Noise
from alder.records.outcome import Refusal
from alder.records.problem import Problem
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.scope import Scope
from alder.records.variable import Variable
from alder.records.verdict import Commitment, Verdict

GRAMMAR = Grammar([Variable("x")], target=Variable("y"))
BUDGET = Budget(proposals=4, queries=6, batch=2, cost=6.0)
CONFIGURATION = Configuration(
    GRAMMAR, Roles(), BUDGET, seed=0, proposer="search", selector="first", versions={"alder": "1"}
)
SALT = bytes(range(100, 132))
N_ROUNDS = 3


def rows(n: int, seed: int, experiment: str = "") -> Trajectory:
    rng = np.random.default_rng(seed)
    x = rng.uniform(1.0, 2.0, n)
    return Trajectory({"x": x, "y": 2.0 * x + rng.normal(0.0, 0.1, n)}, experiment)


def fit_of(k: float) -> Fit:
    return Fit(
        structure=parse("k*x", ["x"]),
        target=GRAMMAR.target,
        variables=(Variable("x"),),
        coefficients=(Coefficient("k", k, 0.01, k - 0.02, k + 0.02, "free"),),
        covariance=np.array([[1e-4]]),
        noise=Noise(0.1),
        loss=0.01,
        nmse=0.02,
        n_rows=100,
        residual_df=99,
        converged=True,
        reason="",
        undetermined=(),
        condition=1.0,
        scope=Scope({"x": (1.0, 2.0)}),
    )


def next_ids(evidence: Evidence, n: int) -> list[str]:
    """The selector of the story: experiments in the order of their numbers."""
    first = len(evidence.choices)
    return [f"e{first + i}" for i in range(n)]


def reselect(evidence: Evidence, candidates: Sequence[Candidate], n: int) -> list[str]:
    """Choose again, as the composition would hand it to an audit."""
    assert candidates
    return next_ids(evidence, n)


def beginning() -> list[Entry]:
    return [
        entries.configuration(CONFIGURATION),
        entries.commitments([Commitment("admission", 20, "ab" * 32)]),
        entries.initial(rows(100, seed=1)),
        entries.validation(rows(10, seed=2)),
    ]


def one_round(index: int) -> list[Entry]:
    """An attempt that is refused, two experiments, one of which fails."""
    fit = fit_of(2.0 + index)
    proposal = Proposal(fit.structure, rationale="straight", scope="all")
    first, second = f"e{2 * index}", f"e{2 * index + 1}"
    written: list[Entry] = [
        entries.proposal(Submission("k*x", rivals=(proposal,), tokens=7), proposal),
        entries.charge(Spent(proposals=1, tokens=7)),
        entries.fit(index, fit, validation_nmse=0.03, misfits=[Misfit("x", 2.5, "above 1.5")]),
        entries.charge(Spent(fits=1, seconds=0.25)),
        entries.verdict(index, Verdict("inaccurate", index + 1)),
        entries.candidates([Candidate(fit.law, 1.0, "A")]),
    ]
    for name in (first, second):
        chosen = Experiment(name, {"x": 1.5})
        written.append(entries.choice(Choice(chosen, 1.0, "far", (Separation("A", "B", 3.0),))))
    written.append(entries.outcome(rows(3, seed=10 + index, experiment=first)))
    written.append(entries.charge(Spent(queries=1, cost=1.0)))
    written.append(entries.failed(FailedRun(second, "the pump stopped")))
    written.append(entries.charge(Spent(queries=1, cost=1.0)))
    return written


def ending() -> list[Entry]:
    problem = Problem("unknown-variable", "/var", "`z` is not a variable.")
    refusal = Refusal("budget", "It ended.", "Ask for more.", fit_of(2.0).law, (fit_of(3.0).law,))
    return [
        entries.proposal(Submission(b"\xff{", tokens=1), None),
        entries.charge(Spent(proposals=1, tokens=1)),
        entries.problems(N_ROUNDS, [problem]),
        entries.end(None, refusal, cut_short=True),
    ]


def story() -> list[Entry]:
    middle = [entry for index in range(N_ROUNDS) for entry in one_round(index)]
    return [*beginning(), *middle, *ending()]


def chained(written: Iterable[Entry]) -> list[Event]:
    """Chain entries in memory, as an honest store, or a careful forger, would."""
    events: list[Event] = []
    digest = GENESIS
    for number, (kind, content) in enumerate(written, start=1):
        digest = chain(digest, number, kind, pack(content).text)
        events.append(Event(number, kind, content, digest))
    return events
