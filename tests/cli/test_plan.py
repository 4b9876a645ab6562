"""`alder plan`, as a user meets it: a saved law in, an action and an exit status out."""

from dataclasses import replace
from pathlib import Path

import pytest
from control.laws import MOTION, SPRING, fitted

from alder.cli.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fitted("k*u + x", {"k": 2.0}, target="a").save("law.json")
    SPRING.save("rate.json")
    MOTION.save("motion.json")
    replace(MOTION, delay=5.0).save("late.json")
    replace(MOTION, horizon=1.49).save("short.json")
    return tmp_path


def test_a_law_is_asked_for_its_action(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "law.json", "--target", "0.52", "--at", "x=0.1"]) == 0
    shown = capsys.readouterr().out
    assert "✓ REACHED  u = 0.21" in shown
    assert "under all credible laws" in shown
    assert "evaluations" in shown


@pytest.mark.parametrize("file", ["motion.json", "rate.json"])
def test_motion_is_followed_in_time(
    file: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "x=0.52", "--at", "x=0", "--at", "v=0", "--horizon", "0.1,1.5"]
    known = ["--known", "x=v"] if file == "rate.json" else []
    assert main(["plan", file, *words, *known, "--limit", "v=:2"]) == 0
    shown = capsys.readouterr().out
    # `alder check` reads laws, no equations of motion.
    assert ("alder check" in shown) == (file == "rate.json")
    assert "✓ REACHED  u = " in shown
    assert "horizon" in shown
    assert "1.5" in shown


def test_a_refusal_has_a_reason_and_a_status_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "x=0.52", "--at", "x=0", "--at", "v=0", "--limit", "u=5:6"]
    assert main(["plan", "motion.json", *words]) == 3
    shown = capsys.readouterr().out
    assert "● REFUSED" in shown
    assert "its limits are 5 to 6" in shown


def test_the_closest_safe_action_is_named_as_such(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "9", "--at", "x=0.1", "--action", "u=-1:1"]
    assert main(["plan", "law.json", *words]) == 0
    assert "✓ CLOSEST  u = 1" in capsys.readouterr().out


def test_a_time_beyond_what_was_verified_is_said_to_be_that(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", "short.json", "--target", "x=0.52", "--at", "x=0", "--at", "v=0"]
    assert main([*words, "--horizon", "2"]) == 0
    beyond = "horizon    2, beyond 1.49, for which the equations were verified"
    assert beyond in capsys.readouterr().out
    assert main([*words, "--horizon", "1.4"]) == 0
    assert "verified" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["law.json", "--target", "much"], "not a finite number"),
        (["law.json", "--target", "1", "--action", "w"], "has no range of `w`"),
        (["law.json", "--target", "1", "--limit", "x=3"], "must look like"),
        (["law.json", "--target", "1", "--horizon", "2"], "is no rate"),
        (["nowhere.json", "--target", "1"], "There is no file"),
        (["late.json", "--target", "x=1", "--at", "x=0"], "act 5 later than their inputs"),
        (["motion.json", "--target", "speed=1"], "no state of the equations; v, x are"),
    ],
)
def test_misuse_is_said_in_a_sentence(
    words: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *words]) == 2
    assert sentence in capsys.readouterr().err.replace("\n      ", " ")
