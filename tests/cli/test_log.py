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
    assert "ADMITTED" in capsys.readouterr().out
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["a.csv", "--input", "u"], "--input is for logs"),
        (["a.csv", "a.csv", "--target", "x"], "2 files were given"),
        (["a.csv", "--state", "y"], "`y` is not a column"),
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
