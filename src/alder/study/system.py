"""Discover the equations of motion of a system: one study for each rate, one budget for all.

Each rate has a ledger and a vault of its own, so that what holds for a study holds for it: it can
be resumed, audited and reported. Experiments are shared: one that was asked for by one rate is
taken up by the others before they ask for any of their own. When every rate has an admitted law,
they are followed together along whole protected trajectories, inside the vault.
"""

import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadStudy
from alder.expr.nodes import Const, Expr
from alder.kernel.ready import ensure
from alder.loop import step
from alder.ports import Proposer, Selector
from alder.proposers.search.fields.proposer import VectorFields
from alder.records.budget import Budget
from alder.records.dynamics import Dynamics
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.outcome import Outcome
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.records.scope import Scope
from alder.records.system import SystemOutcome
from alder.records.variable import Variable
from alder.selection.starts import Shared, Starts
from alder.study.conserving import changed, quantity
from alder.study.journal import Watch
from alder.study.opening import Asked, Opened, open_study
from alder.study.parts import as_selector
from alder.study.rates import all_spent, best_laws, not_kept, not_together
from alder.tables import Rows, as_columns, column_names, require_columns
from alder.verification.criteria import Criteria
from alder.worlds.ode import ODEWorld, Together

TIME = "t"
"""The column of the time in rows of a system."""


def discover_system(  # noqa: PLR0913 (a user's whole request in one call)
    world: ODEWorld,
    grammar: Grammar,
    *,
    initial: Rows,
    protected: Protected,
    budget: Budget | None = None,
    proposer: str | Proposer | None = None,
    selector: str | Selector | None = None,
    ledgers: str | Path | None = None,
    seed: int = 0,
    criteria: Criteria | None = None,
    rollout: float = 1e-2,
    conserved: Sequence[str] = (),
    watch: Watch | None = None,
) -> SystemOutcome:
    """Find the law of every rate of a system that is not known, and admit them together.

    Example: `alder.discover_system(world, grammar, initial=rows, protected=Protected(others))`

    The arguments are those of `discover`. The grammar says what each law may say; its target is
    replaced by the rate of each state in turn. Rows hold states, inputs, their derivatives and the
    time `t`, which goes up within a trajectory. `protected` must be whole trajectories from other
    starts: rows held out of a trajectory that was seen verify nothing. Rates the system declares
    as known are taken as they are. `budget` is that of all rates together in experiments, and of
    each in proposals. `ledgers` is a folder with a ledger for each rate. `rollout` is the largest
    NMSE of any state when the laws are followed together from the first row of each protected
    trajectory. `conserved` are quantities of the states that the laws together must keep, such as
    `"v**2/2 - cos(x)"`.
    """
    ensure()
    together = Together()
    asked = _Request(
        replace(world, together=together), grammar, initial, protected,
        budget or Budget(queries=10, batch=2),
        _lending(proposer or VectorFields(), together), selector or Starts(),
        seed, criteria or Criteria(), rollout,
        {text: quantity(text, world.system.states) for text in conserved},
    )  # fmt: skip
    with ExitStack() as undo:
        if ledgers is None:
            ledgers = undo.enter_context(tempfile.TemporaryDirectory(prefix="alder-"))
        folder = Path(ledgers)
        folder.mkdir(parents=True, exist_ok=True)
        return _Rates(asked, folder, undo, watch).run()


def _lending(proposer: str | Proposer, together: Together) -> str | Proposer:
    """Let the search for one rate try parts of what was found for the others."""
    if isinstance(proposer, VectorFields):
        return replace(proposer, leading=together.leading)
    return proposer


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    """The study of a system as it was asked for."""

    world: ODEWorld
    grammar: Grammar
    initial: Rows
    protected: Protected
    budget: Budget
    proposer: str | Proposer
    selector: str | Selector
    seed: int
    criteria: Criteria
    rollout: float
    conserved: Mapping[str, Expr]

    def grammar_of(self, state: str) -> Grammar:
        """Return what the law of one rate may say."""
        target = Variable(self.world.system.derivative_column(state))
        return replace(self.grammar, target=target)


@final
class _Rates:
    """The studies of all unknown rates, stepped in turn."""

    def __init__(self, asked: _Request, folder: Path, undo: ExitStack, watch: Watch | None) -> None:
        self.asked = asked
        self.begin = time.monotonic()
        system = asked.world.system
        unknown = [state for state in system.states if not system.is_known(state)]
        if not unknown:
            raise BadStudy("Every rate of the system is known; there is nothing to discover.")
        needed = [TIME, *asked.grammar.variable_names, *map(system.derivative_column, unknown)]
        require_columns(needed, column_names(asked.initial), where="the initial rows")
        self.constant = {s: law for s in unknown if (law := _constant(asked, s)) is not None}
        self.shared: list[str] = []
        self.studies: dict[str, Opened] = {}
        for state in unknown:
            if state not in self.constant:
                self.studies[state] = self._open(state, folder, undo, watch)
                self._lead(state)
        if not self.studies:
            raise BadStudy("No rate of the system changes in the initial rows; give others.")

    def _open(self, state: str, folder: Path, undo: ExitStack, watch: Watch | None) -> Opened:
        asked = self.asked
        inner = as_selector(asked.selector)[1]
        wanted = Asked(
            world=asked.world,
            grammar=asked.grammar_of(state),
            initial=asked.initial,
            protected=asked.protected,
            budget=asked.budget,
            proposer=asked.proposer,
            selector=Shared(inner, self.shared),
            roles=Roles(time=TIME),
            criteria=asked.criteria,
            ledger=folder / f"{state}.alder",
            seed=asked.seed,
            rollout=asked.rollout,
        )
        opened = open_study(wanted, watch)
        undo.callback(opened.close)
        for choice in opened.journal.state.choices:
            if choice.experiment.id not in self.shared:
                self.shared.append(choice.experiment.id)
        return opened

    def run(self) -> SystemOutcome:
        """Let every study take its turn until all have ended, then judge them together."""
        turn = 0
        names = list(self.studies)
        while any(self._is_open(name) for name in names):
            name = names[turn % len(names)]
            if self._is_open(name):
                self._take_turn(self.studies[name])
                self._lead(name)
            turn += 1
        outcomes = {name: self._end(name) for name in names}
        return self._together(outcomes)

    def _lead(self, name: str) -> None:
        """Let the other rates be followed with the best law of this one so far."""
        state, together = self.studies[name].journal.state, self.asked.world.together
        ended = None if state.end is None else state.end.law
        law = ended or (state.candidates[0].law if state.candidates else None)
        if together is not None and law is not None:
            together.leading[name] = law

    def _is_open(self, name: str) -> bool:
        return self.studies[name].journal.state.end is None

    def _end(self, name: str) -> Outcome:
        end = self.studies[name].journal.state.end
        assert end is not None
        return end

    def _take_turn(self, opened: Opened) -> None:
        """Go on until the experiments of one round are answered."""
        ran = False
        while opened.journal.state.end is None:
            if not opened.journal.state.pending and ran:
                break
            ran = ran or bool(opened.journal.state.pending)
            step(opened.stages, opened.journal, self._clock)

    def _clock(self) -> float:
        return time.monotonic() - self.begin

    def _together(self, outcomes: Mapping[str, Outcome]) -> SystemOutcome:
        laws, missing = best_laws(outcomes)
        laws |= self.constant
        spent, cut = (
            all_spent(outcomes, len(self.shared)),
            any(o.cut_short for o in outcomes.values()),
        )
        candidate = self._dynamics(laws) if self._is_whole(laws) else None
        if missing:
            return SystemOutcome(
                None, outcomes[missing[0]].refusal, missing[0], outcomes, spent,
                candidate=candidate, cut_short=cut,
            )  # fmt: skip
        assert candidate is not None
        broken = changed(candidate, self.asked.conserved, self._rows(candidate))
        if broken:
            return SystemOutcome(
                None, not_kept(broken), "", outcomes, spent, candidate=candidate, cut_short=cut
            )
        verdict = next(iter(self.studies.values())).vault.follow(candidate)
        if verdict.accepted:
            return SystemOutcome(candidate, None, "", outcomes, spent, verdict, candidate, cut)
        refusal = not_together(verdict)
        return SystemOutcome(None, refusal, "", outcomes, spent, verdict, candidate, cut)

    def _rows(self, candidate: Dynamics) -> dict[str, FloatArray]:
        """Return where quantities are asked to stay: initial rows, and starts on offer."""
        names = (*candidate.states, *candidate.inputs)
        rows, pool = as_columns(self.asked.initial, names), self.asked.world.offers.pool.columns
        if not all(name in pool for name in names):
            return {name: rows[name] for name in names}
        return {name: np.concatenate([rows[name], pool[name]]) for name in names}

    def _is_whole(self, laws: Mapping[str, Law]) -> bool:
        return all(s in laws or self.asked.world.system.is_known(s) for s in self._states)

    @property
    def _states(self) -> tuple[str, ...]:
        return self.asked.world.system.states

    def _dynamics(self, laws: Mapping[str, Law]) -> Dynamics:
        known: dict[str, str | Law] = {}
        for state in self._states:
            rate = self.asked.world.system.rates[state]
            if state in laws:
                continue
            if not isinstance(rate, str | Law):
                raise BadStudy(
                    f"The rate of `{state}` is known as a function; give it as a law or a formula, "
                    "so that it can be part of what is returned."
                )
            known[state] = rate
        return Dynamics({s: laws[s] for s in self._states if s in laws}, known)


def _constant(asked: _Request, state: str) -> Law | None:
    """Return the law of a rate that never changes; whether it holds, trajectories will tell."""
    grammar = asked.grammar_of(state)
    name = grammar.target.name
    column = as_columns(asked.initial, [name])[name]
    if not len(column) or np.ptp(column) > 0.0:
        return None
    return Law(
        structure=Const(float(column[0])),
        target=grammar.target,
        variables=(),
        coefficients=(),
        covariance=np.zeros((0, 0)),
        residual_df=len(column) - 1,
        noise=Noise(0.0),
        scope=Scope({}),
        floors=grammar.floors,
        n_rows=len(column),
    )
