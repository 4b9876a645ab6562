"""`alder discover` on logs of states."""

from pathlib import Path

import numpy as np
import pytest

import alder
from alder.cli.main import main

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
