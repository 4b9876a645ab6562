"""What does a ledger cost? Appends one by one, opening and replaying, and loading many rows.

Run with `python benchmarks/ledger.py`, and with a folder on the disk in question as its argument.
The goals: a flat cost for each of 100,000 events, and under 2 s to open such a ledger, and to load
1,000,000 rows of evidence.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console

from alder.ledger import entries
from alder.ledger.configuration import Configuration
from alder.ledger.events import replay
from alder.ledger.store import SqliteStore, read_events
from alder.records.budget import Budget
from alder.records.evidence import Choice
from alder.records.experiment import Experiment, Trajectory
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.records.variable import Variable

GOAL_S = 2.0
N_EVENTS = 100_000
N_COMPARED = 10_000
COLUMNS: tuple[str, ...] = ("x0", "x1", "x2", "x3", "x4", "y")
CONSOLE = Console(highlight=False)


def beginning(n_rows: int) -> list[entries.Entry]:
    """Return the first events of a study: what was asked, and the first rows."""
    grammar = Grammar([Variable(name) for name in COLUMNS[:-1]], target=Variable("y"))
    configuration = Configuration(grammar, Roles(), Budget(), 0, "search", "disagreement")
    rng = np.random.default_rng(0)
    rows = Trajectory({name: rng.normal(size=n_rows) for name in COLUMNS})
    return [entries.configuration(configuration), entries.initial(rows)]


def experiments(n_events: int) -> Iterator[entries.Entry]:
    """Yield choices and their outcomes, one row each."""
    for i in range(n_events // 2):
        settings = dict.fromkeys(COLUMNS[:-1], 0.1 * i)
        chosen = Experiment(f"e{i}", settings)
        yield entries.choice(Choice(chosen, 1.0, "The candidates part here by 3 sigma."))
        columns = {name: np.array([0.1 * i]) for name in COLUMNS}
        yield entries.outcome(Trajectory(columns, f"e{i}"))


def measure_appends(path: Path) -> None:
    """Print the cost of the first and the last appends, each of them durable."""
    times = np.empty(N_EVENTS)
    with SqliteStore(path) as store:
        for entry in beginning(100):
            store.append(*entry)
        for i, entry in enumerate(experiments(N_EVENTS)):
            start = perf_counter()
            store.append(*entry)
            times[i] = perf_counter() - start
    for label, part in (("first", times[:N_COMPARED]), ("last", times[-N_COMPARED:])):
        CONSOLE.print(
            f"append, {label} {N_COMPARED:,} of {N_EVENTS:,}: {1e6 * part.mean():.0f} us each "
            f"(median {1e6 * float(np.median(part)):.0f} us)"
        )


def measure_batch(path: Path) -> None:
    """Print the cost of appends that become durable together."""
    start = perf_counter()
    with SqliteStore(path) as store, store.batch():
        for entry in experiments(N_COMPARED):
            store.append(*entry)
    seconds = perf_counter() - start
    CONSOLE.print(f"append in one batch: {1e6 * seconds / N_COMPARED:.0f} us each")


def measure_open(path: Path) -> None:
    """Print how long it takes to open a ledger, read its events, and replay them."""
    start = perf_counter()
    with SqliteStore(path) as store:
        opened = perf_counter() - start
        start = perf_counter()
        events = store.events()
        read = perf_counter() - start
    start = perf_counter()
    replay(events)
    replayed = perf_counter() - start
    CONSOLE.print(
        f"{len(events):,} events ({path.stat().st_size / 1e6:.0f} MB): opened in {opened:.2f} s"
        f"{judged(opened)}, read in {read:.2f} s, replayed in {replayed:.2f} s"
    )


def measure_rows(path: Path, n_rows: int) -> None:
    """Print how long many rows take to be written, and to become evidence again."""
    written = beginning(n_rows)
    start = perf_counter()
    with SqliteStore(path) as store:
        for entry in written:
            store.append(*entry)
    wrote = perf_counter() - start
    start = perf_counter()
    evidence = replay(read_events(path)).evidence
    loaded = perf_counter() - start
    assert evidence is not None
    assert evidence.initial.n_rows == n_rows
    CONSOLE.print(
        f"{n_rows:,} rows of {len(COLUMNS)} columns ({path.stat().st_size / 1e6:.0f} MB): written "
        f"in {wrote:.2f} s, loaded in {loaded:.2f} s{judged(loaded) if n_rows <= 10**6 else ''}"
    )


def judged(seconds: float) -> str:
    """Say whether the goal was missed."""
    return "" if seconds < GOAL_S else " (over the goal)"


def main() -> None:
    """Measure on a temporary folder, or inside the one that was named."""
    where = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        measure_rows(Path(folder) / "million.alder", 1_000_000)
        measure_rows(Path(folder) / "ten-million.alder", 10_000_000)
        measure_batch(Path(folder) / "batch.alder")
        measure_appends(Path(folder) / "events.alder")
        measure_open(Path(folder) / "events.alder")


if __name__ == "__main__":
    main()
