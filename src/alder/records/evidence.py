"""All that is public about a study at one moment: what proposers and selectors may see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from alder.arrays import FloatArray
from alder.expr.nodes import Expr
from alder.records.budget import Budget, Spent
from alder.records.experiment import Experiment, FailedRun, Trajectory, join
from alder.records.fit import Fit
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.problem import Problem
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.records.verdict import Category
from alder.segments import numbered_through


@final
@dataclass(frozen=True, slots=True)
class Misfit:
    """Where a fitted law leaves something unexplained, in noise standard deviations.

    `along` names the variable against which residuals show structure, `strength` is the size of
    that structure (about 1 where there is none), `where` says in words in which region.
    """

    along: str
    strength: float
    where: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One proposal and what became of it; an unreadable one has problems and no proposal.

    `rivals` are structures the proposer thought about as good. `validation_nmse` is the error on
    validation rows, or where there are none the cross-validated one over so many `folds`. `front`
    are the most accurate structures of each size that the proposer came across.
    """

    proposal: Proposal | None
    rivals: tuple[Proposal, ...] = ()
    problems: tuple[Problem, ...] = ()
    fit: Fit | None = None
    validation_nmse: float | None = None
    misfits: tuple[Misfit, ...] = ()
    category: Category | None = None
    folds: int = 0
    front: tuple[Proposal, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Separation:
    """How far two laws part at an experiment, in noise standard deviations."""

    first: str
    second: str
    sigmas: float


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """An experiment a selector chose, its score, and the reason in words."""

    experiment: Experiment
    score: float
    reason: str
    separates: tuple[Separation, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A law that still stands, refitted on all public rows, with its weight and its label."""

    law: Law
    weight: float
    label: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """An immutable snapshot: trajectories, attempts with their fates, experiments and budget.

    `initial` are the first rows, `validation` public rows never used for fitting, `trajectories`
    what experiments brought, in the order they were told.
    """

    grammar: Grammar
    roles: Roles
    budget: Budget
    initial: Trajectory
    validation: Trajectory | None = None
    trajectories: tuple[Trajectory, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    choices: tuple[Choice, ...] = ()
    failures: tuple[FailedRun, ...] = ()
    spent: Spent = field(default_factory=Spent)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns a row carries: variables, target, and what is known about the row."""
        return (*self.grammar.variable_names, self.grammar.target.name, *self.roles.names)

    def rows(self) -> Mapping[str, FloatArray]:
        """Return all rows a law may be fitted to: initial ones and those of experiments.

        Observations of several rows are numbered anew: two experiments may both have a first one.
        """
        tables = (self.initial, *self.trajectories)
        joined = join(tables, self.columns)
        sums = self.roles.sums
        if sums is not None:
            joined[sums] = numbered_through([table.columns[sums] for table in tables])
        return joined

    @property
    def rejected(self) -> tuple[Expr, ...]:
        """The structures the verifier has refused."""
        return tuple(
            attempt.proposal.structure
            for attempt in self.attempts
            if attempt.proposal is not None and attempt.category not in (None, "accept")
        )

    @property
    def done(self) -> frozenset[str]:
        """The ids of experiments that were run, or tried."""
        ran = {trajectory.experiment for trajectory in self.trajectories}
        return frozenset(ran | {failure.experiment for failure in self.failures})
