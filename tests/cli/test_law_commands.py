"""fit, predict, check and export, as a user meets them: files in, text and exit status out."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from alder.cli.main import main
from alder.records.law import Law

TRUTH = {"k": 2.4, "p": -1.5, "c": 0.35}


def write_rows(path: Path, seed: int, *, shift: float = 0.0, n_rows: int = 80) -> None:
    rng = np.random.default_rng(seed)
    r, v = rng.uniform(0.6, 4.0, n_rows), rng.uniform(-2.5, 2.5, n_rows)
    a = 2.4 * r**-1.5 - 0.35 * v + shift * r + rng.normal(0.0, 0.03, n_rows)
    lines = ["r,v,a,run,bar"]
    lines += [f"{r[i]:.5f},{v[i]:.5f},{a[i]:.5f},day {i % 2},0.03" for i in range(n_rows)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "rows.csv", 1)
    return tmp_path


@pytest.fixture
def law(folder: Path, capsys: pytest.CaptureFixture[str]) -> Law:
    assert main(["fit", "k*r^p - c*v", "rows.csv", "--target", "a", "--out", "law.json"]) == 0
    capsys.readouterr()
    return Law.load(folder / "law.json")


def test_fit_prints_coefficients_with_intervals_and_the_next_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = ["--unit", "r=m", "--unit", "v=m/s", "--unit", "a=m/s^2"]
    words = ["k*r^p - c*v", "rows.csv", "--target", "a", "--bound", "k=0:10", "--out", "law.json"]
    assert main(["fit", *words, *units]) == 0
    shown = capsys.readouterr().out
    assert all(len(line) <= 100 for line in shown.splitlines())
    for expected in ("95 % interval", "1/s", "converged", "scope", "saved  law.json", "next"):
        assert expected in shown
    fitted = Law.load(folder / "law.json")
    for coefficient in fitted.coefficients:
        assert coefficient.value == pytest.approx(TRUTH[coefficient.name], abs=0.05)


def test_fit_takes_a_whole_equation(folder: Path) -> None:
    assert main(["fit", "a = k*r^p - c*v", "rows.csv", "--target", "a"]) == 0


def test_fit_takes_a_law_that_begins_with_a_minus_sign(folder: Path) -> None:
    assert main(["fit", "-k*r^p - c*v", "rows.csv", "--target", "a"]) == 0


def test_a_fixed_coefficient_stays_where_it_is(folder: Path) -> None:
    words = ["k*r^p - c*v", "rows.csv", "--target", "a", "--fix", "p=-1.5", "--out", "law.json"]
    assert main(["fit", *words]) == 0
    assert Law.load(folder / "law.json").values["p"] == -1.5


def test_fit_takes_error_bars_and_groups(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["k*r^p - c*v", "rows.csv", "--target", "a", "--sigma", "bar", "--group", "run"]
    assert main(["fit", *words]) == 0
    shown = capsys.readouterr().out
    assert "day 0" in shown
    assert "(given)" in shown


def test_fit_says_what_the_rows_do_not_determine(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "k*q*r^p - c*v", "rows.csv", "--target", "a"]) == 0
    shown = capsys.readouterr().out
    assert "not determined" in shown
    assert "unknown" in shown


def test_fit_counts_rows_that_miss_a_value(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "rows.csv").open("a") as file:
        file.write("1.0,,2.0,x,0.03\n")
    assert main(["fit", "k*r^p - c*v", "rows.csv", "--target", "a"]) == 0
    assert "80; 1 left out, a value missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["k*r", "none.csv", "--target", "a"], "There is no file none.csv"),
        (["k*r", "rows.csv", "--target", "acc"], "`acc` is not a column of rows.csv; r, v, a,"),
        (["k*r", "rows.csv"], "Missing option '--target'"),
        (["k*r", "rows.csv", "--target", "a", "--bound", "k"], "`--bound k` must look like"),
        (["k*r", "rows.csv", "--target", "a", "--bound", "k=1"], "`--bound k=1` must look like"),
        (["k*r", "rows.csv", "--target", "a", "--bound", "k=x:1"], "`x` is not a finite number"),
        (["k*r", "rows.csv", "--target", "a", "--bound", "k=2:1"], "A lower bound must lie below"),
        (["kk*r", "rows.csv", "--target", "a", "--bound", "k=0:1"], "Did you mean `kk`?"),
        (["k*r", "rows.csv", "--target", "a", "--fix", "k=many"], "`many` is not a finite number"),
        (["k*r", "rows.csv", "--target", "a", "--unit", "q=m"], "`q` is not a column of rows.csv"),
        (["k*r", "rows.csv", "--target", "a", "--unit", "r=zorkmid"], "zorkmid"),
        (["k*a", "rows.csv", "--target", "a"], "`a` is the target and may not stand in its own"),
        (["k*run", "rows.csv", "--target", "a"], "rows.csv, line 2, column run: `day 0` is text"),
        (["k*r", "rows.csv", "--target", "bar"], "The target `bar` is 0.03 in every row"),
        (["k*(r", "rows.csv", "--target", "a"], ""),
    ],
)
def test_misuse_of_fit_is_one_sentence_and_status_two(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["fit", *words]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error ")
    assert sentence in " ".join(complaint.split())
    assert "Traceback" not in complaint


def test_predict_answers_for_one_row(law: Law, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "law.json", "--at", "r=1.6", "v=-0.5"]) == 0
    shown = capsys.readouterr().out
    assert f"{law.predict({'r': 1.6, 'v': -0.5})[0]:.4g}" in shown
    assert "inside" in shown


def test_predict_says_where_a_row_lies_outside(
    law: Law, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", "law.json", "--at", "r=9", "v=0.5"]) == 0
    assert "outside: r was" in capsys.readouterr().out


def test_predict_writes_rows_with_predictions_and_intervals(
    law: Law, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", "law.json", "rows.csv", "--interval", "--out", "out.csv"]) == 0
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 80
    for row in rows[:5]:
        predicted = law.predict({"r": float(row["r"]), "v": float(row["v"])})[0]
        assert float(row["a_predicted"]) == predicted
        assert float(row["a_lower"]) < predicted < float(row["a_upper"])
    assert main(["predict", "law.json", "rows.csv"]) == 0
    assert capsys.readouterr().out.count("\n") > 80


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--at", "r=1.6"], "The law needs v; it was not given."),
        (["--at", "r=1.6", "v=1", "speed=2"], "`speed` is not a variable of the law; r, v are."),
        (["--at", "r"], "Give either one file of rows or one row"),
        ([], "Give either one file of rows or one row"),
        (["rows.csv", "--at", "r=1"], "Give either one file of rows or one row"),
        (["none.csv"], "There is no file none.csv"),
    ],
)
def test_misuse_of_predict_is_one_sentence(
    law: Law, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["predict", "law.json", *words]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_law_holds_on_new_rows_of_the_same_world(
    law: Law, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "new.csv", 2)
    assert main(["check", "law.json", "new.csv"]) == 0
    assert "✓ HOLDS" in capsys.readouterr().out


def test_a_law_does_not_hold_once_the_world_has_changed(
    law: Law, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "new.csv", 2, shift=0.05)
    assert main(["check", "law.json", "new.csv"]) == 3
    shown = capsys.readouterr().out
    assert "● DOES NOT HOLD" in shown
    assert "worst" in shown


def test_check_needs_rows_in_scope(law: Law, folder: Path) -> None:
    (folder / "new.csv").write_text("r,v,a\n90,1,1\n91,1,1\n")
    assert main(["check", "law.json", "new.csv"]) == 2


@pytest.mark.parametrize("to", ["latex", "sympy", "python", "c", "jax"])
def test_export_prints_and_writes(
    law: Law, folder: Path, capsys: pytest.CaptureFixture[str], to: str
) -> None:
    assert main(["export", "law.json", "--to", to]) == 0
    assert law.digest in capsys.readouterr().out
    (folder / "exports").mkdir()
    assert main(["export", "law.json", "--to", to, "--out", "exports"]) == 0
    assert len(list((folder / "exports").iterdir())) == (2 if to == "c" else 1)


def test_exported_c_includes_the_header_written_beside_it(law: Law, folder: Path) -> None:
    assert main(["export", "law.json", "--to", "c", "--out", "drag.c"]) == 0
    assert '#include "drag.h"' in (folder / "drag.c").read_text()
    assert (folder / "drag.h").exists()


def test_export_refuses_an_unknown_format(law: Law, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "law.json", "--to", "fortran"]) == 2
    assert "`fortran` is not an export" in capsys.readouterr().err


def test_an_edited_law_is_refused_by_every_command(
    law: Law, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads((folder / "law.json").read_text())
    content["n_rows"] = 10_000
    (folder / "law.json").write_text(json.dumps(content))
    for words in (["predict", "law.json", "rows.csv"], ["check", "law.json", "rows.csv"]):
        assert main(words) == 2
        assert "was changed after it was saved" in capsys.readouterr().err
