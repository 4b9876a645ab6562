import json
from pathlib import Path

import pytest

from alder.cli.main import MISUSE, main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["novelaw"], "Did you mean `novellaw`?"),
        (["novellaw", "--forms", "z"], "--forms z"),
        (["novellaw", "--method", "alde"], "alder"),
        (["novellaw", "--cases", "iid-9*"], "iid-01a"),
        (["null", "--noise", "0.1"], "no option of null"),
        (["null", "--export", "there"], "no option of null"),
    ],
)
def test_what_no_benchmark_can_do_is_misuse(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words]) == MISUSE
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_writes_rows_summary_and_figures_and_prints_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    words = ["novellaw", "--cases", "development-01a", "--method", "oracle", "--out", str(out)]
    assert main(["bench", *words]) == 0
    shown = capsys.readouterr().out
    assert "oracle" in shown
    assert "results/rows.jsonl" in shown
    assert sorted(path.name for path in out.iterdir()) == [
        "queries.svg", "recovery-by-depth.svg", "recovery-by-split.svg", "rows.jsonl",
        "shift-error.svg", "summary.json",
    ]  # fmt: skip
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["methods"]["oracle"]["recovery_1e5"] == 1.0


def test_a_release_is_written_without_measuring(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    words = ["novellaw", "--cases", "development-01a", "--export", str(folder)]
    assert main(["bench", *words]) == 0
    assert (folder / "public" / "development-01a" / "fit.csv").exists()
