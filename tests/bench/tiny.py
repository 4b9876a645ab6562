"""A benchmark that takes no time and fails on demand, for the tests of how benchmarks are run."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from alder.bench.benchmark import Benchmark, Job, Row


def measure(job: Job) -> Iterator[Row]:
    sys.stdout.write("whatever a benchmark prints is no row\n")
    for method in job.methods:
        fate = job.settings["fates"].get(f"{job.case} {method}")
        if fate == "raise":
            raise ValueError("a planted failure")
        if fate == "die":
            os._exit(9)
        if fate == "hang":
            time.sleep(60.0)
        yield {"value": len(job.case) * job.settings["seed"], "pid": os.getpid()}


def figures(rows: Sequence[Row]) -> Mapping[str, float]:
    return {"failed": sum("error" in row for row in rows) / len(rows)}


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> Sequence[str]:
    return [f"{method} {f['failed']}" for method, f in figures.items()]


BENCHMARK = Benchmark(
    name="tiny",
    home="bench.tiny",
    cases=("one", "two", "three", "four-a", "four-b"),
    default_cases="3",
    methods=("first", "second", "third"),
    measure=measure,
    figures=figures,
    table=table,
    options={"fates": {}},
)
