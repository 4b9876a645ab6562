"""`alder discover`: a study from a file or from rows, its progress, its end and its exit status."""

import shlex
from pathlib import Path

import numpy as np
import pytest
from cli.studies import STUDY, WRONG_GUESSES, manual, with_proposer, write_rows, write_study

from alder.cli.main import main
from alder.records.law import Law


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def test_a_study_ends_with_a_law_that_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path)
    assert main(["discover", "study.toml", "--ledger", "run.alder"]) == 0
    shown = capsys.readouterr().out
    assert "✓ ADMITTED  a = k*r^p - c*v" in shown
    assert "submission" in shown
    assert "run.alder" in shown
    assert all(len(line) <= 100 for line in shown.splitlines())
    law = Law.load(tmp_path / "law.json")
    assert law.values["p"] == pytest.approx(-1.5, abs=0.2)


def test_each_round_says_what_was_submitted_and_which_experiment_told_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guesses = '[proposer]\nguesses = ["k*exp(-r/s) - c*v"]\n'
    write_study(tmp_path, with_proposer(STUDY, guesses))
    main(["discover", "study.toml", "--budget", "proposals=2"])
    shown = capsys.readouterr().out
    assert "Round 1  40 rows   submitted k*exp(-r/s) - c*v" in shown
    assert "rejected by the verifier: " in shown
    assert "asked 3 experiments; the telling one: r = " in shown
    assert " said " in shown
    assert " saw " in shown


@pytest.mark.parametrize(
    "asked",
    [
        ["discover", "study.toml", "--ledger", "run.alder"],
        ["ask", "study.toml", "--ledger", "run.alder"],
        ["fit", "k*r", "rows.csv", "--target", "a"],
    ],
)
def test_a_folder_that_is_not_there_is_told_before_anything_is_searched(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path)
    assert main([*asked, "--out", "nowhere/law.json"]) == 2
    told = capsys.readouterr()
    assert "the folder nowhere does not exist" in told.err
    assert told.out == ""
    assert not (tmp_path / "run.alder").exists()


def test_a_refusal_names_its_cause_and_has_status_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path, with_proposer(STUDY, WRONG_GUESSES))
    assert main(["discover", "study.toml", "--budget", "proposals=2"]) == 3
    shown = capsys.readouterr().out
    assert "● REFUSED  " in shown
    assert "advice" in shown
    assert "ruled out    no-valid-proposal   2 of 2 proposals passed the checks" in shown
    assert "No law is returned." in " ".join(shown.split())
    assert not (tmp_path / "law.json").exists()


def test_a_finished_ledger_shows_its_end_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path)
    main(["discover", "study.toml", "--ledger", "run.alder"])
    first = capsys.readouterr().out
    assert main(["discover", "study.toml", "--ledger", "run.alder"]) == 0
    again = capsys.readouterr().out
    assert "run.alder was finished before" in again
    assert first[first.index("✓ ADMITTED") :] == again[again.index("✓ ADMITTED") :]


RIG = """\
from pathlib import Path

from cli.studies import acceleration


def run(settings):
    if not Path("stopped").exists():
        Path("stopped").touch()
        raise KeyboardInterrupt
    return acceleration(settings["r"], settings["v"])
"""


def test_an_interrupted_study_goes_on_with_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = STUDY.replace('kind = "pool"', 'function = "stopping_rig:run"')
    write_study(tmp_path, with_proposer(text, WRONG_GUESSES))
    (tmp_path / "stopping_rig.py").write_text(RIG, encoding="utf-8")
    command = ["discover", "study.toml", "--ledger", "run.alder", "--budget", "proposals=2"]
    assert main(command) == 130
    stopped = capsys.readouterr().err
    assert "run.alder keeps everything so far" in stopped
    told = stopped[stopped.index("alder discover") : stopped.index(" goes on.")]
    assert "--budget proposals=2" in told
    assert main(shlex.split(told)[1:]) == 3
    shown = capsys.readouterr().out
    assert "run.alder goes on: 1 proposal and 0 experiments so far" in shown
    assert "Round 2" in shown
    assert "Round 1" not in shown


def test_rows_alone_are_a_study_of_a_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(tmp_path / "rows.csv", 80, (0.6, 4.0), seed=1)
    words = ["--target", "a", "--variables", "r,v", "--guess", "k*r^p - c*v", "--out", "b.json"]
    assert main(["discover", "rows.csv", *words]) == 0
    assert "✓ ADMITTED  a = k*r^p - c*v" in capsys.readouterr().out
    assert Law.load(tmp_path / "b.json").values["c"] == pytest.approx(0.35, abs=0.05)


def _table(path: Path, *, header: str = "x,site,y", stray: str = "") -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{x!r},{'abc'[i % 3]},{2.0 * x + rng.normal(0.0, 0.05)!r}"
        for i, x in enumerate(rng.uniform(0.0, 3.0, 40).tolist())
    ]
    lines[3] = f"{stray or '1.5'},a,"
    path.write_text("\n".join([header, *lines]) + "\n")


def test_rows_say_what_is_read_and_what_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(tmp_path / "rows.csv")
    assert main(["discover", "rows.csv", "--target", "y", "--guess", "a*x"]) == 0
    shown = capsys.readouterr().out
    assert "40 rows of rows.csv: y from x; site holds text and is left out." in shown
    assert "1 row left out: a value is missing." in shown
    assert "cross-validated over 5 folds" in shown


def test_groups_of_rows_are_cross_validated_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(tmp_path / "rows.csv")
    asked = ["discover", "rows.csv", "--target", "y", "--group", "site", "--guess", "a*x + b"]
    assert main(asked) in (0, 3)
    assert "cross-validated over 2 folds" in capsys.readouterr().out  # one group is protected


@pytest.mark.parametrize(
    ("header", "stray", "sentence"),
    [
        ("x,site,y", "high", "line 5, column x: `high` is text"),
        ("site2,site,y", "1e200", "reaches 1.0e+200"),
        ("x,x,y", "", "two columns named `x`"),
    ],
)
def test_a_table_that_is_amiss_is_misuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], header: str, stray: str, sentence: str
) -> None:
    _table(tmp_path / "rows.csv", header=header, stray=stray)
    text = (tmp_path / "rows.csv").read_text()
    (tmp_path / "rows.csv").write_text(text.replace("1e200,a,", "1e200,a,1.0"))
    assert main(["discover", "rows.csv", "--target", "y"]) == 2
    assert sentence in capsys.readouterr().err


def test_options_take_the_place_of_what_the_file_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path, with_proposer(STUDY, WRONG_GUESSES))
    words = ["--budget", "proposals=1", "--budget", "queries=0", "--seed", "5"]
    assert main(["discover", "study.toml", *words]) == 3
    assert "1/1 proposals   0/0 experiments" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["study.toml", "--target", "a"], "--target is for rows alone"),
        (["study.toml", "--budget", "querys=3"], "Did you mean `queries`?"),
        (["study.toml", "--budget", "queries=3.5"], "queries is a whole number"),
        (["study.toml", "--guess", "k*sin(r)"], "`sin` is not in this grammar"),
        (["first.csv"], "--target a"),
        (["first.csv", "--target", "b"], "`b` is not a column of first.csv"),
        (["none.toml"], "There is no file none.toml"),
    ],
)
def test_misuse_is_one_sentence_with_status_2(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path)
    assert main(["discover", *words]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error ")
    assert sentence in shown


def test_a_study_of_a_person_is_sent_to_ask(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path, manual())
    assert main(["discover", "study.toml"]) == 2
    assert "alder ask study.toml --ledger run.alder" in capsys.readouterr().err


def test_other_settings_do_not_go_on_with_a_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path)
    main(["discover", "study.toml", "--ledger", "run.alder"])
    path.write_text(STUDY.replace("max_nodes = 21", "max_nodes = 25"), encoding="utf-8")
    assert main(["discover", "study.toml", "--ledger", "run.alder"]) == 2
    assert "max_nodes was 21, now 25" in capsys.readouterr().err
