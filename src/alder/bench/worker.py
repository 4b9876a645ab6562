"""A process that measures jobs: one JSON line in, one line a row out.

Started as `python -m alder.bench.worker`, so that it needs no `__main__` of its caller. A job that
raises ends the process; the caller keeps the rows so far, notes the failure and starts another.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.registry import load

DONE = "done"
"""The key of the line that ends a job."""


def main() -> None:
    """Answer jobs until standard input ends."""
    answers = _take_stdout()
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        job = Job(asked["case"], tuple(asked["methods"]), asked["settings"], Path(asked["folder"]))
        for row in measure(load(asked["home"]), job):
            print(json.dumps(row), file=answers, flush=True)
        print(json.dumps({DONE: True}), file=answers, flush=True)


def measure(measured: Benchmark, job: Job) -> Iterator[Row]:
    """Yield the rows of a job, each with the seconds of computing and of waiting it took."""
    rows = measured.measure(job)
    for method in job.methods:
        cpu, wall = _cpu_seconds(), time.perf_counter()
        row = next(rows)
        times = {
            "cpu_s": round(_cpu_seconds() - cpu, 3),
            "wall_s": round(time.perf_counter() - wall, 3),
        }
        yield {"case": job.case, "method": method, **row, **times}


def _cpu_seconds() -> float:
    """Return the seconds this process and its ended children, such as verifiers, computed."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _take_stdout() -> TextIO:
    """Keep standard output for rows; whatever else is printed goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


if __name__ == "__main__":
    main()
