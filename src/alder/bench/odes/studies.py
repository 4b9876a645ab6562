"""Alder's own variants: the same study of a system with other experiments."""

from collections.abc import Mapping
from pathlib import Path

from alder.bench.benchmark import Row
from alder.bench.odes.cases import Case
from alder.bench.odes.scoring import score_dynamics
from alder.ports import Selector
from alder.proposers.search.fields.proposer import VectorFields
from alder.records.budget import Budget
from alder.selection.baselines import Random
from alder.selection.starts import Starts
from alder.study.system import discover_system
from alder.verification.criteria import Criteria, Thresholds

PROPOSALS, QUERIES, BATCH = 12, 10, 2
ADMISSION_NMSE, ROLLOUT_NMSE = 1e-16, 1e-9
"""What noise-free rows are asked for: rates row by row, and states followed in time."""

VARIANTS: Mapping[str, tuple[int, Selector]] = {
    "alder": (QUERIES, Starts()),
    "passive": (0, Starts()),
    "random": (QUERIES, Random()),
}
"""Queries and selector of each variant; everything else is the same."""


def study(case: Case, variant: str, seed: int, folder: Path) -> Row:
    """Run one variant; its ledgers stay beside the rows."""
    queries, selector = VARIANTS[variant]
    outcome = discover_system(
        case.world(),
        case.grammar,
        initial=case.initial,
        protected=case.protected,
        budget=Budget(proposals=PROPOSALS, queries=queries, batch=BATCH),
        proposer=VectorFields(then=None),
        selector=selector,
        ledgers=folder,
        seed=seed,
        criteria=Criteria(
            thresholds=Thresholds(admission_nmse=ADMISSION_NMSE, shift_nmse=ADMISSION_NMSE)
        ),
        rollout=ROLLOUT_NMSE,
    )
    row = score_dynamics(case.system, outcome.candidate, admitted=outcome.dynamics is not None)
    refusal = outcome.refusal
    return row | {
        "cause": None if refusal is None else refusal.cause,
        "state": outcome.state,
        "category": None if outcome.verdict is None else outcome.verdict.category,
        "proposals": outcome.spent.proposals,
        "queries": outcome.spent.queries,
        "fits": outcome.spent.fits,
        "ledger": [one.digest for one in outcome.outcomes.values()],
    }
