import json
from pathlib import Path

import pytest

from alder.bench.benchmark import Row
from alder.bench.refusal.table import figures, table
from alder.cli.main import main

FAILED: Row = {"case": "sine-1", "method": "alder", "error": "it crashed"}


def row(case: str, *, admitted: bool, false: bool = False, prevented: bool = False) -> Row:
    return {
        "case": case,
        "admitted": admitted,
        "verdict": "admitted" if admitted else "refused",
        "cause": None if admitted else "budget",
        "false": false,
        "prevented": prevented,
        "bound_holds": not false if admitted else None,
    }


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Two worlds, as the command measures them."""
    out = tmp_path_factory.mktemp("refusal")
    asked = ["--cases", "regime-change-1,control-01", "--seed", "1", "--out", str(out)]
    assert main(["bench", "refusal", *asked]) == 0
    return [json.loads(line) for line in Path(out, "rows.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_a_world_beyond_the_grammar_is_refused_and_one_within_it_is_not(rows: list[Row]) -> None:
    beyond, control = rows
    assert beyond["verdict"] == "refused"
    assert beyond["cause"] is not None
    assert beyond["prevented"]
    assert control["verdict"] == "admitted"
    assert not control["false"]
    assert control["test_error"] <= control["test_claimed"]


@pytest.mark.slow
def test_rows_carry_the_family_the_answers_and_both_errors(rows: list[Row]) -> None:
    beyond, control = rows
    assert (beyond["family"], beyond["reason"]) == ("regime-change", "not-analytic")
    assert (control["family"], control["reason"]) == ("control", None)
    assert control["answers"][-1] == "accept"
    assert len(beyond["answers"]) == beyond["proposals"]
    assert beyond["shift_error"] > beyond["shift_claimed"]


def test_a_world_that_failed_counts_as_falsely_admitted_and_a_control_as_refused() -> None:
    found = figures([FAILED, {**FAILED, "case": "control-01"}])
    assert found["false_admitted"] == 1.0
    assert found["control_admitted"] == 0.0
    assert found["failed"] == 1.0


def test_honest_admissions_are_counted_apart_from_false_ones() -> None:
    found = figures(
        [
            row("sine-1", admitted=True),
            row("sine-2", admitted=True, false=True),
            row("sine-3", admitted=False, prevented=True),
            row("sine-4", admitted=False),
            row("control-01", admitted=True),
        ]
    )
    assert found["worlds"] == 4
    assert found["false_admitted"] == 0.25
    assert found["honest_admitted"] == 0.25
    assert found["prevented"] == 0.25
    assert found["control_admitted"] == 1.0
    assert (found["bounds_stated"], found["bounds_broken"]) == (3, 1)


def test_the_table_has_a_line_for_each_family_and_one_for_all() -> None:
    lines = table([row("floor-1", admitted=False), row("control-01", admitted=True), FAILED], {})
    assert [line.split()[0] for line in lines[1:]] == ["sine", "floor", "control", "all"]
    assert lines[-1].split()[3:6] == ["2", "1", "0"]
