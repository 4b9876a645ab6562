"""One call for a whole study, and what it leaves behind."""

import inspect
import sys
import tempfile
from pathlib import Path

import pytest
from study.problems import GRAMMAR, request, run, world

from alder.errors import VerifierFailed
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
