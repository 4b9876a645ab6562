"""A process that writes is killed, at every event and at random moments; nothing is lost."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from alder.errors import BadLedger
from alder.ledger.store import SqliteStore, read_events

# Appends without end: says the digest of each event once its append has returned, and goes on when
# it is told to. Every third event carries an array, so that its transaction spans many pages.
WRITER = """
import sys
import numpy as np
from alder.ledger.store import SqliteStore

store = SqliteStore(sys.argv[1])
n = 0
while True:
    if sys.argv[2] == "asks" and not sys.stdin.read(1):
        break
    content = {"n": n, "rows": np.random.default_rng(n).normal(size=2000 if n % 3 == 0 else 5)}
    print(store.append("note", content), flush=True)
    n += 1
"""

# Says the digest of each append that returned, and kills itself just before statement number n.
SUICIDE = """
import os, signal, sys
import numpy as np
from alder.ledger.store import SqliteStore

store = SqliteStore(sys.argv[1])
left = int(sys.argv[2])

def count(statement):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

store._connection.set_trace_callback(count)
for n in range(3):
    print(store.append("note", {"n": n, "rows": np.full(2000, float(n))}), flush=True)
"""


def start(path: Path, manner: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), manner],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def kill(writer: subprocess.Popen[str]) -> list[str]:
    """Kill it without warning; return the digests it still said."""
    writer.send_signal(signal.SIGKILL)
    # Not `communicate`, which would pass over lines that lie in the buffer of earlier reads.
    said = pipe(writer.stdout).read()
    assert writer.wait() == -signal.SIGKILL
    pipe(writer.stdin).close()
    pipe(writer.stdout).close()
    return [line for line in said.split("\n") if len(line) == 64]


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def assert_kept(path: Path, promised: list[str]) -> None:
    """Every event whose append returned is there; at most one more was on its way."""
    assert [event.digest for event in read_events(path)][: len(promised)] == promised
    with SqliteStore(path) as store:
        events = store.events()
        assert [event.digest for event in events][: len(promised)] == promised
        assert [event.content["n"] for event in events] == list(range(len(events)))


def test_a_writer_killed_at_every_event_loses_none(tmp_path: Path) -> None:
    """One writer is killed for each of the first events: after its answer, none asked for."""
    for n_events in range(1, 6):
        path = tmp_path / f"{n_events}.alder"
        writer = start(path, "asks")
        promised: list[str] = []
        for _ in range(n_events):
            pipe(writer.stdin).write("x")
            pipe(writer.stdin).flush()
            promised.append(pipe(writer.stdout).readline().strip())
        assert kill(writer) == []
        assert_kept(path, promised)
        assert len(read_events(path)) == n_events


@pytest.mark.parametrize("statement", range(1, 11))
def test_a_writer_killed_before_any_statement_keeps_what_it_promised(
    tmp_path: Path, statement: int
) -> None:
    path = tmp_path / "run.alder"
    ran = subprocess.run(
        [sys.executable, "-c", SUICIDE, str(path), str(statement)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL
    assert_kept(path, ran.stdout.split())
    assert len(read_events(path)) == len(ran.stdout.split())


@pytest.mark.parametrize("seed", range(6))
def test_a_writer_killed_in_the_middle_of_an_append_loses_none(tmp_path: Path, seed: int) -> None:
    """The writer does not wait: the signal meets it anywhere in the append of some event."""
    path = tmp_path / "run.alder"
    writer = start(path, "runs")
    n_lines = random.Random(seed).randrange(1, 60)
    promised = [pipe(writer.stdout).readline().strip() for _ in range(n_lines)]
    promised += kill(writer)
    assert_kept(path, promised)
    assert len(read_events(path)) <= len(promised) + 1


def test_the_lock_of_a_killed_writer_is_free_and_that_of_a_living_one_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.alder"
    writer = start(path, "asks")
    pipe(writer.stdin).write("x")
    pipe(writer.stdin).flush()
    pipe(writer.stdout).readline()
    with pytest.raises(BadLedger, match=rf"another process \({writer.pid}\)"):
        SqliteStore(path)
    assert len(read_events(path)) == 1
    kill(writer)
    with SqliteStore(path) as store:
        store.append("note", {"n": 1})
    assert not os.path.lexists(f"{path}-lock")


def test_a_ledger_killed_again_and_again_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.alder"
    promised: list[str] = []
    for _ in range(3):
        writer = start(path, "runs")
        promised += [pipe(writer.stdout).readline().strip() for _ in range(4)]
        promised += kill(writer)
        found = [event.digest for event in read_events(path)]
        assert found[: len(promised)] == promised
        promised = found
