"""Open a study: configuration, ledger, vault and stages, new or where it was left."""

import dataclasses
import math
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import final

import numpy as np

import alder
from alder.arrays import FloatArray
from alder.errors import BadLedger, BadStudy
from alder.ledger import entries
from alder.ledger.configuration import Configuration
from alder.ledger.store import SqliteStore
from alder.loop import HeldBack, Stages
from alder.ports import Moving, Proposer, Selector, Watchable, World
from alder.records.budget import Budget
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.motion import motion_by_name
from alder.records.proposal import Proposal
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.segments import Segments
from alder.spelling import printable
from alder.study.journal import LedgerJournal, Onlooker, Watch
from alder.study.parts import (
    Safe,
    as_limits,
    as_proposer,
    as_selector,
    limits_to_json,
    refitter,
    safeguarded,
)
from alder.study.plugged import as_criteria, as_world
from alder.study.rows import RowReader, StudyRows, prepare
from alder.tables import Rows
from alder.verification.criteria import Criteria, Reference
from alder.verification.enough import require_enough
from alder.verification.spending import AlphaSpending, Spending
from alder.verification.terms import Terms
from alder.verification.vault import Vault
from alder.worlds.binding import bind


@final
@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A study as it was asked for: what `discover`, `Study` and a study file have in common."""

    world: object
    grammar: Grammar
    initial: Rows
    validation: Rows | None = None
    protected: Protected | None = None
    budget: Budget = field(default_factory=Budget)
    proposer: str | Proposer = "search"
    guesses: Sequence[str | Proposal] = ()
    selector: str | Selector = "disagreement"
    roles: Roles = field(default_factory=Roles)
    criteria: Criteria = field(default_factory=Criteria)
    spending: Spending = field(default_factory=AlphaSpending)
    limits: Safe | None = None
    ledger: str | Path | None = None
    seed: int = 0
    rollout: float | None = None


@final
@dataclass(slots=True, eq=False)
class Opened:
    """A study under way; close it."""

    stages: Stages
    journal: LedgerJournal
    n_dropped: int
    undo: ExitStack
    vault: Vault

    def close(self) -> None:
        """End the vault, let others open the ledger, and remove it where it was private."""
        self.undo.close()


def open_study(asked: Asked, watch: Watch | None = None) -> Opened:
    """Begin a study, or take it up where its ledger ends."""
    _require_kinds(asked)
    proposer_name, proposer = as_proposer(asked.proposer, asked.guesses, asked.grammar)
    selector_name, selector = as_selector(asked.selector)
    world = bind(as_world(asked.world), asked.grammar, asked.roles)
    held_back: HeldBack | None = None
    limits = None if asked.limits is None else as_limits(asked.limits)
    if limits is not None:
        selector = safeguarded(selector, limits, world, asked.grammar)
        held_back = selector.held_back
    reader = RowReader(asked.grammar, asked.roles)
    rows = prepare(reader, asked.initial, asked.validation, asked.protected, asked.seed)
    terms = _terms(asked, rows, world)
    require_enough(terms, rows.protected)
    configuration = Configuration(
        grammar=asked.grammar,
        roles=asked.roles,
        budget=asked.budget,
        seed=asked.seed,
        proposer=proposer_name,
        selector=selector_name,
        criteria=terms.to_json(),
        versions=_versions(),
        limits=limits_to_json(limits),
    )
    with ExitStack() as undo:
        path = asked.ledger
        if path is None:
            scratch = undo.enter_context(tempfile.TemporaryDirectory(prefix="alder-"))
            path = Path(scratch) / "run.alder"
        path = Path(path)
        store = SqliteStore(path)
        undo.callback(store.close)
        journal = LedgerJournal(store, watch)
        _require_same(journal, configuration, rows, path)
        vault = Vault.seal(
            Protected(rows.protected["admission"], _shifts(rows.protected)),
            terms,
            directory=path.with_name(path.name + ".vault"),
            published=journal.state.commitments,
        )
        undo.callback(vault.close)
        _begin(journal, configuration, rows, vault)
        seen = _watched(proposer, watch)
        stages = Stages(seen, vault, refitter(journal), selector, world, held_back)
        return Opened(stages, journal, rows.n_dropped, undo.pop_all(), vault)


def _watched(proposer: Proposer, watch: Watch | None) -> Proposer:
    """Let a proposer that can say how far it is say so to whoever can hear it."""
    if isinstance(watch, Onlooker) and isinstance(proposer, Watchable):
        return proposer.watched(watch.glimpse)
    return proposer


def _require_kinds(asked: Asked) -> None:
    """Refuse settings of another kind before anything is made of them."""
    seed: object = asked.seed
    if not (isinstance(seed, Integral) and int(seed) >= 0):
        raise BadStudy(f"The seed is a whole number from 0 on; got {printable(repr(seed))}.")
    kinds = {"grammar": Grammar, "budget": Budget, "protected": Protected | None}
    for name, kind in kinds.items():
        given: object = getattr(asked, name)
        if not isinstance(given, kind):
            write = "Protected(admission=rows)" if name == "protected" else f"{name.title()}(...)"
            raise BadStudy(
                f"`{name}` is a {type(given).__name__}; write {name}=alder.{write} instead."
            )


def _begin(
    journal: LedgerJournal, configuration: Configuration, rows: StudyRows, vault: Vault
) -> None:
    """Write what comes before the first proposal, or that the study goes on."""
    if journal.state.configuration is None:
        with journal.together():
            journal.write(entries.configuration(configuration))
            journal.write(entries.commitments(vault.commitments()))
            journal.write(entries.initial(rows.initial, n_dropped=rows.n_dropped))
            if rows.validation is not None:
                journal.write(entries.validation(rows.validation))
        return
    end, budget = journal.state.end, journal.state.budget
    admitted = end is not None and end.law is not None
    if budget is not None and not admitted and _limits(configuration.budget) != _limits(budget):
        journal.write(entries.resume(configuration.budget, _versions()))


def _limits(budget: Budget) -> dict[str, float]:
    """Return what may be used up, by name; the size of a batch is no limit."""
    limits = dataclasses.asdict(budget)
    del limits["batch"]
    return {name: math.inf if limit is None else limit for name, limit in limits.items()}


def _require_same(
    journal: LedgerJournal, configuration: Configuration, rows: StudyRows, path: Path
) -> None:
    """Refuse to go on with other settings or other first rows."""
    had, budget = journal.state.configuration, journal.state.budget
    if had is None or budget is None:
        return
    # Rows come before settings: the reference of the criteria is made from them.
    _require_same_rows(journal.state.initial, rows.initial, "initial", path)
    _require_same_rows(journal.state.validation, rows.validation, "validation", path)
    if had.digest != configuration.digest:
        changed = _difference(had, configuration)
        raise BadLedger(
            f"{path.name} was begun with another {changed}. A ledger resumes only with the "
            f"settings it was begun with; a larger budget is allowed. Use a new ledger, or "
            f"restore the setting."
        )
    for name, limit in _limits(configuration.budget).items():
        before = _limits(budget)[name]
        if limit < before:
            raise BadLedger(
                f"{path.name} has a budget of {before:g} {name}, now {limit:g}. The budget of a "
                f"ledger may only grow; give at least {before:g}, or use a new ledger."
            )


def _require_same_rows(
    had: Trajectory | None, given: Trajectory | None, which: str, path: Path
) -> None:
    nothing: Mapping[str, FloatArray] = {}
    before, now = (nothing if one is None else one.columns for one in (had, given))
    if set(before) != set(now) or not all(np.array_equal(before[n], now[n]) for n in before):
        raise BadLedger(
            f"{path.name} was begun with other {which} rows. Give the same rows again, or use a "
            f"new ledger."
        )


def _difference(had: Configuration, wanted: Configuration) -> str:
    """Name the first setting that differs, with both values where they are short."""
    for part in dataclasses.fields(Grammar):
        before, now = getattr(had.grammar, part.name), getattr(wanted.grammar, part.name)
        if before != now:
            short = isinstance(before, int | str | float)
            return f"grammar ({part.name}" + (f" was {before}, now {now})" if short else ")")
    for name in ("roles", "seed", "proposer", "selector", "limits"):
        before, now = getattr(had, name), getattr(wanted, name)
        if before != now:
            return f"{name} (was {before}, now {now})"
    return "set of admission criteria"


def _terms(asked: Asked, rows: StudyRows, world: World) -> Terms:
    target, time = asked.grammar.target.name, asked.roles.time
    motion = world.motion() if isinstance(world, Moving) else motion_by_name(asked.grammar)
    if asked.roles.sums is not None:
        motion = None  # a law that is summed over rows is not itself a rate
    criteria = as_criteria(asked.criteria)
    first, sums = rows.initial.columns, asked.roles.sums
    observed = Segments.of(None if sums is None else first[sums]).first(first[target])
    mean = Reference(float(np.mean(observed)))
    return Terms(
        variables=asked.grammar.variable_names,
        target=target,
        references=(mean,),
        criteria=dataclasses.replace(
            criteria, max_nodes=min(criteria.max_nodes, asked.grammar.max_nodes)
        ),
        spending=asked.spending,
        sigma=asked.roles.sigma,
        sums=sums,
        group=asked.roles.group,
        time=None if motion is None else time,
        motion=None if time is None else motion,
        rollout=asked.rollout,
    )


def _shifts(protected: Mapping[str, Rows]) -> dict[str, Rows] | None:
    return {role: rows for role, rows in protected.items() if role != "admission"} or None


def _versions() -> dict[str, str]:
    return {"alder": alder.__version__, "numpy": version("numpy"), "numba": version("numba")}
