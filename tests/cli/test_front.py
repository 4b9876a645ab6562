"""The front in the terminal, and what a long search shows while it runs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from cli.studies import STUDY, WRONG_GUESSES, with_proposer, write_study
from report.ledgers import write_study as write_ledger
from rich.console import Console

from alder.cli.front import MOST, show_front
from alder.cli.main import main
from alder.cli.progress import Progress
from alder.expr.text import parse
from alder.fitting import fit
from alder.ledger.events import Replayed, replay
from alder.ledger.store import read_events
from alder.records.front import FrontLaw
from alder.records.glimpse import Glimpse

LAW = parse("k*r^p - c*v + b*u", ["r", "v", "u"])
VALUES = {"k": 2.4, "p": -1.5, "c": 0.35, "b": 1.0}


def laws(n: int) -> list[FrontLaw]:
    """Return a front of laws that grow by one term each, every one more accurate."""
    x = np.linspace(1.0, 2.0, 60)
    found: list[FrontLaw] = []
    for k in range(n):
        text = " + ".join(["a0", *(f"a{i}*tanh({i}.25*x)" for i in range(1, k + 1))])
        law = fit(text, {"x": x, "y": np.exp(np.sin(9.0 * x))}, target="y").law
        found.append(FrontLaw(law, 2.0**-k))
    return found


def printed(front: Sequence[FrontLaw], width: int = 100) -> list[str]:
    console = Console(file=StringIO(), width=width, highlight=False, markup=False)
    show_front(console, front)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_the_table_fits_eighty_columns() -> None:
    shown = printed(laws(6))
    assert max(map(len, shown)) <= 80
    assert any(line.endswith("…") for line in shown)


def test_a_long_front_keeps_what_was_submitted_and_counts_the_rest() -> None:
    front = laws(12)
    front[10] = replace(front[10], standing="refused")
    shown = printed(front)
    assert any(line.startswith("refused") for line in shown)
    assert f"and {12 - MOST} more; the report has them all" in " ".join(shown)


def test_a_front_of_one_law_is_not_printed() -> None:
    assert printed(laws(1)) == []


@pytest.mark.parametrize("command", ["discover", "show"])
def test_a_study_ends_with_its_front(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path, with_proposer(STUDY, WRONG_GUESSES))
    main(["discover", "study.toml", "--ledger", "run.alder", "--budget", "proposals=2"])
    if command == "show":
        capsys.readouterr()
        main(["show", "run.alder"])
    lines = capsys.readouterr().out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("front"))
    assert lines[head].split() == ["front", "nodes", "error,", "m/s^2", "law"]
    assert any(line.startswith("refused") and "a = " in line for line in lines[head:])


@cache
def running() -> Replayed:
    """Return a study that has just begun."""
    with TemporaryDirectory() as folder:
        return replay(read_events(write_ledger(Path(folder) / "run.alder"))[:3])


def moving(seconds: float, width: int = 80, *, best: bool = True) -> list[str]:
    """Return the moving lines when a search has taken so long."""
    now = [10.0]
    console = Console(file=StringIO(), width=width)
    progress = Progress(console, keeps="run.alder", clock=lambda: now[0])
    progress("initial", running())
    progress.glimpse(Glimpse("sums of terms"))
    now[0] += seconds
    seen = Glimpse("sums of terms", 1234)
    progress.glimpse(replace(seen, best=LAW, values=VALUES) if best else seen)
    return progress._moving().plain.splitlines()


def test_a_long_search_shows_its_stage_its_fits_and_its_best_law() -> None:
    (line,) = [line for line in moving(3.0) if "sums of terms" in line]
    assert "1234 fits" in line
    assert "a = 2.4*r^-1.5 - 0.35*v" in line


def test_a_short_search_shows_nothing_of_it() -> None:
    assert not [line for line in moving(1.0) if "sums of terms" in line]


def test_before_there_is_a_law_the_fits_are_shown() -> None:
    (line,) = [line for line in moving(3.0, best=False) if "sums of terms" in line]
    assert line.endswith("1234 fits   3 s")


@pytest.mark.parametrize("width", [30, 60, 80])
def test_the_best_law_is_cut_where_the_terminal_ends(width: int) -> None:
    (line,) = [line for line in moving(3.0, width) if "sums of terms" in line]
    assert len(line) <= width
    assert line.endswith("…") or width == 80


def test_the_next_event_ends_what_is_told_of_a_search() -> None:
    now = [0.0]
    progress = Progress(Console(file=StringIO()), keeps="", clock=lambda: now[0])
    progress("initial", running())
    progress.glimpse(Glimpse("sums of terms"))
    now[0] = 5.0
    progress("proposal", running())
    assert "sums of terms" not in progress._moving().plain


@pytest.mark.parametrize("terminal", [True, False])
def test_there_is_a_bar_on_a_terminal_only(terminal: bool) -> None:
    console = Console(file=StringIO(), force_terminal=terminal, width=80)
    with Progress(console, keeps="") as progress:
        progress("configuration", running())
        progress.glimpse(Glimpse("sums of terms"))
    assert isinstance(console.file, StringIO)
    assert ("proposing" in console.file.getvalue()) == terminal
