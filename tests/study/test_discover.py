"""One call for a whole study, and what it leaves behind."""

import inspect
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from study.problems import GRAMMAR, request, rows, run, world

from alder.errors import BadStudy, VerifierFailed
from alder.study.discover import discover
from alder.study.study import Study


def test_discover_takes_what_a_study_takes_and_says_so() -> None:
    ours, theirs = inspect.signature(discover), inspect.signature(Study)
    assert ours.parameters == theirs.parameters
    assert "initial" in ours.parameters


def test_a_wrong_keyword_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="intial"):
        discover(world(), GRAMMAR, intial=[])  # pyright: ignore[reportCallIssue]


def test_running_a_study_is_discovering() -> None:
    with Study(world(), GRAMMAR, **request()) as study:
        outcome = study.run()
        assert study.outcome is not None
    assert outcome.law is not None
    discovered = run()
    assert discovered.law is not None
    assert discovered.law.digest == outcome.law.digest


def test_a_study_that_cannot_open_its_vault_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(VerifierFailed, match="cannot be started"):
        run()
    assert list(tmp_path.iterdir()) == []


def test_a_finished_study_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run()
    assert [path for path in tmp_path.iterdir() if path.name.startswith("alder-")] == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"protected": rows(40, seed=2)}, r"`protected` is a dict; write protected=alder\.Prot"),
        ({"budget": {"proposals": 3}}, r"`budget` is a dict; write budget=alder\.Budget"),
        ({"seed": "one"}, "The seed is a whole number from 0 on; got 'one'"),
        ({"seed": -1}, "The seed is a whole number"),
    ],
    ids=["protected", "budget", "word", "negative"],
)
def test_a_setting_of_another_kind_says_what_to_write(
    change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadStudy, match=sentence):
        run(**change)


def test_a_budget_counts_in_numbers() -> None:
    """Outside the tests, whose checks of types would speak first."""
    lines = [
        "import alder",
        "for limits in ({'proposals': 1.5}, {'queries': '4'}, {'seconds': '60'}):",
        "    try:",
        "        alder.Budget(**limits)",
        "    except alder.BadStudy as error:",
        "        print(error)",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "budget.proposals is a whole number; got 1.5.",
        "budget.queries is a whole number; got '4'.",
        "budget.seconds is a number; got '60'.",
    ]
