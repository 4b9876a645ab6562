"""What `alder doctor` says, and its exit status."""

import pytest

from alder.cli.doctor import EXTRAS, TOOLS, Finding, examine, summarise
from alder.cli.main import main


def test_doctor_is_content_with_the_environment_of_the_tests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "✓ python" in shown
    assert "✓ numpy, scipy, numba" in shown
    assert shown.splitlines()[-1].startswith("Ready for alder demo")


def test_every_extra_and_every_tool_has_a_line() -> None:
    names = {finding.name for finding in examine()}
    assert {f"extra {extra.name}" for extra in EXTRAS} <= names
    assert {tool.name for tool in TOOLS} <= names


def test_a_missing_part_says_what_it_is_for_and_what_brings_it() -> None:
    for finding in examine():
        if finding.lacks:
            assert finding.lacks in finding.words
            assert " install " in finding.words


def test_a_broken_core_is_named_in_the_last_line() -> None:
    findings = [
        Finding("✓", "python", "3.11", is_core=True),
        Finding("!", "fitter", "", is_core=True),
    ]
    assert summarise(findings) == "Not ready: see fitter above."


def test_what_is_not_available_is_named_once() -> None:
    findings = [Finding("!", name, "", lacks="the agent") for name in ("bubblewrap", "socat")]
    assert summarise(findings) == "Ready for alder demo. Not available: the agent."


def test_nothing_missing_is_said_too() -> None:
    assert summarise([]) == "Ready for alder demo; everything is available."
