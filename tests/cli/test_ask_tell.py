"""`alder ask` and `alder tell`: experiments of a person, in any order, late, or not at all."""

import csv
from pathlib import Path

import pytest
from cli.studies import STUDY, WRONG_GUESSES, acceleration, manual, with_proposer, write_study

from alder.cli.main import main
from alder.ledger.events import Replayed, replay
from alder.ledger.store import read_events

STUDY_AND_LEDGER = ["study.toml", "--ledger", "run.alder"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path, with_proposer(manual(), WRONG_GUESSES))


def _ask(*words: str) -> int:
    return main(["ask", *STUDY_AND_LEDGER, *words])


def _tell(*words: str) -> int:
    return main(["tell", *STUDY_AND_LEDGER, *words])


def _asked() -> list[dict[str, str]]:
    assert _ask("--csv", "todo.csv") == 0
    with Path("todo.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _write(rows: list[dict[str, object]], name: str = "results.csv") -> str:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return name


def _measured(row: dict[str, str]) -> float:
    return acceleration(float(row["r"]), float(row["v"]))


def _state() -> Replayed:
    return replay(read_events("run.alder"))


def test_ask_prints_experiments_and_writes_a_sheet(capsys: pytest.CaptureFixture[str]) -> None:
    asked = _asked()
    shown = capsys.readouterr().out
    assert "Run 3 experiments and measure a:" in shown
    assert len(asked) == 3
    assert all(row["experiment"] in shown for row in asked)
    assert list(asked[0]) == ["experiment", "r", "v", "a", "failed"]
    assert {row["a"] for row in asked} == {""}


def test_asked_again_the_same_experiments_are_out() -> None:
    assert _asked() == _asked()


def test_results_come_in_any_order_and_the_next_round_follows() -> None:
    asked = _asked()
    results: list[dict[str, object]] = [
        {"experiment": row["experiment"], "a": _measured(row)} for row in reversed(asked)
    ]
    assert _tell(_write(results)) == 0
    state = _state()
    assert [t.experiment for t in state.trajectories] == [r["experiment"] for r in results]
    assert state.trajectories[0].columns["r"][0] == float(asked[-1]["r"])
    assert not state.pending
    assert {row["experiment"] for row in _asked()}.isdisjoint(r["experiment"] for r in asked)


def test_a_sheet_filled_in_step_by_step_is_handed_in_each_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = _asked()
    for n in (1, 2):
        filled: list[dict[str, object]] = [
            {**row, "a": _measured(row) if i < n else ""} for i, row in enumerate(asked)
        ]
        assert _tell(_write(filled)) == 0
    shown = capsys.readouterr().out
    assert f"{asked[0]['experiment']} (told before)" in shown
    assert f"waiting  {asked[2]['experiment']}" in shown
    assert _state().spent.queries == 2


def test_a_failed_experiment_has_a_reason_and_is_charged_once() -> None:
    asked = _asked()
    failed: list[dict[str, object]] = [{**asked[0], "failed": "sensor unplugged"}]
    assert _tell(_write(failed)) == 0
    assert _tell(_write(failed)) == 0
    state = _state()
    assert [f.reason for f in state.failures] == ["sensor unplugged"]
    assert state.spent.queries == 1


def test_an_abandoned_experiment_may_still_be_told_late() -> None:
    asked = _asked()
    name = asked[0]["experiment"]
    assert _tell("--abandon", name) == 0
    assert _state().abandoned == (name,)
    assert _tell(_write([{"experiment": name, "a": _measured(asked[0])}])) == 0
    state = _state()
    assert [t.experiment for t in state.trajectories] == [name]
    assert state.spent.queries == 1


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("experiment,a\ne999,1.0\n", "Experiment e999 was never asked for"),
        ("id,a\ne1,1.0\n", "`experiment` is not a column of results.csv"),
        ("experiment,b\ne1,1.0\n", "`a` is not a column of results.csv"),
        ("experiment,a\ne1,\n", "results.csv holds no result yet"),
        ("experiment,a\ne1,high\n", "high"),
    ],
)
def test_what_cannot_be_told_is_one_sentence_and_changes_nothing(
    table: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _asked()
    before = _state().digest
    Path("results.csv").write_text(table, encoding="utf-8")
    assert _tell("results.csv") == 2
    assert sentence in capsys.readouterr().err
    assert _state().digest == before


def test_one_unknown_id_keeps_the_whole_file_out() -> None:
    asked = _asked()
    rows: list[dict[str, object]] = [
        {"experiment": asked[0]["experiment"], "a": 1.0},
        {"experiment": "e999", "a": 1.0},
    ]
    assert _tell(_write(rows)) == 2
    assert _state().trajectories == ()


def test_telling_before_asking_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert _tell("--abandon", "e1") == 2
    assert "alder ask study.toml --ledger run.alder makes one" in capsys.readouterr().err


def test_a_study_by_hand_ends_with_a_law(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text(
        STUDY.replace('kind = "pool"', 'kind = "manual"'), encoding="utf-8"
    )
    for _ in range(4):
        assert _ask("--csv", "todo.csv") == 0
        if "✓ ADMITTED" in capsys.readouterr().out:
            break
        with Path("todo.csv").open(encoding="utf-8") as file:
            asked = list(csv.DictReader(file))
        rows: list[dict[str, object]] = [{**row, "a": _measured(row)} for row in asked]
        assert _tell(_write(rows)) == 0
    assert (tmp_path / "law.json").exists()
