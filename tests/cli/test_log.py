"""`alder discover` on logs of states."""

from pathlib import Path

import numpy as np
import pytest

import alder
from alder.cli.layout import terminal, without_zeros
from alder.cli.log import noise_words, show_refusal
from alder.cli.main import main
from alder.records.outcome import Refusal
from alder.records.statesoutcome import StatesOutcome

T = 0.05 * np.arange(40)


def _write(path: Path, starts: list[float], *, u: float | None = None) -> None:
    """Write decays x' = -2 x + u from several starts, one after the other."""
    rng = np.random.default_rng(len(starts))
    lines = ["t,x,u"]
    for start in starts:
        force = rng.uniform(-1.0, 1.0) if u is None else u
        x = force / 2.0 + (start - force / 2.0) * np.exp(-2.0 * T) + 0.003 * rng.normal(size=40)
        lines += [f"{t:.3f},{value:.6f},{force:.6f}" for t, value in zip(T, x, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_several_logs_are_one_and_the_equations_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "a.csv", [1.0, -1.0, 2.0])
    _write(tmp_path / "b.csv", [0.5, -2.0])
    asked = ["discover", "a.csv", "b.csv", "--state", "x", "--input", "u", "--out", "decay.json"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "ADMITTED" in said
    assert "200 samples in 5 trajectories" in said
    assert "x -2" in said  # the range it is admitted for
    found = alder.Dynamics.load("decay.json").rates({"x": [1.0, 0.0], "u": [0.0, 1.0]})
    assert found["x"] == pytest.approx([-2.0, 1.0], abs=0.1)


def test_a_log_that_excites_nothing_is_refused_with_status_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "a.csv", [1.0, -1.0], u=0.5)
    assert main(["discover", "a.csv", "--state", "x", "--input", "u"]) == 3
    assert "excitation" in capsys.readouterr().out
    assert not (tmp_path / "law.json").exists()


def test_what_was_left_out_of_a_log_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "a.csv", [1.0, -1.0], u=0.5)
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    lines[3] = "0.1,,0.5"
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    assert main(["discover", "a.csv", "--state", "x", "--input", "u"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "77 samples in 2 trajectories; 1 row without a value, 2 in trajectories too" in said


def test_the_group_of_several_files_is_no_unused_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "a.csv", [1.0], u=0.5)
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{lines[0]},run,force", *(f"{line},7,2" for line in lines[1:])]
    (tmp_path / "a.csv").write_text("\n".join(rows), encoding="utf-8")
    asked = ["discover", "a.csv", "a.csv", "--state", "x", "--input", "u", "--group", "run"]
    assert main(asked) == 3
    assert "unused  force: a column" in capsys.readouterr().out


def _law(structure: str, values: dict[str, float]) -> alder.Law:
    rows = {name: [1.0, 2.0, 3.0, 4.0] for name in ("x", "y")}
    found = alder.fit(structure, rows, target="y", fixed=values)
    return found.law


def test_terms_whose_number_is_zero_are_not_shown() -> None:
    law = _law(
        "c1 + c2*x - c3*x^2 + c4*x^3/(k1 + x)", {"c1": 0, "c2": 0, "c3": 2.5, "c4": 0, "k1": 1}
    )
    assert without_zeros(law) == "y = -2.5*x^2"
    assert without_zeros(_law("c1*x - c2*x^2", {"c1": 1.5, "c2": 0})) == "y = 1.5*x"
    assert without_zeros(_law("c1*x", {"c1": 0})) == "y = 0"


def _ended(noise: dict[str, float]) -> StatesOutcome:
    spread = dict.fromkeys(noise, 2.0)
    return StatesOutcome({"x": _law("c1*x", {"c1": 2})}, None, None, noise=noise, spread=spread)


def test_noise_that_is_a_large_part_of_a_motion_is_told_as_its_share() -> None:
    said = noise_words(_ended({"x": 0.5, "v": 0.1}))
    assert said.startswith("x 0.5 (25% of its spread), v 0.1: if your sensor is better than this")
    assert noise_words(_ended({"x": 0.1, "v": 0.1})) == "x 0.1, v 0.1"


def test_a_refused_law_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    long = " + ".join(f"c{k}*x^{k}" for k in range(1, 40))
    law = _law(long, {f"c{k}": 1.23456e-7 * k for k in range(1, 40)})
    refusal = Refusal("noise", "Why.", "What to do.")
    show_refusal(terminal(), StatesOutcome({"x": law}, None, refusal), refusal, [])
    lines = capsys.readouterr().out.splitlines()
    shown = next(line for line in lines if line.startswith("not admitted: y = "))
    assert len(shown) <= 100
    assert shown.endswith("…")


def test_columns_that_were_left_out_are_named_where_no_law_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "a.csv", [1.0, -1.0, 2.0, 0.5, -2.0])
    assert main(["discover", "a.csv", "--state", "x"]) == 3
    said = capsys.readouterr().out
    assert "unused" in said
    assert "u: a column of the log that acts on the system is an --input" in said


def test_equations_of_motion_are_no_law_file_and_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    law = alder.fit("a*x", {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]}, target="y").law
    alder.Dynamics({"x": law}).save("motion.json")
    _write(tmp_path / "a.csv", [1.0])
    assert main(["predict", "motion.json", "a.csv"]) == 2
    assert "alder.Dynamics.load" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["a.csv", "--input", "u"], "--input is for logs"),
        (["a.csv", "a.csv", "--target", "x"], "2 files were given"),
        (["a.csv", "--state", "y"], "`y` is not a column"),
        (["a.csv", "--state", "x", "--target", "x"], "--target is not for logs"),
        (["a.csv", "--state", "x", "--budget", "queries=5"], "--budget is not for logs"),
        (["a.csv", "--state", "x", "--known", "x"], "--known"),
        (["a.csv", "--state", ""], "name one or more states, such as"),
        (["a.csv", "--state", "x", "--state", "y"], "`y` is not a column"),
        (["a.csv", "--state", "x", "--input", "u", "--input", "w"], "`w` is not a column"),
        (["a.csv", "--state", "x", "--mirror", "x", "--mirror", "z"], "`z` is not a column"),
        (["a.csv", "--state", "x", "--discrete", "--known", "x=2*x*(1-x)"], "Every rate is known"),
        (
            ["a.csv", "--state", "x", "--out", "nowhere/law.json"],
            "the folder nowhere does not exist",
        ),
        (["a.csv", "--state", "x", "--out", "."], "--out . is a folder"),
        (
            ["a.csv", "a.csv", "--state", "x", "--input", "T"],
            "a.csv has no column `T`; it has t, x, u.",
        ),
        (["a.csv", "a.csv", "--state", "x", "--group", "run"], "a.csv has no column `run`"),
    ],
)
def test_options_that_do_not_fit_are_told(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "a.csv", [1.0])
    assert main(["discover", *options]) == 2
    assert words in capsys.readouterr().err
