"""Run a benchmark: rows into `rows.jsonl` as they come, figures of all rows into `summary.json`."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from alder.bench import provenance
from alder.bench.benchmark import Benchmark, Job, Row, Settings
from alder.bench.workers import measure_all
from alder.errors import BadStudy

ROWS, SUMMARY, LEDGERS = "rows.jsonl", "summary.json", "ledgers"
TIMES = ("cpu_s", "wall_s", "ledger")
"""What differs between two runs of the same: seconds, and ledger digests, which cover seconds."""

_LIMIT = 1800.0


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured; `n_workers` cases at once, results in `out`."""

    benchmark: Benchmark
    cases: tuple[str, ...]
    methods: tuple[str, ...]
    settings: Settings
    out: Path
    n_workers: int = 1
    limit: float = _LIMIT


@final
@dataclass(frozen=True, slots=True)
class Result:
    """Every row of a run in the order of its plan, and the figures of each method."""

    rows: Sequence[Row]
    figures: Mapping[str, Mapping[str, float]]


def run(plan: Plan, *, resume: bool = False, watch: Callable[[int], object] = int) -> Result:
    """Measure what the plan asks for and write both files.

    With `resume` rows of an earlier, stopped run are kept. `watch` is called with the number of
    cases done.
    """
    plan.out.mkdir(parents=True, exist_ok=True)
    path = plan.out / ROWS
    kept = _read(path, plan) if resume else []
    _set_aside(path, kept)
    if not kept and (plan.out / LEDGERS).is_dir():
        shutil.rmtree(plan.out / LEDGERS)
    rows = {(row["case"], row["method"]): row for row in kept}
    done = sum(not missing for _, missing in _missing(plan, rows))
    watch(done)
    origin = _origin(plan)
    with path.open("a", encoding="utf-8") as file:
        jobs = [
            Job(case, missing, plan.settings, plan.out.resolve())
            for case, missing in _missing(plan, rows)
            if missing
        ]
        for row in measure_all(plan.benchmark, jobs, plan.n_workers, plan.limit):
            if row is None:
                done += 1
                watch(done)
                continue
            row = {**row, **origin}
            rows[row["case"], row["method"]] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
    return _finish(plan, rows)


def read_rows(path: Path) -> list[Row]:
    """Read rows; a last line that was torn by a kill is left out."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _read(path: Path, plan: Plan) -> list[Row]:
    """Return the rows to keep; raise `BadStudy` where they were measured with other settings."""
    rows = read_rows(path)
    for row in rows:
        if row["benchmark"] != plan.benchmark.name or row["settings"] != dict(plan.settings):
            raise BadStudy(
                f"{path.name} in {plan.out.name} holds rows of {row['benchmark']} with settings "
                f"{json.dumps(row['settings'])}; use the same ones, or choose another --out."
            )
    return rows


def _set_aside(path: Path, kept: Sequence[Row]) -> None:
    """Begin the file with the kept rows; an old one that is not continued gets another name."""
    if path.exists() and not kept:
        path.replace(path.with_name("rows.old.jsonl"))
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")


def _missing(
    plan: Plan, rows: Mapping[tuple[str, str], Row]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for case in plan.cases:
        yield case, tuple(m for m in plan.methods if (case, m) not in rows)


def _origin(plan: Plan) -> dict[str, Any]:
    return {
        "benchmark": plan.benchmark.name,
        "seed": plan.settings["seed"],
        "settings": dict(plan.settings),
        "commit": provenance.commit(),
        "versions": dict(provenance.versions()),
    }


def _finish(plan: Plan, found: Mapping[tuple[str, str], Row]) -> Result:
    """Write rows in the order of the benchmark, and the figures of those the plan asks for."""
    case_order = {case: i for i, case in enumerate(plan.benchmark.cases)}
    method_order = {method: i for i, method in enumerate(plan.benchmark.methods)}
    rows = sorted(
        found.values(), key=lambda row: (case_order[row["case"]], method_order[row["method"]])
    )
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (plan.out / ROWS).write_text(lines, encoding="utf-8")
    wanted = [row for row in rows if row["case"] in plan.cases and row["method"] in plan.methods]
    figures = {
        method: dict(plan.benchmark.figures([row for row in wanted if row["method"] == method]))
        for method in plan.methods
    }
    summary = {
        "benchmark": plan.benchmark.name,
        "seed": plan.settings["seed"],
        "commit": " ".join(dict.fromkeys(row["commit"] for row in wanted)),
        "settings": dict(plan.settings),
        "methods": figures,
    }
    text = json.dumps(summary, indent=2) + "\n"
    (plan.out / SUMMARY).write_text(text, encoding="utf-8")
    return Result(wanted, figures)
