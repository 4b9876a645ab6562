"""`alder ask --between`: which experiment decides between two laws."""

from pathlib import Path

import numpy as np
import pytest
from cli.studies import WRONG_GUESSES, manual, with_proposer, write_study

import alder
from alder.cli.main import MISUSE, main
from alder.ledger.events import replay
from alder.ledger.store import read_events


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path, with_proposer(manual(), WRONG_GUESSES))
    rng = np.random.default_rng(0)
    r, v = rng.uniform(0.9, 1.1, 40), rng.uniform(-2.0, 2.0, 40)
    rows = {"r": r, "v": v, "a": 2.4 * r**-1.5 - 0.35 * v + 0.03 * rng.standard_normal(40)}
    for name, law in {"power": "k*r^p - c*v", "decay": "k*exp(-r/s) - c*v"}.items():
        alder.fit(law, rows, target="a").law.save(f"{name}.json")


def _ask(*words: str) -> int:
    return main(["ask", "study.toml", *words])


def test_two_saved_laws_get_the_experiment_that_decides_between_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _ask("--between", "power.json", "decay.json") == 0
    shown = capsys.readouterr().out
    assert "Run 1 experiment and measure a:" in shown
    assert "separates  power from decay by " in shown
    assert "decides    with chance " in shown


def test_files_of_one_name_in_two_folders_are_two_laws(capsys: pytest.CaptureFixture[str]) -> None:
    for folder, name in (("monday", "power"), ("friday", "decay")):
        Path(folder).mkdir()
        Path(f"{name}.json").rename(f"{folder}/law.json")
    assert _ask("--between", "monday/law.json", "friday/law.json") == 0
    assert "monday/law.json from friday/law.json by " in capsys.readouterr().out


def test_nothing_is_recorded() -> None:
    before = sorted(path.name for path in Path.cwd().iterdir())
    assert _ask("--between", "power.json", "decay.json") == 0
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


def test_a_rival_of_the_ledger_and_a_formula_are_laws_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _ask("--ledger", "run.alder") == 0
    digest = replay(read_events("run.alder")).digest
    capsys.readouterr()
    assert _ask("--ledger", "run.alder", "--between", "A", "k*r^p - c*v") == 0
    assert "separates  A from k*r^p - c*v by " in capsys.readouterr().out
    assert replay(read_events("run.alder")).digest == digest


def test_laws_that_agree_everywhere_end_with_the_status_of_a_refusal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _ask("--ledger", "run.alder") == 0
    same = ("k*exp(-r/s) - c*v", "k*exp(-r*s) - c*v")
    assert _ask("--ledger", "run.alder", "--between", *same) == 3
    assert "no safe experiment that is left separates the two laws" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--between", "power.json"], "2 arguments"),
        (["--between", "power.json", "power.json"], "names one law twice"),
        (["--between", "power.json", "none.json"], "There is no file none.json"),
        (["--between", "power.json", "B"], "`B` is no rival of a ledger"),
        (["--between", "power.json", "k*r"], "add `--ledger run.alder`"),
        (["--ledger", "none.alder", "--between", "A", "B"], "There is no ledger none.alder"),
        ([], "add `--ledger run.alder`"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ask(*words) == MISUSE
    assert said in capsys.readouterr().err


def test_a_law_of_another_world_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.linspace(1.0, 2.0, 9)
    alder.fit("k*x", {"x": x, "a": x + x**2}, target="a").law.save("odd.json")
    assert _ask("--between", "power.json", "odd.json") == MISUSE
    assert "odd.json uses `x`, which is no variable of study.toml" in capsys.readouterr().err
