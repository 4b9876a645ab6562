"""The same loop, one question at a time: for people and instruments that run experiments."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import final

from alder.errors import BadStudy
from alder.kernel.ready import ensure
from alder.ledger import entries
from alder.ledger.entries import Entry
from alder.loop import run, step
from alder.ports import Proposer, Selector
from alder.records.budget import Budget, Spent
from alder.records.evidence import Evidence
from alder.records.experiment import Experiment, FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.outcome import Outcome
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.spelling import suggestion
from alder.study.journal import Watch
from alder.study.opening import Asked, open_study
from alder.study.parts import Safe, as_proposer, as_selector
from alder.study.rows import Box, RowReader, require_inside
from alder.tables import Rows, as_columns, column_names, count_rows
from alder.verification.criteria import Criteria
from alder.verification.spending import AlphaSpending, Spending
from alder.worlds.manual import ManualWorld


@final
class Study:
    """Ask for experiments, tell what they showed, in any order, late or not at all.

    The state is the ledger: a study opened again with the same settings goes on where it was.
    Close it, or use it as a context.
    """

    def __init__(  # noqa: PLR0913 (a user's whole request in one call)
        self,
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
        sums: str | None = None,
        criteria: Criteria | None = None,
        spending: Spending | None = None,
        limits: Safe | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Begin a study, or take it up where its ledger ends.

        `initial` and `validation` are public rows; `protected` ones go to the verifier's own
        process. Without `protected` a quarter of the initial rows is split off before anything else
        sees them, by group or time where those columns are named. `sums` names the column that says
        which observation a row belongs to, where the target, repeated on each of its rows, is the
        sum of the law over them. `guesses` are laws to start from.
        `limits` say what an experiment may show under every law that stands: a mapping of columns
        to their two ends, `Limits`, or a function of the forecast columns of one experiment.
        `ledger` is a file from which the study resumes; without it a private temporary one is used.
        `watch` is called after every event, for progress; where it has a method `glimpse`, that is
        told between events how far the search is.
        """
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
            roles=Roles(sigma, weight, group, time_column, sums),
            criteria=criteria or Criteria(),
            spending=spending or AlphaSpending(),
            limits=limits,
            ledger=ledger,
            seed=seed,
        )
        _prepare(asked)
        self._reader = RowReader(grammar, asked.roles)
        self._box = _box(world, grammar)
        self._opened = open_study(asked, watch)
        self._begin = time.monotonic()
        self._ledger = "" if ledger is None else str(ledger)

    def run(self) -> Outcome:
        """Go on to the end, running experiments in the world itself."""
        run(self._opened.stages, self._opened.journal, self._clock)
        outcome = self.outcome
        assert outcome is not None, "the loop stops at the end of a study only"
        return outcome

    def ask(self) -> tuple[Experiment, ...]:
        """Return the experiments to run now; none once the study has ended.

        Experiments that are out and not answered are returned again.
        """
        journal = self._opened.journal
        while journal.state.end is None and not journal.state.pending:
            step(self._opened.stages, journal, self._clock)
        return tuple(choice.experiment for choice in journal.state.pending)

    def tell(self, experiment: Experiment | str, rows: Rows) -> None:
        """Give the rows an experiment produced; settings need not be repeated in them."""
        asked = self.known(experiment)
        columns = _with_settings(asked, rows, self._reader.names)
        title = f"the rows of experiment {asked.id}"
        complete, _ = self._reader.read(columns, title)
        box = {name: ends for name, ends in self._box.items() if name in asked.settings}
        require_inside(complete, box, title)
        self._answer(asked, entries.outcome(Trajectory(complete, asked.id)))

    def fail(self, experiment: Experiment | str, reason: str) -> None:
        """Say that an experiment gave no rows, and why."""
        asked = self.known(experiment)
        self._answer(asked, entries.failed(FailedRun(asked.id, reason)))

    def abandon(self, experiment: Experiment | str) -> None:
        """Wait no longer for an experiment; its rows may still come late."""
        asked = self.known(experiment)
        self._answer(asked, entries.abandoned(asked.id))

    @property
    def evidence(self) -> Evidence:
        """All that is public so far."""
        evidence = self._opened.journal.state.evidence
        assert evidence is not None
        return evidence

    @property
    def outcome(self) -> Outcome | None:
        """The law or the refusal, once the study has ended."""
        end = self._opened.journal.state.end
        return None if end is None else replace(end, ledger=self._ledger)

    def close(self) -> None:
        """Close the ledger and end the vault."""
        self._opened.close()

    def __enter__(self) -> "Study":
        """Return the study, to be closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the study."""
        self.close()

    def known(self, experiment: Experiment | str) -> Experiment:
        """Return an experiment that may be told; raise `BadStudy` for any other."""
        wanted = experiment if isinstance(experiment, str) else experiment.id
        state = self._opened.journal.state
        done = {trajectory.experiment for trajectory in state.trajectories}
        asked = {choice.experiment.id: choice.experiment for choice in state.choices}
        if wanted in done:
            raise BadStudy(f"The rows of experiment {wanted} were told already.")
        if wanted not in asked:
            waiting = tuple(choice.experiment.id for choice in state.pending)
            raise BadStudy(
                f"Experiment {wanted} was never asked for; waiting for "
                f"{', '.join(waiting) or 'none'}.{suggestion(wanted, waiting)}"
            )
        return asked[wanted]

    def _clock(self) -> float:
        return time.monotonic() - self._begin

    def _answer(self, asked: Experiment, answer: Entry) -> None:
        """Write an answer, and charge the experiment with its first one."""
        journal = self._opened.journal
        known = asked.id in {failure.experiment for failure in journal.state.failures}
        with journal.together():
            journal.write(answer)
            if not known:
                journal.write(entries.charge(Spent(queries=1, cost=asked.cost)))


def _prepare(asked: Asked) -> None:
    """Compile the fitter, after saying which name leads nowhere or which key is missing."""
    as_proposer(asked.proposer, asked.guesses, asked.grammar)
    as_selector(asked.selector)
    ensure()


def _box(world: object, grammar: Grammar) -> Box:
    """Return where settings may lie: the ranges of variables, and those of the world."""
    ranges = {v.name: v.range for v in grammar.variables if v.range is not None}
    own = world.ranges if isinstance(world, ManualWorld) else None
    return ranges | {name: ends for name, ends in (own or {}).items() if name not in ranges}


def _with_settings(experiment: Experiment, rows: Rows, names: Sequence[str]) -> Rows:
    """Add settings the rows do not repeat, so that telling the target alone is enough."""
    there = column_names(rows)
    missing = [n for n in names if n not in there and n in experiment.settings]
    if not missing:
        return rows
    n_rows = count_rows(rows)
    columns: dict[str, object] = dict(as_columns(rows))
    return columns | {name: [experiment.settings[name]] * n_rows for name in missing}
