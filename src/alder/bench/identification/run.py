"""`alder bench identification`: seven selectors on the same cases, and what each query taught."""

from collections.abc import Iterator, Sequence

import numpy as np

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.identification.calibration import SETTLED, calibration_error, statements
from alder.bench.identification.cases import NAMES, Case, make_case
from alder.bench.identification.families import FAMILIES
from alder.bench.identification.table import table
from alder.bench.identification.trial import (
    CONFIDENT,
    METHODS,
    N_QUERIES,
    UNRESOLVED,
    conduct,
    cost_of,
)


def measure(job: Job) -> Iterator[Row]:
    """Yield one row for each selector."""
    seed = int(job.settings["seed"])
    case = make_case(job.case, seed)
    return (_row(case, method, seed) for method in job.methods)


def _row(case: Case, method: str, seed: int) -> Row:
    trial = conduct(case, method, seed)
    cost = cost_of(trial.posteriors[:, case.truth])
    return {
        "family": case.family.name,
        "truth": case.truth,
        "law": list(case.family.laws)[case.truth],
        # Cost 0: at high confidence from the first rows on, and ever after.
        "ambiguous": bool(trial.posteriors[0, case.truth] < CONFIDENT),
        "identified": cost < UNRESOLVED,
        "cost": cost,
        "queries": N_QUERIES,
        "idle": trial.n_idle,
        "experiments": list(trial.experiments),
        "posteriors": [[round(float(p), 6) for p in found] for found in trial.posteriors],
    }


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one selector over the initially ambiguous cases.

    A row that failed is an ambiguous case that was never identified. Calibration is that of every
    round of all cases.
    """
    ambiguous = [row for row in rows if row.get("ambiguous", True)]
    costs = np.array([row.get("cost", UNRESOLVED) for row in ambiguous] or [UNRESOLVED])
    found = {
        "cases": float(len(rows)),
        "ambiguous": float(len(ambiguous)),
        "identified": float(np.mean(costs < UNRESOLVED)),
        "mean_cost": float(np.mean(costs)),
        "median_cost": float(np.median(costs)),
    }
    for family in FAMILIES:
        own = [row.get("cost", UNRESOLVED) for row in ambiguous if f"-{family}-" in row["case"]]
        if own:
            found[f"mean_cost_{family}"] = float(np.mean(own))
    for n in range(1, N_QUERIES + 1):
        found[f"identified_by_{n}"] = float(np.mean(costs <= n))
    said, right = statements(rows)
    doubtful = said < SETTLED
    return found | {
        "calibration_error": calibration_error(said, right),
        "calibration_error_unsettled": calibration_error(said[doubtful], right[doubtful]),
        "statements_unsettled": float(np.sum(doubtful)),
        "idle": float(sum(row.get("idle", 0) for row in rows)),
        "failed": sum("error" in row for row in rows) / max(len(rows), 1),
    }


BENCHMARK = Benchmark(
    name="identification",
    home=__name__,
    cases=tuple(NAMES),
    default_cases="*",
    methods=METHODS,
    measure=measure,
    figures=figures,
    table=table,
)
"""`alder bench identification`."""
