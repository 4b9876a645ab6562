"""alder report, show and audit on the ledger of a small real study."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from report.ledgers import PROTECTED, WIDE, Plan, draw, write_study

from alder.cli.main import main
from alder.records.budget import Budget


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("study") / "run.alder")


@pytest.fixture
def folder(tmp_path: Path, study: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "run.alder").write_bytes(study.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write_csv(path: Path, columns: dict[str, np.ndarray]) -> None:
    rows = np.column_stack(list(columns.values()))
    lines = [",".join(repr(float(x)) for x in row) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")


def test_report_writes_a_page_and_names_the_next_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "run.alder"]) == 0
    assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert "alder audit run.alder" in capsys.readouterr().out


def test_show_prints_the_rounds_and_the_law(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "run.alder"]) == 0
    shown = capsys.readouterr().out
    assert "Round 1  40 rows" in shown
    assert "× refuted" in shown
    assert "✓ ADMITTED" in shown
    assert "alder report run.alder" in shown


def test_show_of_a_refusal_ends_with_status_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path / "run.alder", Plan(unsafe=True))
    assert main(["show", str(path)]) == 3
    assert "● REFUSED  no-safe-experiment" in capsys.readouterr().out


def test_show_lists_every_event(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "run.alder", "--events"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split()[::2] == ["1", "configuration"]
    assert "end" in shown[-2]


def test_audit_of_an_untouched_ledger_finds_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write_csv(folder / "kept.csv", PROTECTED)
    assert main(["audit", "run.alder", "--protected", "kept.csv"]) == 0
    shown = capsys.readouterr().out
    assert "✓ chain" in shown
    assert "✓ leaks" in shown
    words = " ".join(shown.split())
    assert "none of 40 rows, and of 40 values that only they hold, occurs in" in words
    assert "commitments not recomputed, their salts stay in the vault" in words
    assert "a ledger does not hold the experiments on offer; give --pool" in words
    assert "not looked at: choices, sealed, digest." in words


def test_audit_says_where_the_rows_are_not_as_many_as_committed_to(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write_csv(folder / "kept.csv", {name: column[:30] for name, column in PROTECTED.items()})
    assert main(["audit", "run.alder", "--protected", "kept.csv"]) == 3
    assert "30 admission rows were given; the ledger committed to 40." in capsys.readouterr().out


def test_audit_chooses_again_from_the_pool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "run.alder", Plan(budget=Budget(proposals=1, queries=6, batch=6)))
    _write_csv(tmp_path / "pool.csv", draw(3, 160, WIDE))
    assert main(["audit", "run.alder", "--pool", "pool.csv"]) == 0
    shown = " ".join(capsys.readouterr().out.split())  # lines break where the terminal ends
    assert "1 selections replayed" in shown


def test_audit_finds_choices_that_do_not_follow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "run.alder", Plan(budget=Budget(proposals=1, queries=6, batch=6)))
    _write_csv(tmp_path / "pool.csv", draw(7, 160, WIDE))
    assert main(["audit", "run.alder", "--pool", "pool.csv"]) == 3
    assert "× choices" in capsys.readouterr().out


def test_audit_finds_a_changed_event(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connection = sqlite3.connect(folder / "run.alder")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE events SET kind = 'charge' WHERE number = 2")
    connection.commit()
    connection.close()
    assert main(["audit", "run.alder"]) == 3
    assert "× chain" in capsys.readouterr().out


def test_audit_finds_protected_rows_among_public_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from report.ledgers import NARROW, measured

    _write_csv(folder / "first.csv", measured(draw(1, 40, NARROW), 2))
    assert main(["audit", "run.alder", "--protected", "first.csv"]) == 3
    assert "× leaks" in capsys.readouterr().out


def test_a_file_that_is_no_ledger_is_misuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x\n1\n")
    assert main(["show", str(path)]) == 2
    assert capsys.readouterr().err.startswith("error ")
