"""The command line as a whole: help, mistakes and exit statuses."""

import subprocess
import sys
from pathlib import Path

import pytest

from alder import __version__
from alder.cli.main import COMMANDS, main


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if f"  {name} " not in shown] == []


def test_without_arguments_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: alder")


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"alder {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_begins_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    usage, example = [line for line in capsys.readouterr().out.splitlines() if line.strip()][:2]
    assert usage.startswith(f"Usage: alder {name}")
    assert f"alder {name}" in example


@pytest.mark.parametrize("words", [["doctor", "--no-such-option"], ["no-such-command"], ["--no"]])
def test_misuse_is_one_error_with_status_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error No such")
    assert "--help." in shown.err


def test_a_mistyped_command_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctr"])
    assert "'doctor'" in capsys.readouterr().err


def test_a_missing_file_is_one_error_with_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", str(tmp_path / "none.json"), str(tmp_path / "none.csv")]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error ")
    assert "none.json" in shown
    assert "Traceback" not in shown


def test_a_reader_that_stops_reading_is_no_error() -> None:
    program = f"{sys.executable} -m alder --help | true"
    ran = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
