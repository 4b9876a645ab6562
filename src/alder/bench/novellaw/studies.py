"""Alder's own variants: one configuration each of the same study with the built-in proposer."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypeAlias

from alder.bench.benchmark import Row
from alder.bench.novellaw.domains import TARGET, cost_of, is_safe
from alder.bench.novellaw.scoring import passes, score
from alder.bench.novellaw.variation import Case
from alder.bench.studies import fresh_ledger
from alder.expr.nodes import size
from alder.ledger.events import Replayed, replay
from alder.ledger.store import read_events
from alder.ports import Proposer
from alder.records.budget import Budget
from alder.records.law import Law
from alder.records.protected import Protected
from alder.study.discover import discover
from alder.verification.spending import AlphaSpending, Naive
from alder.worlds.pool import PoolWorld

Variant: TypeAlias = Literal["alder", "random-query", "revision-only"]

PROPOSALS, QUERIES, BATCH = 4, 48, 24

_CONFIGURATIONS: Mapping[Variant, tuple[int, str]] = {
    "alder": (QUERIES, "disagreement"),
    "random-query": (QUERIES, "random"),
    "revision-only": (0, "disagreement"),
}
"""Queries and selector of each variant; everything else is the same."""


def study(
    case: Case, variant: Variant, seed: int, ledger: Path, *, proposer: str | Proposer = "search"
) -> Row:
    """Run one variant; its ledger stays beside the rows."""
    queries, selector = _CONFIGURATIONS[variant]
    outcomes = case.rows["pool"][TARGET.name]
    names = case.grammar.variable_names
    inputs = {name: case.rows["pool"][name] for name in names}
    # Cost and safety are facts of the world, whatever units the rows are written in.
    nominal = case.draw.clean["pool"]
    outcome = discover(
        PoolWorld(inputs, query=outcomes.__getitem__, cost=cost_of(nominal), safe=is_safe(nominal)),
        case.grammar,
        initial=case.rows["fit"],
        validation=case.rows["validation"],
        protected=Protected(case.rows["admission"], case.rows["shift"]),
        budget=Budget(proposals=PROPOSALS, queries=queries, batch=BATCH),
        proposer=proposer,
        selector=selector,
        ledger=fresh_ledger(ledger),
        seed=seed,
        criteria=case.criteria,
        # Fixed limits are not spent; the verifier adds no noise with either rule.
        spending=AlphaSpending() if case.criteria.thresholds is None else Naive(),
    )
    law = outcome.law or (outcome.refusal.candidate if outcome.refusal else None)
    return {
        **_scored(case, law, admitted=outcome.law is not None),
        "cause": None if outcome.refusal is None else outcome.refusal.cause,
        **_budget(asdict(outcome.spent)),
        "ledger": outcome.digest,
    }


def one_shot(case: Case, ledger: Path) -> Row:
    """Score the first proposal that the paired run stored, as if the run had ended there.

    Admitted is what the gate of that run admitted. Whether it would also have met the fixed limits,
    which methods that are no study are held to, stands beside that.
    """
    state: Replayed = replay(read_events(ledger))
    first = state.attempts[0] if state.attempts else None
    law = first.fit.law if first is not None and first.fit is not None else None
    return {
        **_scored(case, law, admitted=first is not None and first.category == "accept"),
        "category": None if first is None else first.category,
        "within_limits": law is not None and passes(case, law.predict),
        **_budget({"proposals": min(len(state.attempts), 1)}),
        "ledger": state.digest,
    }


def _scored(case: Case, law: Law | None, *, admitted: bool) -> Row:
    return {
        **score(case, None if law is None else law.predict, admitted=admitted),
        "law": None if law is None else str(law),
        "n_nodes": None if law is None else size(law.structure),
    }


def _budget(spent: Mapping[str, Any]) -> Row:
    names = ("proposals", "queries", "cost", "tokens", "fits")
    return {name: spent.get(name, 0) for name in names}
