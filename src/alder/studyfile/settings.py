"""A study ready to begin: everything `discover` and `Study` need but the ledger."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from alder.records.budget import Budget
from alder.records.grammar import Grammar
from alder.records.limits import Limits
from alder.records.outcome import Outcome
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.study import Study
from alder.study.journal import Watch
from alder.study.parts import as_proposer, as_selector
from alder.tables import Rows
from alder.verification.criteria import Criteria
from alder.verification.spending import AlphaSpending, Spending
from alder.worlds.log import LogWorld


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudySettings:
    """What a study file says, as values; `name` is that of the file, for messages.

    `is_manual` says that a person runs the experiments.
    """

    name: str
    grammar: Grammar
    initial: Rows
    world: object = field(default_factory=LogWorld)
    is_manual: bool = False
    validation: Rows | None = None
    protected: Protected | None = None
    roles: Roles = field(default_factory=Roles)
    budget: Budget = field(default_factory=Budget)
    proposer: str = "search"
    guesses: tuple[Proposal, ...] = ()
    selector: str = "disagreement"
    criteria: Criteria = field(default_factory=Criteria)
    spending: Spending = field(default_factory=AlphaSpending)
    limits: Limits | None = None
    seed: int = 0

    def require_parts(self) -> None:
        """Refuse a proposer or selector that is none, or lacks its key, before time is spent."""
        as_proposer(self.proposer, self.guesses, self.grammar)
        as_selector(self.selector)

    def discover(self, ledger: Path | None, watch: Watch | None = None) -> Outcome:
        """Run the whole study."""
        with self.open(ledger, watch) as study:
            return study.run()

    def open(self, ledger: Path | None, watch: Watch | None = None) -> Study:
        """Begin or take up the study one question at a time."""
        return Study(
            self.world,
            self.grammar,
            initial=self.initial,
            validation=self.validation,
            protected=self.protected,
            budget=self.budget,
            proposer=self.proposer,
            guesses=self.guesses,
            selector=self.selector,
            ledger=ledger,
            seed=self.seed,
            sigma=self.roles.sigma,
            weight=self.roles.weight,
            group=self.roles.group,
            time_column=self.roles.time,
            sums=self.roles.sums,
            criteria=self.criteria,
            spending=self.spending,
            limits=self.limits,
            watch=watch,
        )
