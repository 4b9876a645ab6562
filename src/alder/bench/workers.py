"""Worker processes: each measures one job at a time; one that dies costs one row."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, TypeAlias, final

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.worker import DONE

# One thread of linear algebra for each worker: rounding, and so results, do not depend on jobs.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


_Found: TypeAlias = "SimpleQueue[Row | Exception | None]"


@final
class Worker:
    """One process, started when it is first needed and again after it died."""

    def __init__(self, benchmark: Benchmark, limit: float) -> None:
        """Remember what to start; `limit` is the most seconds a single row may take."""
        self._benchmark = benchmark
        self._limit = limit
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        # Closed by `close`; an unread pipe would block a worker that says much.
        self._said: IO[str] = tempfile.TemporaryFile(  # noqa: SIM115
            "w+", encoding="utf-8", errors="replace"
        )

    def measure(self, job: Job) -> Iterator[Row]:
        """Yield one row for each method of a job; failures and time-outs are rows."""
        left = list(job.methods)
        while left:
            process = self._send(Job(job.case, tuple(left), job.settings, job.folder))
            for row in self._answers(process):
                left.remove(row["method"])
                yield row
            if self._stopped:
                return
            if left:
                yield {"case": job.case, "method": left.pop(0), "error": self._failure()}

    def stop(self) -> None:
        """End the process; whoever waits for its rows waits no longer."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Give back what the process held; nobody waits for it any more."""
        if self._process is not None:
            self._forget(self._process)
        self._said.close()

    def _send(self, job: Job) -> "subprocess.Popen[str]":
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "alder.bench.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                text=True,
                encoding="utf-8",
                env={**os.environ, **_ENVIRONMENT},
            )
        asked = {
            "home": self._benchmark.home,
            "case": job.case,
            "methods": job.methods,
            "settings": dict(job.settings),
            "folder": str(job.folder),
        }
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it died on its way; what it said is read later
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        return self._process

    def _answers(self, process: "subprocess.Popen[str]") -> Iterator[Row]:
        """Yield rows until the job is done, or the process has ended."""
        assert process.stdout is not None
        while True:
            guard = threading.Timer(self._limit, process.kill)
            guard.start()
            line = process.stdout.readline()
            guard.cancel()
            if not line.endswith("\n"):
                return
            row: Row = json.loads(line)
            if DONE in row:
                return
            yield row

    def _failure(self) -> str:
        """Say how the process ended, and forget it."""
        assert self._process is not None
        status = self._process.wait()
        self._said.seek(0)
        lines = [line for line in self._said.read().splitlines() if line.strip()]
        self._said.seek(0)
        self._said.truncate()
        self._forget(self._process)
        if status < 0:
            return f"killed by signal {-status}; the limit is {self._limit:g} s a row"
        last = f": {lines[-1].strip()}" if lines else ""
        return f"ended with status {status}{last}"

    def _forget(self, process: "subprocess.Popen[str]") -> None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        self._process = None


def measure_all(
    benchmark: Benchmark, jobs: Sequence[Job], n_workers: int, limit: float
) -> Iterator[Row | None]:
    """Yield the rows of all jobs as they come, and None after each job."""
    waiting: SimpleQueue[Job] = SimpleQueue()
    for job in jobs:
        waiting.put(job)
    found: _Found = SimpleQueue()
    workers = [Worker(benchmark, limit) for _ in range(min(n_workers, len(jobs)))]
    threads = [threading.Thread(target=_serve, args=(w, waiting, found)) for w in workers]
    try:
        for thread in threads:
            thread.start()
        for _ in jobs:
            yield from _until_done(found)
    finally:
        while not waiting.empty():
            waiting.get()
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join()
        for worker in workers:
            worker.close()


def _serve(worker: Worker, waiting: "SimpleQueue[Job]", found: _Found) -> None:
    """Take jobs while there are any; a failure of the machine itself goes to who waits."""
    while True:
        try:
            job = waiting.get_nowait()
        except Empty:
            return
        try:
            for row in worker.measure(job):
                found.put(row)
            found.put(None)
        except (OSError, ValueError) as failure:
            found.put(failure)
            return


def _until_done(found: _Found) -> Iterator[Row | None]:
    """Yield what comes up to the end of some job."""
    while True:
        row = found.get()
        if isinstance(row, Exception):
            raise row
        yield row
        if row is None:
            return
