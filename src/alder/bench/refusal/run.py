"""`alder bench refusal`: is anything admitted that does not hold, where nothing exact can be?"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.refusal.claims import Claim, claims
from alder.bench.refusal.domains import GRAMMAR, NAMES, TARGET, Role
from alder.bench.refusal.table import figures, table
from alder.bench.refusal.worlds import CONTROL, World, case_names, draw_world
from alder.bench.studies import fresh_ledger, study_seed
from alder.expr.nodes import size
from alder.ledger.events import replay
from alder.ledger.store import read_events
from alder.records.budget import Budget
from alder.records.law import Law
from alder.records.outcome import Outcome
from alder.records.protected import Protected
from alder.study.discover import discover
from alder.worlds.pool import PoolWorld

METHODS = ("alder",)
BUDGET = Budget(proposals=3, queries=24, batch=12)


def measure(job: Job) -> Iterator[Row]:
    """Study one world with the built-in search and the criteria of any study."""
    seed = int(job.settings["seed"])
    world = draw_world(job.case, seed)
    number = case_names().index(job.case)
    for method in job.methods:
        ledger = job.folder / "ledgers" / f"{job.case}-{method}.alder"
        outcome = _study(world, study_seed(seed, number), ledger)
        yield {**_describe(world), **_ended(outcome, ledger), **_scored(world, outcome)}


def _study(world: World, seed: int, ledger: Path) -> Outcome:
    pool = world.rows["pool"]
    return discover(
        PoolWorld({name: pool[name] for name in NAMES}, query=pool[TARGET].__getitem__),
        GRAMMAR,
        initial=world.rows["fit"],
        validation=world.rows["validation"],
        protected=Protected(world.rows["admission"], world.rows["shift"]),
        budget=BUDGET,
        proposer="search",
        ledger=fresh_ledger(ledger),
        seed=seed,
    )


def _describe(world: World) -> Row:
    family = world.family
    return {
        "family": CONTROL if family is None else family.name,
        "reason": None if family is None else family.reason,
        "noise": world.noise["fit"],
    }


def _ended(outcome: Outcome, ledger: Path) -> Row:
    """Say how the study ended, and what the verifier answered to each law."""
    spent = outcome.spent
    return {
        "verdict": "refused" if outcome.law is None else "admitted",
        "admitted": outcome.law is not None,
        "cause": None if outcome.refusal is None else outcome.refusal.cause,
        "answers": [a.category for a in replay(read_events(ledger)).attempts if a.category],
        "proposals": spent.proposals,
        "queries": spent.queries,
        "fits": spent.fits,
        "ledger": outcome.digest,
    }


def _scored(world: World, outcome: Outcome) -> Row:
    """Score an admitted law against its claim, and a refused one as if it had been admitted."""
    refused = None if outcome.refusal is None else outcome.refusal.candidate
    law = outcome.law or refused
    if law is None:
        return {"false": False, "prevented": False, "law": None}
    bounds = _bounds(outcome)
    found = claims(world, law, bounds)
    holds = all(claim.holds for claim in found.values())
    return {
        "false": outcome.law is not None and not holds,
        "prevented": outcome.law is None and not holds,
        "bound": None if bounds is None else bounds["admission"],
        "bound_holds": None
        if bounds is None
        else all(found[role].observed <= bound for role, bound in bounds.items()),
        **_flat(found["admission"], "test"),
        **_flat(found["shift"], "shift"),
        **_law(world, law),
    }


def _bounds(outcome: Outcome) -> dict[Role, float] | None:
    """Return the bounds that an admission stated."""
    verdict = outcome.verdict
    if outcome.law is None or verdict is None:
        return None
    assert verdict.bound is not None
    assert verdict.shift_bound is not None
    return {"admission": verdict.bound, "shift": verdict.shift_bound}


def _flat(claim: Claim, name: str) -> Row:
    return {
        f"{name}_error": claim.error,
        f"{name}_claimed": claim.claimed,
        f"{name}_reference": claim.reference,
    }


def _law(world: World, law: Law) -> Row:
    test = world.rows["admission-test"]
    return {
        "in_scope": float(np.mean(law.in_scope(test))),
        "law": str(law),
        "n_nodes": size(law.structure),
    }


BENCHMARK = Benchmark(
    name="refusal",
    home=__name__,
    cases=case_names(),
    default_cases="*",
    methods=METHODS,
    measure=measure,
    figures=figures,
    table=table,
)
"""`alder bench refusal`."""
