"""Discover a law: one call for a whole study."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from alder.kernel.ready import ensure
from alder.loop import run
from alder.ports import Proposer, Selector
from alder.records.budget import Budget
from alder.records.grammar import Grammar
from alder.records.outcome import Outcome
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.study.journal import Watch
from alder.study.opening import Asked, open_study
from alder.tables import Rows
from alder.verification.criteria import Criteria
from alder.verification.spending import AlphaSpending, Spending


def discover(  # noqa: PLR0913 (a user's whole request in one call)
    world: object,
    grammar: Grammar,
    *,
    initial: Rows,
    validation: Rows | None = None,
    protected: Protected | None = None,
    budget: Budget | None = None,
    proposer: str | Proposer = "search",
    guesses: Sequence[str | Proposal] = (),
    selector: str | Selector = "disagreement",
    ledger: str | Path | None = None,
    seed: int = 0,
    sigma: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    time_column: str | None = None,
    criteria: Criteria | None = None,
    spending: Spending | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Propose, fit, verify and experiment until a law is admitted or the study refuses.

    `initial` and `validation` are public rows; `protected` ones go to the verifier's own process.
    Without `protected` a quarter of the initial rows is split off before anything else sees them,
    by group or time where those columns are named. `guesses` are laws to start from. `ledger` is
    a file from which the study resumes; without it a private temporary one is used. `watch` is
    called after every event, for progress.
    """
    ensure()
    asked = Asked(
        world=world,
        grammar=grammar,
        initial=initial,
        validation=validation,
        protected=protected,
        budget=budget or Budget(),
        proposer=proposer,
        guesses=guesses,
        selector=selector,
        roles=Roles(sigma, weight, group, time_column),
        criteria=criteria or Criteria(),
        spending=spending or AlphaSpending(),
        ledger=ledger,
        seed=seed,
    )
    opened = open_study(asked, watch)
    try:
        begin = time.monotonic()
        run(opened.stages, opened.journal, lambda: time.monotonic() - begin)
        end = opened.journal.state.end
    finally:
        opened.close()
    assert end is not None, "the loop stops at the end of a study only"
    return replace(end, ledger="" if ledger is None else str(ledger))
