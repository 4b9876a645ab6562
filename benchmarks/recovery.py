"""Alder beside its peers: who finds the law, in the same rows and the same CPU time?

    python benchmarks/recovery.py [--seconds 30] [--jobs 1] [--out recovery-results] [--resume]
        [--method alder --method operon ...] [--cases 'feynman-*'] [--seed N]

Twenty laws of NovelLaw (seven variables, 0.5 % noise, 288 public rows; form sets a and b) and the
first thirty equations of the Feynman set (published ranges, 500 rows, no noise). One core each;
imports and compilation are nobody's time. A method that ends by itself may take less than its
seconds; one that takes more is counted as over. Peers come with `pip install -e ".[peers]"`.

Exact: on fresh noiseless rows of a wider domain, a relative error of at most 1e-6 (Feynman) or an
NMSE of at most 1e-5 (NovelLaw, whose rows have noise). Refitted: the same with the numbers of the
formula refitted in double precision. Shift: NMSE on rows outside the fitted ranges.
"""

import argparse
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import peers_regression as peers
from recovery_cases import CASES, Case, make, seed_of
from recovery_scores import score
from rich.console import Console
from rich.progress import Progress

from alder.bench.benchmark import (
    Benchmark,
    Job,
    Row,
    choose_cases,
    choose_methods,
    choose_settings,
)
from alder.bench.runs import Plan, run
from alder.errors import AlderError

SETS = ("novellaw", "feynman")
# No proposer was developed on the rows this seed draws.
_SEED = 20261117
# A method may end a generation late; more than this share of its seconds is over.
_OVER = 1.1
# What a row may take besides its search: formulas are compared, and numbers refitted.
_SCORING_SECONDS = 120.0


def measure(job: Job) -> Iterator[Row]:
    """Return the rows of one case, one for each method."""
    case = make(job.case, job.settings["seed"])
    for method in job.methods:
        peers.prepare(method)
    return (_row(case, method, job) for method in job.methods)


def _row(case: Case, method: str, job: Job) -> Row:
    task = peers.Task(
        case.names,
        case.inputs(case.fit),
        case.fit[case.target],
        case.operators,
        case.max_nodes,
        float(job.settings["seconds"]),
        seed_of(case.name, job.settings["seed"]),
    )
    begin = time.process_time()
    try:
        found = peers.METHODS[method](task)
    except peers.NotRun as reason:
        return {"not_run": str(reason)}
    spent = time.process_time() - begin
    return {
        **score(case, found),
        "search_s": round(spent, 3),
        "over": spent > _OVER * task.seconds,
    }


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method, by set of cases; a failed row is not exact."""
    found: dict[str, float] = {}
    for name in SETS:
        ran = [r for r in rows if r["case"].startswith(name) and "not_run" not in r]
        if not ran:
            continue
        found |= {
            f"{name}_cases": float(len(ran)),
            f"{name}_exact": float(sum(bool(r.get("exact")) for r in ran)),
            f"{name}_refitted": float(sum(bool(r.get("exact_refitted")) for r in ran)),
            f"{name}_symbolic": float(sum(bool(r.get("symbolic")) for r in ran)),
            f"{name}_shift_nmse": float(np.median([r.get("shift_nmse", 1e30) for r in ran])),
            f"{name}_nodes": _median([r["n_nodes"] for r in ran if r.get("n_nodes")]),
            f"{name}_search_s": _median([r["search_s"] for r in ran if "search_s" in r]),
            f"{name}_search_s_most": max(
                (r["search_s"] for r in ran if "search_s" in r), default=0.0
            ),
            f"{name}_over": float(sum(bool(r.get("over")) for r in ran)),
            f"{name}_failed": float(sum("error" in r for r in ran)),
        }
    return found


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else 0.0


def table(rows: Sequence[Row], found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the table as Markdown, one for each set, and why a method was not run."""
    head = (
        "| method | exact | refitted | symbolic | shift NMSE, median | nodes, median | "
        "CPU s, median (most) | over | failed |"
    )
    lines: list[str] = []
    for name in SETS:
        if not any(f"{name}_cases" in f for f in found.values()):
            continue
        lines += ["", name, "", head, "|---|---|---|---|---|---|---|---|---|"]
        for method, f in found.items():
            if f"{name}_cases" not in f:
                continue
            g = {key.removeprefix(f"{name}_"): value for key, value in f.items()}
            symbolic = f"{g['symbolic']:.0f}" if name == "feynman" else ""
            lines.append(
                f"| {method} | {g['exact']:.0f} of {g['cases']:.0f} | {g['refitted']:.0f} | "
                f"{symbolic} | {g['shift_nmse']:.1e} | {g['nodes']:.0f} | "
                f"{g['search_s']:.1f} ({g['search_s_most']:.1f}) | {g['over']:.0f} | "
                f"{g['failed']:.0f} |"
            )
    reasons = {r["method"]: r["not_run"] for r in rows if "not_run" in r}
    return [*lines, *(f"\nNot run: {method}: {why}." for method, why in reasons.items())]


BENCHMARK = Benchmark(
    name="recovery",
    home="recovery",
    cases=CASES,
    default_cases="*",
    methods=tuple(peers.METHODS),
    measure=measure,
    figures=figures,
    table=table,
    options={"seconds": 30.0},
)
"""The comparison, as workers find it."""


def main() -> None:
    """Measure what is missing, and print the table of all rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="CPU seconds for each case")
    parser.add_argument("--cases", help="globs such as 'feynman-*', or the first so many")
    parser.add_argument("--method", action="append", help="one method; may be repeated")
    parser.add_argument("--seed", type=int, default=_SEED)
    parser.add_argument("--jobs", type=int, default=1, help="cases measured at once")
    parser.add_argument("--out", type=Path, default=Path("recovery-results"))
    parser.add_argument("--resume", action="store_true", help="keep rows of an earlier run")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    try:
        settings = choose_settings(BENCHMARK, options.seed, {"seconds": options.seconds})
        plan = Plan(
            BENCHMARK,
            choose_cases(BENCHMARK, options.cases),
            choose_methods(BENCHMARK, options.method),
            settings,
            options.out,
            options.jobs,
            limit=20.0 * options.seconds + _SCORING_SECONDS,
        )
        with Progress(console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("cases", total=len(plan.cases))
            result = run(
                plan, resume=options.resume, watch=lambda n: progress.update(bar, completed=n)
            )
    except AlderError as error:
        raise SystemExit(f"error: {error}") from None
    for line in table(result.rows, result.figures):
        print(line)


if __name__ == "__main__":
    main()
