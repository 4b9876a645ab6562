"""A study killed anywhere goes on where it was, and ends as if nothing had happened."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from study.problems import BUDGET, outcome_of, request, rows, run, world
from study.spoken import as_bytes, story

from alder.errors import BadLedger
from alder.ledger.audit import audit
from alder.ledger.events import Replayed
from alder.ledger.store import read_events
from alder.records.budget import Budget
from alder.records.experiment import Setting
from alder.records.protected import Protected
from alder.worlds.function import FunctionWorld

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_study_killed_after_every_event_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole.alder", tmp_path / "killed.alder"
    run(ledger=whole)
    ran = subprocess.run(
        [sys.executable, "-m", "study.killed", str(killed)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) == len(read_events(whole))
    assert story(killed) == story(whole)
    assert not audit(read_events(killed)).findings


@pytest.fixture
def control_c() -> Generator[None, None, None]:
    """Let Control-C interrupt, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("control_c")
def test_control_c_in_the_middle_of_an_experiment_loses_nothing(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.alder", tmp_path / "cut.alder"
    calls: list[int] = []

    def interrupted(settings: dict[str, Setting]) -> float:
        calls.append(1)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return outcome_of(settings)

    expected = run(ledger=whole)
    with pytest.raises(KeyboardInterrupt):
        run(FunctionWorld(interrupted, experiments=world().experiments), ledger=cut)
    outcome = run(ledger=cut)
    assert outcome.spent.queries == expected.spent.queries == 2
    assert story(cut) == story(whole)


def test_a_study_interrupted_by_its_watcher_goes_on_in_the_same_process(tmp_path: Path) -> None:
    """Events that were never durable are not remembered either."""
    whole, cut = tmp_path / "whole.alder", tmp_path / "cut.alder"

    def stop(kind: str, _state: Replayed) -> None:
        if kind == "candidates":
            raise KeyboardInterrupt

    run(ledger=whole)
    with pytest.raises(KeyboardInterrupt):
        run(ledger=cut, watch=stop)
    run(ledger=cut)
    assert story(cut) == story(whole)


def test_a_finished_study_is_read_and_not_run_again(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    first = run(ledger=ledger)

    def never(_settings: dict[str, Setting]) -> float:
        raise AssertionError

    again = run(FunctionWorld(never, experiments=world().experiments), ledger=ledger)
    assert as_bytes(again) == as_bytes(first)
    assert again.digest == first.digest


def test_a_larger_budget_takes_a_refused_study_further(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    refused = run(ledger=ledger, budget=Budget(proposals=1, queries=2, batch=2))
    assert refused.refusal is not None
    assert refused.refusal.cause == "budget"
    assert "larger budget" in refused.refusal.advice
    admitted = run(ledger=ledger, budget=BUDGET)
    assert admitted.law is not None
    assert admitted.spent.proposals == 2
    assert admitted.spent.queries == 2


def test_a_larger_budget_also_counts_for_a_study_that_was_killed(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"

    def stop(kind: str, _state: Replayed) -> None:
        if kind == "candidates":
            raise KeyboardInterrupt

    small = Budget(proposals=1, queries=2, batch=2)
    with pytest.raises(KeyboardInterrupt):
        run(ledger=ledger, budget=small, watch=stop)
    assert run(ledger=ledger, budget=BUDGET).law is not None


def test_a_smaller_budget_is_refused_in_a_sentence(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    run(ledger=ledger, budget=Budget(proposals=1, queries=2, batch=2))
    with pytest.raises(BadLedger, match="a budget of 2 queries, now 1"):
        run(ledger=ledger, budget=Budget(proposals=9, queries=1, batch=1))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"seed": 1}, r"seed \(was 0, now 1\)"),
        ({"selector": "random"}, r"selector \(was disagreement, now random\)"),
        ({"initial": rows(8, seed=9, v=(1.0, 1.5))}, "begun with other initial rows"),
        ({"protected": Protected(rows(40, seed=8))}, "protected rows of admission are not those"),
        ({"validation": rows(8, seed=9)}, "begun with other validation rows"),
        ({"guesses": ("a*x + b*v^3", "a*x")}, "another proposer"),
    ],
    ids=["seed", "selector", "initial", "protected", "validation", "guesses"],
)
def test_a_ledger_resumes_only_with_the_configuration_it_began_with(
    changes: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "run.alder"
    run(ledger=ledger, budget=Budget(proposals=1, queries=0, batch=1))
    before = story(ledger)
    with pytest.raises(BadLedger, match=sentence):
        run(None, None, **{**request(ledger=ledger), **changes})
    assert story(ledger) == before


def test_bytes_that_are_no_ledger_are_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.alder"
    foreign.write_text("not a ledger at all, but long enough to be one" * 100)
    with pytest.raises(BadLedger, match=r"notes\.alder"):
        run(ledger=foreign)
    assert foreign.read_text().startswith("not a ledger")


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    import sqlite3

    foreign = tmp_path / "other.alder"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE events (number INTEGER, colour TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(BadLedger, match=r"other\.alder"):
        run(ledger=foreign)


def test_a_ledger_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadLedger, match="no folder"):
        run(ledger=tmp_path / "nowhere" / "run.alder")
