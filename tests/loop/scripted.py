"""Stages that do what a test tells them to, and a ledger in memory; all of them real."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import final

import numpy as np
from study.problems import GRAMMAR, inputs, outcome_of, rows

from alder.expr.text import parse
from alder.ledger import entries
from alder.ledger.configuration import Configuration
from alder.ledger.entries import Entry
from alder.ledger.events import Replayed, advance
from alder.loop import Stages
from alder.ports import Event, Forecast, Submission
from alder.records.budget import Budget
from alder.records.effort import Tally
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Setting, Trajectory
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.verdict import Category, Commitment, Verdict
from alder.selection.candidates import refit
from alder.worlds.function import FunctionWorld


@final
class Memory:
    """A ledger that ends with the test."""

    def __init__(self, budget: Budget) -> None:
        self.state = Replayed()
        self.kinds: list[str] = []
        configuration = Configuration(GRAMMAR, Roles(), budget, 0, "scripted", "scripted")
        self.write(entries.configuration(configuration))
        self.write(entries.commitments(()))
        self.write(entries.initial(Trajectory(rows(12, seed=1))))

    def write(self, entry: Entry) -> None:
        kind, content = entry
        number = self.state.n_events + 1
        self.state = advance(self.state, Event(number, kind, content, f"digest {number}"))
        self.kinds.append(kind)

    @contextmanager
    def together(self) -> Generator[None, None, None]:
        before, n_kinds = self.state, len(self.kinds)
        try:
            yield
        except BaseException:
            self.state = before
            del self.kinds[n_kinds:]
            raise


@final
@dataclass
class Scripted:
    """Proposes the next text of a list; the first one's rivals are all that follow."""

    texts: Sequence[str | bytes]
    tokens: int = 0
    fits: int = 0
    shown: list[Evidence] = field(default_factory=list[Evidence])

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        self.shown.append(evidence)
        if len(self.shown) > len(self.texts):
            return None
        return Submission(self.texts[len(self.shown) - 1], tokens=self.tokens, fits=self.fits)


@final
@dataclass
class Answers:
    """Gives the verdicts of a list, then the last one for ever."""

    categories: Sequence[Category]
    laws: list[Law] = field(default_factory=list[Law])

    def commitments(self) -> tuple[Commitment, ...]:
        return ()

    def submit(self, law: Law) -> Verdict:
        self.laws.append(law)
        number = min(len(self.laws), len(self.categories))
        return Verdict(self.categories[number - 1], len(self.laws))


@final
class InOrder:
    """Selects the first experiments that were not run yet and are safe."""

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        pool = forecast.pool()
        free = [i for i in range(len(pool)) if pool.ids[i] not in evidence.done and pool.safe[i]]
        return tuple(Choice(pool.experiment(i), 1.0, "It is the next.") for i in free[:n])


def refit_all(evidence: Evidence, rng: np.random.Generator, tally: Tally) -> tuple[Candidate, ...]:
    """Refit what was proposed, and one law that never is."""
    proposed = [a.proposal for a in evidence.attempts if a.proposal is not None]
    rival = Proposal(parse("a*x + b*v^2", ("x", "v")))
    return refit([*proposed, rival], evidence, tally=tally)


def stages(
    texts: Sequence[str | bytes],
    categories: Sequence[Category] = ("inaccurate",),
    run: Callable[[dict[str, Setting]], object] = outcome_of,
    n_safe: int = 20,
) -> Stages:
    """Put a study together."""
    world = FunctionWorld(
        run, experiments=inputs(20, seed=3), is_safe=[i < n_safe for i in range(20)]
    )
    return Stages(Scripted(texts), Answers(categories), refit_all, InOrder(), world.bind(GRAMMAR))
