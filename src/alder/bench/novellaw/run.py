"""`alder bench novellaw`: all methods on all cases, and the figures the paper has of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.novellaw import baselines, studies
from alder.bench.novellaw.recipes import PLACES, Split
from alder.bench.novellaw.scoring import describe
from alder.bench.novellaw.table import table
from alder.bench.novellaw.targets import HIDDEN
from alder.bench.novellaw.variation import OPTIONS, Case, require_sound, varied_case
from alder.bench.studies import study_seed

_BASELINES: Mapping[str, Callable[[Case], Row]] = {
    "library": baselines.library,
    "sindy": baselines.sindy,
    "mlp": baselines.mlp,
    "oracle": baselines.oracle,
}

# Alder comes before one-shot, which reads the ledger of its paired run.
METHODS = (
    "library",
    "sindy",
    "mlp",
    "alder",
    "one-shot",
    "revision-only",
    "random-query",
    "oracle",
)
"""The methods in the order in which a case is measured."""

_NOTHING = {"proposals": 0, "queries": 0, "cost": 0.0, "tokens": 0, "fits": 0, "ledger": None}


def measure(job: Job) -> Iterator[Row]:
    """Return the rows of one case, one for each method; drawing the case is nobody's time."""
    case = varied_case(job.case, job.settings)
    return (_row(case, method, job) for method in job.methods)


def _row(case: Case, method: str, job: Job) -> Row:
    row = {**describe(case), **_NOTHING, **_measure(case, method, job)}
    if job.settings["forms"] in HIDDEN:
        row.pop("law", None)
    return row


def _measure(case: Case, method: str, job: Job) -> Row:
    if method in _BASELINES:
        return _BASELINES[method](case)
    seed = study_seed(job.settings["seed"], case.draw.place.number)
    if method == "one-shot":
        paired = _ledger(job, "alder")
        if "alder" not in job.methods and not paired.exists():
            studies.study(case, "alder", seed, paired)
        return studies.one_shot(case, paired)
    variant = next(v for v in get_args(studies.Variant) if v == method)
    return studies.study(case, variant, seed, _ledger(job, method))


def _ledger(job: Job, method: str) -> Path:
    return job.folder / "ledgers" / f"{job.case}-{method}.alder"


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method; failures stay in every denominator."""
    shift = [_or_infinite(row.get("shift_nmse")) for row in rows]
    functional = [_or_infinite(row.get("functional_nmse")) for row in rows]
    queries = [row.get("queries", 0) for row in rows]
    found = {
        "cases": float(len(rows)),
        "recovery_1e3": _rate(rows, "recovered_1e3"),
        "recovery_1e5": _rate(rows, "recovered_1e5"),
    }
    for split in get_args(Split):
        of_split = [row for row in rows if PLACES[row["case"]].split == split]
        if of_split:
            found[f"recovery_{split}"] = _rate(of_split, "recovered_1e3")
    for depth in ("short", "medium", "deep"):
        of_depth = [row for row in rows if row.get("depth") == depth]
        if of_depth:
            found[f"recovery_{depth}"] = _rate(of_depth, "recovered_1e3")
    if any("within_limits" in row for row in rows):
        found["within_limits"] = _rate(rows, "within_limits")
    return found | {
        "functional_nmse_median": float(np.median(functional)),
        "shift_nmse_median": float(np.median(shift)),
        "queries_median": float(np.median(queries)),
        "queries_total": float(sum(queries)),
        "proposals_total": float(sum(row.get("proposals", 0) for row in rows)),
        "cpu_s_median": float(np.median([row.get("cpu_s", 0.0) for row in rows])),
        "admitted": _rate(rows, "admitted"),
        "wrong_admitted": _rate(rows, "wrong_admitted"),
        "failed": sum("error" in row for row in rows) / len(rows),
    }


def _rate(rows: Sequence[Row], name: str) -> float:
    return sum(bool(row.get(name, False)) for row in rows) / len(rows)


def _or_infinite(error: float | None) -> float:
    """A method that ended without a law is further off than any other; 1e30, which JSON holds."""
    return 1e30 if error is None else error


BENCHMARK = Benchmark(
    name="novellaw",
    home=__name__,
    cases=tuple(PLACES),
    default_cases="iid-*,compositional-*,stress-*",
    methods=METHODS,
    measure=measure,
    figures=figures,
    table=table,
    options=OPTIONS,
    require=require_sound,
)
"""`alder bench novellaw`."""
