"""The front is part of an outcome: recorded, replayed, public, and whatever the proposer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from study.problems import BUDGET, GRAMMAR, TRUTH, request, rows, run, world
from study.spoken import as_bytes

from alder.expr.text import parse
from alder.ledger.audit import audit
from alder.ledger.events import Replayed, replay
from alder.ledger.store import read_events
from alder.ports import Listen, Submission
from alder.proposers.guesses import Guesses
from alder.records.budget import Budget
from alder.records.evidence import Evidence
from alder.records.glimpse import Glimpse
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.study.study import Study

NAMES = GRAMMAR.variable_names


@final
@dataclass(frozen=True)
class Offering:
    """Proposes one law, again and again, and offers a front beside it."""

    law: str
    front: Sequence[str] = ()

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        front = tuple(Proposal(parse(text, NAMES)) for text in self.front)
        return Submission(Proposal(parse(self.law, NAMES)), front=front)


def test_the_front_of_an_outcome_says_what_became_of_each_law() -> None:
    outcome = run(proposer=Offering(TRUTH, ["c", "a*x"]), guesses=())
    assert outcome.law is not None
    assert [(one.nodes, one.standing) for one in outcome.front] == [
        (1, "open"),
        (3, "open"),
        (9, "admitted"),
    ]
    assert outcome.front[-1].law == outcome.law
    assert outcome.front[-1].text == str(outcome.law)


def test_laws_the_verifier_refused_are_called_so() -> None:
    outcome = run(proposer=Offering("a*x", [TRUTH]), guesses=())
    assert outcome.refusal is not None
    assert outcome.front[0].standing == "refused"
    assert {one.standing for one in outcome.front[1:]} == {"open"}


def test_a_proposer_that_offers_no_front_has_one_of_what_the_study_fitted() -> None:
    outcome = run()
    assert outcome.law in [one.law for one in outcome.front]
    assert len(outcome.front) > 1


def test_the_front_survives_in_the_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    outcome = run(ledger=ledger)
    state = replay(read_events(ledger))
    assert state.end is not None
    assert as_bytes(state.end.front) == as_bytes(outcome.front) == as_bytes(state.front)
    assert as_bytes(run(ledger=ledger).front) == as_bytes(outcome.front)
    assert not audit(read_events(ledger)).findings


def test_a_front_is_made_anew_when_a_refused_study_goes_on(tmp_path: Path) -> None:
    ledger, offering = tmp_path / "run.alder", Offering("a*x", [TRUTH])
    little = Budget(proposals=1, queries=0)
    first = run(proposer=offering, guesses=(), ledger=ledger, budget=little)
    second = run(proposer=offering, guesses=(), ledger=ledger, budget=BUDGET)
    assert {one.law.n_rows for one in first.front} == {8}
    assert {one.law.n_rows for one in second.front} == {10}


def test_a_running_study_has_a_front_already() -> None:
    with Study(world(), GRAMMAR, **request()) as study:
        assert study.ask()
        front = study._opened.journal.state.front
    assert [one.standing for one in front][-1] == "refused"


def test_protected_rows_that_lead_to_the_same_verdicts_leave_the_front_as_it_is() -> None:
    def front(seed: int) -> bytes:
        hidden = Protected(rows(40, seed=seed))
        return as_bytes(run(initial=rows(30, seed=1), protected=hidden).front)

    assert front(2) == front(22)


@final
class Onlooker:
    """Writes down what a search tells."""

    def __init__(self) -> None:
        self.told: list[Glimpse] = []

    def __call__(self, kind: str, state: Replayed) -> None:
        pass

    def glimpse(self, seen: Glimpse) -> None:
        self.told.append(seen)


@final
@dataclass(frozen=True)
class Talking:
    """Proposes a law and says that it does."""

    listen: Listen | None = None

    def watched(self, listen: Listen) -> "Talking":
        return Talking(listen)

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        if self.listen is not None:
            self.listen(Glimpse("looking", 3, parse(TRUTH, NAMES)))
        return Submission(TRUTH)


def test_an_onlooker_is_told_how_far_a_proposer_is() -> None:
    onlooker = Onlooker()
    outcome = run(watch=onlooker, proposer=Talking(), guesses=())
    assert outcome.law is not None
    assert [(seen.stage, seen.fits) for seen in onlooker.told] == [("looking", 3)]


def test_what_comes_after_guesses_is_heard_too() -> None:
    onlooker = Onlooker()
    guesses = Guesses((Proposal(parse("a*x", NAMES)),), Talking())
    run(watch=onlooker, proposer=guesses, guesses=())
    assert onlooker.told


def test_a_plain_watch_is_told_of_events_alone() -> None:
    kinds: list[str] = []
    outcome = run(watch=lambda kind, _: kinds.append(kind), proposer=Talking(), guesses=())
    assert outcome.law is not None
    assert kinds[-1] == "end"
