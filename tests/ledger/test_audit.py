import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.ledger import entries
from alder.ledger.audit import Report, audit
from alder.ledger.entries import Entry
from alder.ledger.leaks import Secrets
from alder.ledger.store import SqliteStore, read_unverified
from alder.ports import Submission
from alder.records.budget import Spent
from alder.records.evidence import Choice
from alder.records.experiment import Experiment, Trajectory
from alder.records.verdict import Commitment, Verdict
from ledger.story import (
    BUDGET,
    SALT,
    beginning,
    chained,
    fit_of,
    next_ids,
    one_round,
    reselect,
    rows,
    story,
)

PROTECTED = rows(20, seed=99).columns
SECRETS = Secrets({"admission": PROTECTED}, (SALT,), (Commitment("admission", 20, "ab" * 32),))
SECRET = float(PROTECTED["y"][3])


def audited(written: list[Entry]) -> Report:
    """Audit a ledger whose chain is right, as a careful forger would leave it."""
    return audit(chained(written), reselect=reselect, secrets=SECRETS)


def found(report: Report) -> list[tuple[int, str]]:
    return [(finding.event, finding.code) for finding in report.findings]


def changed(place: int, **parts: Any) -> list[Entry]:
    """The story with other parts in one event."""
    written = story()
    kind, content = written[place]
    written[place] = (kind, {**content, **parts})
    return written


def place_of(kind: str, nth: int = 0) -> int:
    return [i for i, entry in enumerate(story()) if entry[0] == kind][nth]


def test_an_honest_ledger_passes() -> None:
    events = chained(story())
    report = audit(events, reselect=reselect, secrets=SECRETS, digest=events[-1].digest)
    assert report.passed
    assert report.n_events == len(events)
    assert report.n_selections == 3
    assert report.digest == events[-1].digest


def test_an_empty_ledger_passes() -> None:
    assert audit([]).passed


@given(st.integers(0, len(story()) - 1))
def test_every_beginning_of_an_honest_ledger_passes(n: int) -> None:
    assert audited(story()[:n]).passed


def test_an_edited_number_is_found_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.alder"
    with SqliteStore(path) as store:
        for entry in story():
            store.append(*entry)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "UPDATE events SET content = "
            "CAST(replace(CAST(content AS TEXT), '0.03', '0.02') AS BLOB) WHERE number = 7"
        )
    connection.close()
    report = audit(read_unverified(path), reselect=reselect)
    assert found(report) == [(7, "chain")]


@given(st.integers(0, len(story()) - 1))
def test_an_edited_event_is_found_wherever_it_is(place: int) -> None:
    events = chained(story())
    content = {**events[place].content, "added": 1}
    events[place] = replace(events[place], content=content)
    assert (place + 1, "chain") in found(audit(events))


def test_an_edited_array_is_found() -> None:
    events = chained(story())
    columns = {name: column.copy() for name, column in rows(100, seed=1).columns.items()}
    columns["y"][50] += 1e-9
    events[2] = replace(events[2], content={**events[2].content, "columns": columns})
    assert found(audit(events)) == [(3, "chain")]


@given(st.integers(0, len(story()) - 2))
def test_two_events_that_changed_places_are_found(place: int) -> None:
    events = chained(story())
    events[place], events[place + 1] = events[place + 1], events[place]
    assert any(finding.code == "chain" for finding in audit(events).findings)


def test_a_removed_event_is_found() -> None:
    events = chained(story())
    del events[9]
    assert (11, "chain") in found(audit(events))


def test_a_ledger_written_anew_is_found_by_its_published_digest() -> None:
    published = chained(story())[-1].digest
    forged = chained(changed(place_of("fit"), validation_nmse=0.001))
    assert audit(forged).passed
    assert found(audit(forged, digest=published)) == [(0, "digest")]


def test_an_outcome_before_its_choice_is_found() -> None:
    written = story()
    choice, outcome = place_of("choice"), place_of("outcome")
    written.insert(choice, written.pop(outcome))
    assert (choice + 1, "order") in found(audited(written))


def test_commitments_after_the_first_proposal_are_found() -> None:
    written = story()
    proposal = place_of("proposal")
    written.insert(proposal, written.pop(1))
    assert found(audited(written)) == [(proposal, "order"), (proposal + 1, "order")]


def test_rows_after_the_first_proposal_are_found() -> None:
    written = [*beginning()[:3], *one_round(0)[:1], beginning()[3]]
    assert found(audited(written)) == [(5, "order")]


def test_a_second_beginning_is_found() -> None:
    written = [*beginning(), *beginning()]
    assert [code for _, code in found(audited(written))] == ["order"] * 4


def test_an_event_before_the_configuration_is_found() -> None:
    assert (1, "order") in found(audited(beginning()[1:]))


def test_an_event_after_the_end_is_found() -> None:
    written = [*story(), entries.charge(Spent())]
    assert found(audited(written)) == [(len(written), "order")]


def test_a_resume_needs_a_larger_budget_after_the_end() -> None:
    larger = replace(BUDGET, proposals=5)
    assert audited([*story(), entries.resume(larger, {})]).passed
    same = [*story(), entries.resume(BUDGET, {})]
    assert found(audited(same)) == [(len(same), "order")]
    assert audited([*story()[:-1], entries.resume(BUDGET, {})]).passed


@pytest.mark.parametrize("kind", ["outcome", "choice"])
def test_an_experiment_chosen_or_answered_twice_is_found(kind: str) -> None:
    place = place_of(kind)
    written = story()[: place_of("outcome") + 1]
    written.append(written[place])
    report = audit(chained(written))
    assert found(report) == [(len(written), "order")]


def test_a_verdict_without_a_fit_and_an_attempt_that_was_not_made_are_found() -> None:
    written = [*beginning(), one_round(0)[0], entries.verdict(0, Verdict("inaccurate", 1))]
    assert found(audited(written)) == [(6, "order")]
    assert (6, "order") in found(audited([*written[:-1], entries.problems(1, [])]))


def test_a_front_before_the_first_fit_is_found() -> None:
    written = [*beginning(), one_round(0)[0], entries.front([])]
    assert found(audited(written)) == [(6, "order")]


def test_a_verifier_that_counts_backwards_is_found() -> None:
    written = story()
    place = place_of("verdict", 1)
    written[place] = entries.verdict(1, Verdict("inaccurate", 0))
    assert found(audited(written)) == [(place + 1, "order")]


@pytest.mark.parametrize(
    "used", [Spent(proposals=1), Spent(queries=1), Spent(cost=0.5)], ids=["1", "2", "3"]
)
def test_a_charge_beyond_the_budget_is_found(used: Spent) -> None:
    written = story()
    written.insert(-1, entries.charge(used))
    assert found(audited(written)) == [(len(written) - 1, "budget")]


def test_a_proposal_after_the_tokens_were_spent_is_found() -> None:
    few = replace(BUDGET, tokens=7)
    written = [*beginning(), entries.resume(few, {}), *one_round(0), *one_round(1)]
    assert audited(written).passed
    written += one_round(2)
    assert [code for _, code in found(audited(written))] == ["budget"]


def test_experiments_and_verdicts_that_were_not_charged_are_found() -> None:
    written = [entry for entry in story() if entry[0] != "charge"]
    assert found(audited(written)) == [(len(written), "budget")] * 2


def test_a_choice_that_public_evidence_does_not_lead_to_is_found() -> None:
    place = place_of("choice", 2)
    written = story()[:place]
    for name in ("e3", "e2"):
        written.append(entries.choice(Choice(Experiment(name, {"x": 1.0}), 1.0, "a hint")))
    report = audited(written)
    assert found(report) == [(place + 1, "selection")]
    assert str(report.findings[0]) == (
        f"event {place + 1}: Public evidence leads to e2, e3; the ledger has e3, e2."
    )


def test_a_choice_before_there_are_rows_is_found() -> None:
    chosen = entries.choice(Choice(Experiment("e0", {}), 1.0, ""))
    assert found(audited([beginning()[0], chosen])) == [(2, "selection")]


def test_a_selection_is_replayed_from_what_was_known_before_it() -> None:
    seen: list[tuple[int, int]] = []

    def note(evidence: Any, candidates: Any, n: int) -> list[str]:
        seen.append((len(evidence.trajectories), len(evidence.choices)))
        return next_ids(evidence, n)

    assert audit(chained(story()), reselect=note).passed
    assert seen == [(0, 0), (1, 2), (2, 4)]


def test_an_event_that_cannot_be_read_is_found() -> None:
    assert (7, "unreadable") in found(audited(changed(6, fit={})))


def test_a_protected_row_among_public_ones_is_found() -> None:
    leaked = {
        name: np.append(column, PROTECTED[name][3:5])
        for name, column in rows(2, seed=10, experiment="e0").columns.items()
    }
    place = place_of("outcome")
    report = audited(changed(place, columns=leaked))
    assert found(report) == [(place + 1, "leak")]
    assert "2 of its rows are identical to admission rows" in report.findings[0].message


def test_a_row_with_protected_inputs_only_is_a_replicate() -> None:
    place = place_of("outcome")
    columns = {"x": PROTECTED["x"][:3].copy(), "y": rows(3, seed=5).columns["y"].copy()}
    assert audited(changed(place, columns=columns)).passed


@pytest.mark.parametrize(
    "source",
    [
        f"k*x + {SECRET!r}",
        f"The answer at row 3 is {SECRET:.9f}",
        f'{{"rationale": "{-SECRET:.10e}"}}',
        f"salt {SALT.hex().upper()}",
        np.array([1.0, SECRET]).tobytes(),
        b"\xff" + SALT,
    ],
    ids=["digits", "rounded", "exponent", "salt", "bytes", "raw salt"],
)
def test_a_planted_leak_in_a_proposal_is_found(source: str | bytes) -> None:
    written = story()
    place = place_of("proposal")
    written[place] = entries.proposal(Submission(source), None)
    assert (place + 1, "leak") in found(audited(written))


def test_a_protected_value_in_any_number_is_found() -> None:
    fit = entries.fit(0, fit_of(SECRET), validation_nmse=0.1, misfits=[])
    written = story()
    place = place_of("fit")
    written[place] = fit
    assert found(audited(written)) == [(place + 1, "leak")]


def test_a_protected_value_that_is_public_as_well_is_no_leak() -> None:
    public = {"x": np.array([1.0]), "y": np.array([SECRET])}
    place = place_of("outcome")
    written = story()
    written[place] = entries.outcome(Trajectory(public, "e0"))
    written[place_of("proposal", 2)] = entries.proposal(Submission(f"{SECRET!r}*x"), None)
    assert not [finding for finding in audited(written).findings if finding.code == "leak"]


def test_protected_values_of_few_digits_prove_nothing() -> None:
    coarse = Secrets({"admission": {"x": np.arange(20.0), "y": np.arange(20.0) / 4.0}})
    assert audit(chained(story()), secrets=coarse).passed


def test_rows_of_another_number_than_committed_to_are_found_without_salts() -> None:
    fewer = Secrets({"admission": {name: column[:19] for name, column in PROTECTED.items()}})
    assert found(audit(chained(story()), secrets=fewer)) == [(0, "commitment")]
    assert audit(chained(story()), secrets=Secrets({"admission": PROTECTED})).passed


def test_an_audit_counts_the_values_it_could_look_for() -> None:
    coarse = Secrets({"admission": {"x": np.arange(20.0), "y": np.arange(20.0) / 4.0}})
    assert audit(chained(story()), secrets=coarse).n_values == 0
    assert audit(chained(story()), secrets=SECRETS).n_values == 20


def test_rows_that_are_not_those_committed_to_are_found() -> None:
    other = replace(SECRETS, commitments=(Commitment("admission", 20, "cd" * 32),))
    assert found(audit(chained(story()), secrets=other)) == [(0, "commitment")]
