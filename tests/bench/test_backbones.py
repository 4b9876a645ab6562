import json
from pathlib import Path

import pytest
from sandboxes import needs_bubblewrap

from alder.bench.backbones.joints import JOINTS
from alder.bench.backbones.proposers import BACKBONES, HOSTED, missing
from alder.bench.backbones.run import BENCHMARK, figures, table
from alder.bench.backbones.support import support
from alder.bench.benchmark import Row
from alder.bench.novellaw.recipes import PLACES
from alder.cli.main import MISUSE, main
from alder.expr.text import parse

CASE = "a-development-01a"


def row(**changes: object) -> Row:
    plain: Row = {
        "case": CASE, "method": "search", "admitted": True, "recovered_1e3": True,
        "wrong_admitted": False, "proposals": 2, "invalid": 0, "tokens": 10, "cpu_s": 1.0,
    }  # fmt: skip
    return {**plain, **changes}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """One world with the two scripted proposers, as the command measures it."""
    out = tmp_path_factory.mktemp("backbones")
    methods = ["--method", "scripted-model", "--method", "scripted-agent"]
    assert main(["bench", "backbones", "--cases", CASE, *methods, "--out", str(out)]) == 0
    return [json.loads(line) for line in (out / "rows.jsonl").read_text("utf-8").splitlines()]


@needs_bubblewrap
def test_scripted_proposers_drive_whole_studies(rows: list[Row]) -> None:
    assert [one["method"] for one in rows] == ["scripted-agent", "scripted-model"]
    assert all("error" not in one for one in rows)
    assert all(one["proposals"] == 4 and one["invalid"] == 0 for one in rows)


@needs_bubblewrap
def test_the_library_that_everybody_would_try_first_is_refused(rows: list[Row]) -> None:
    assert not any(one["admitted"] for one in rows)
    assert all(one["functional_nmse"] > 0.01 for one in rows)


def test_worlds_are_those_of_development_in_two_form_sets() -> None:
    names = [place.name for place in PLACES.values() if place.split == "development"]
    found = [case for case in BENCHMARK.cases if case not in JOINTS]
    assert sorted(found) == sorted(f"{f}-{name}" for name in names for f in "ab")


@pytest.mark.parametrize(
    ("law", "same"),
    [
        ("a*m/r^1.5 - b*v/r + c*u/r", True),
        ("(a*m*r^0.5 - b*(v - c*u))/r", True),
        ("d + a*m/r - b*v/r + c*u/r", True),
        ("a*m/(1 + exp(r)) - b*v*(1 - tanh(r)) + c*u*(1 - tanh(r))", True),
        ("a*m/r - b*v + c*u/r", False),
        ("a*m/r - b*v/r", False),
        ("a*m/r - b*tanh(v - c*u)/r", False),
    ],
)
def test_support_is_which_variables_act_together_in_a_term(law: str, same: bool) -> None:
    names = ("r", "m", "v", "u")
    truth = support(parse("a*m/r^2 - b*v/r + c*u/r", names))
    assert (support(parse(law, names)) == truth) is same


def test_crashes_refusals_and_invalid_proposals_stay_in_the_denominators() -> None:
    refused = row(admitted=False, recovered_1e3=False, proposals=4, invalid=3)
    crashed: Row = {"case": CASE, "method": "search", "error": "it crashed"}
    found = figures([row(), refused, crashed, row(recovered_1e3=False, wrong_admitted=True)])
    assert found["admitted"] == 0.5
    assert found["recovery_1e3"] == found["wrong_admitted"] == found["crashed"] == 0.25
    assert found["refused"] == pytest.approx(0.25)
    assert found["invalid"] == 3 / 8


def test_the_table_has_a_line_for_each_proposer() -> None:
    found = figures([row(), row()])
    lines = table([], {"search": found, "hosted": found})
    assert len(lines) == 3
    assert lines[1].split()[:4] == ["search", "2", "100.0%", "100.0%"]


def test_what_is_not_installed_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = {"seed": 0, "model": HOSTED}
    assert "codex is left out: no program" in str(missing("codex", settings))
    assert "OPENAI_API_KEY is not set" in str(missing("hosted", settings))
    assert "bubblewrap" in str(missing("scripted-agent", settings))
    assert missing("search", settings) is None


def test_a_run_of_nothing_that_is_installed_is_misuse(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["backbones", "--method", "codex", "--out", str(tmp_path / "out")]
    assert main(["bench", *words]) == MISUSE
    assert "Nothing of backbones can be measured here" in capsys.readouterr().err


def test_every_backbone_is_a_method() -> None:
    assert tuple(BENCHMARK.methods) == tuple(BACKBONES)
