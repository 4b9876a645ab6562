"""What nobody measured, and what only the verifier holds, changes nothing that others see or do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np
import pytest
from study.problems import BUDGET, GUESSES, NOISE, inputs, outcome_of, rows, run, world
from study.spoken import as_bytes

from alder.arrays import FloatArray
from alder.expr.text import parse
from alder.ledger.audit import audit
from alder.ledger.leaks import Secrets
from alder.ledger.store import read_events
from alder.ports import Forecast, Submission
from alder.proposers.guesses import Guesses
from alder.proposers.search.proposer import Search
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Setting
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.selection.registry import selector
from alder.worlds.function import FunctionWorld


@final
@dataclass(frozen=True)
class Witness:
    """A proposer and a selector that write down every byte they are shown and what they answer."""

    proposer: Guesses | Search
    selector: str = "disagreement"
    seen: list[bytes] = field(default_factory=list[bytes])

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        submission = self.proposer.propose(evidence, rng)
        self.seen.extend((as_bytes(evidence), as_bytes(submission)))
        return submission

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        choices = selector(self.selector).select(candidates, evidence, forecast, n, rng)
        shown = (tuple(candidates), evidence, forecast.pool(), choices)
        self.seen.append(as_bytes(shown))
        return choices


def guesses() -> Guesses:
    return Guesses(tuple(Proposal(parse(guess, ("x", "v"))) for guess in GUESSES))


def witnessed(witness: Witness, given: FunctionWorld | None = None, **changes: object) -> bytes:
    outcome = run(given, None, **{"proposer": witness, "selector": witness, **changes})
    law = outcome.law
    return b"" if law is None else as_bytes((law.structure, law.coefficients))


def other_outcomes(known: Sequence[Mapping[str, Setting]]) -> FunctionWorld:
    """Return a world that answers as before where it was asked, and anything elsewhere."""

    def answer(settings: dict[str, Setting]) -> float:
        return outcome_of(settings) if settings in known else 1e6 * float(settings["x"])

    return FunctionWorld(answer, experiments=world().experiments)


@pytest.mark.parametrize("name", ["disagreement", "information"])
def test_outcomes_that_were_never_asked_for_change_nothing(name: str) -> None:
    asked: list[dict[str, Setting]] = []

    def note(settings: dict[str, Setting]) -> float:
        asked.append(settings)
        return outcome_of(settings)

    first, second = Witness(guesses(), name), Witness(guesses(), name)
    law = witnessed(first, FunctionWorld(note, experiments=world().experiments))
    assert len(asked) == BUDGET.queries
    assert witnessed(second, other_outcomes(asked)) == law
    assert second.seen == first.seen


def test_the_first_choice_knows_no_outcome() -> None:
    first, second = Witness(guesses()), Witness(guesses())
    witnessed(first)
    witnessed(second, other_outcomes([]))
    assert second.seen[:3] == first.seen[:3]
    assert second.seen[3] != first.seen[3]


def protected(noise_seed: int) -> dict[str, FloatArray]:
    """Return protected rows at the same inputs with other outcomes: the same law, other noise."""
    columns = inputs(40, seed=2)
    noise = NOISE * np.random.default_rng(noise_seed).standard_normal(40)
    return {**columns, "y": 2.0 * columns["x"] + 0.5 * columns["v"] ** 2 + noise}


@pytest.mark.parametrize("proposer", [guesses(), Search()], ids=["guesses", "search"])
def test_protected_rows_that_lead_to_the_same_verdicts_change_nothing(
    proposer: Guesses | Search,
) -> None:
    first, second = Witness(proposer), Witness(proposer)
    initial = rows(30, seed=1)  # a search cannot tell laws apart on fewer
    law = witnessed(first, initial=initial, protected=Protected(protected(1)))
    reversed_ = {name: column[::-1] for name, column in protected(2).items()}
    assert witnessed(second, initial=initial, protected=Protected(reversed_)) == law != b""
    assert second.seen == first.seen


def test_no_protected_value_is_written_to_the_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    hidden = rows(40, seed=2)
    run(ledger=ledger, protected=Protected(hidden))
    report = audit(read_events(ledger), secrets=Secrets({"admission": hidden}))
    assert not [finding for finding in report.findings if finding.code == "leak"]


def test_rows_split_off_are_not_shown_to_anyone() -> None:
    """Without protected rows a quarter is kept apart before anything else sees it."""
    table = rows(40, seed=5)
    witness = Witness(guesses())
    witnessed(witness, initial=table, protected=None)
    shown = b"".join(witness.seen)
    hidden = [y for y in table["y"] if np.float64(y).tobytes() not in shown]
    assert len(hidden) == 10
