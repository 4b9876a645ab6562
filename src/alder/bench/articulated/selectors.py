"""`--selectors`: which probe next, with the candidate laws fixed; five selectors in each world."""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.bench.articulated.case import Case
from alder.bench.articulated.discovery import Columns, joined, pool_world, steady, vocabulary
from alder.bench.articulated.identification import identify_joint
from alder.bench.articulated.probes import N_QUERIES
from alder.bench.articulated.rollout import Probe, Rollout
from alder.bench.articulated.scoring import nmse
from alder.bench.articulated.worlds import Family
from alder.bench.benchmark import Row
from alder.expr.evaluate import evaluate
from alder.expr.nodes import parameters
from alder.records.law import Law

UNRESOLVED = N_QUERIES + 1
"""The cost of a world that six queries do not identify."""

ADMITTED = 1e-3
"""The held-out normalised error from which on a law counts as identified."""

# A term that moves the force by less than this share of its size is no part of the law.
_THRESHOLD = 1e-3

TRUE_TERMS: Mapping[Family, tuple[str, ...]] = {
    "viscous": ("velocity",),
    "coulomb": ("velocity", "sign"),
    "spring": ("velocity", "position"),
    "mixed": ("velocity", "position", "sign"),
}
"""The true candidate of each family: every joint has some damping, and no constant force."""

CANDIDATES: tuple[tuple[str, ...], ...] = (
    *TRUE_TERMS.values(),
    ("bias", "velocity"),
    ("bias", "velocity", "position"),
    ("bias", "velocity", "sign"),
    ("velocity", "speed"),
    ("velocity", "drag"),
    ("velocity", "action"),
    ("velocity", "position_squared"),
    ("velocity", "action_velocity"),
)
"""Fixed structures: the four families, and what passive rollouts may confuse them with."""


def measure_selector(case: Case, selector: str) -> Row:
    """Let one selector make all its queries; count those until its law holds on held-out rows."""
    asked: list[Rollout] = []

    def run(probe: Probe) -> Rollout:
        asked.append(case.lab.observe(probe, case.truth))
        return asked[-1]

    found = identify_joint(
        case.passive,
        pool_world(case.probes.pool, case.pool_nominal, run, case.settings),
        TRUE_TERMS[case.world.family],
        case.study_seed,
        settings=case.settings,
        selectors=(selector,),
        candidates=CANDIDATES,
    )[selector]
    cost = queries_to_admission(case, found.laws)
    law = found.laws[min(cost, N_QUERIES)]
    terms = significant_terms(case, law)
    return {
        "family": case.world.family,
        "identified": cost < UNRESOLVED,
        "support": terms == set(TRUE_TERMS[case.world.family]),
        "queries": cost,
        "queries_confident": found.queries,
        "confidence": [round(float(p), 6) for p in found.confidence.max(axis=1)],
        "terms": sorted(terms),
        "executed": len(asked),
        "unsafe": sum(not rollout.safe for rollout in asked),
    }


def queries_to_admission(case: Case, laws: Sequence[Law]) -> int:
    """Count the queries from which on the likeliest law meets the held-out error; 7 if never.

    Passive sampling makes no queries: it meets it at once or never.
    """
    rows = held_out(case)
    good = [nmse(law.predict(rows), rows["force"]) <= ADMITTED for law in laws]
    lasting = [all(good[k:]) for k in range(len(good))]
    return lasting.index(True) if True in lasting else UNRESOLVED


def significant_terms(case: Case, law: Law) -> set[str]:
    """Return the terms of a law that move the held-out force by more than a thousandth of it."""
    rows, proposer = held_out(case), vocabulary(case.settings)
    names = proposer.terms_of(law.structure) or ()
    size = float(np.sqrt(np.mean(np.square(rows["force"])))) or 1.0
    kept: set[str] = set()
    for name in names:
        part = proposer.structure((name,))
        values = {parameter: law.values[parameter] for parameter in parameters(part)}
        moved = evaluate(part, rows, values, law.floors)
        if float(np.sqrt(np.mean(np.square(moved)))) > _THRESHOLD * size:
            kept.add(name)
    return kept


def held_out(case: Case) -> Columns:
    """Return the protected rows, for scoring alone."""
    return joined([steady(rollout, case.settings.stiction) for rollout in case.admission])


PAPER: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "drawer": {
        "passive": ("50.0", "50.0", "3.5"),
        "random": ("100.0", "97.5", "0.5"),
        "coverage": ("100.0", "70.0", "0.5"),
        "uncertainty": ("100.0", "100.0", "0.5"),
        "disagreement": ("100.0", "97.5", "0.5"),
    },
    "door": {
        "passive": ("25.0", "25.0", "7.0"),
        "random": ("100.0", "100.0", "3.0"),
        "coverage": ("100.0", "100.0", "1.5"),
        "uncertainty": ("100.0", "100.0", "1.5"),
        "disagreement": ("100.0", "100.0", "1.5"),
    },
}
"""The paper's identified and support in per cent, and its median queries."""


def selector_figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one selector; a failed row is a world never identified."""
    costs = [float(row.get("queries", UNRESOLVED)) for row in rows]
    return {
        "worlds": len(rows),
        "identified": sum(bool(row.get("identified")) for row in rows) / len(rows),
        "support": sum(bool(row.get("support")) for row in rows) / len(rows),
        "queries_median": float(np.median(costs)),
        "queries_mean": float(np.mean(costs)),
        "unsafe": float(sum(row.get("unsafe", 0) for row in rows)),
        "failed": sum("error" in row for row in rows),
    }


def selector_table(kind: str, figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set our figures beside the paper's."""
    lines = [
        f"{'':14} {'identified %':>12} {'support %':>9} {'median':>7} {'mean':>6} {'unsafe':>6}"
    ]
    for selector, paper in PAPER[kind].items():
        if selector not in figures:
            continue
        f = figures[selector]
        lines += [
            f"{selector:14} {100 * f['identified']:12.1f} {100 * f['support']:9.1f} "
            f"{f['queries_median']:7.1f} {f['queries_mean']:6.2f} {f['unsafe']:6.0f}",
            f"{'  paper':14} {paper[0]:>12} {paper[1]:>9} {paper[2]:>7}",
        ]
    return lines
