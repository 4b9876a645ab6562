"""The built-in Law Revision Agent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np

from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.expr.nodes import Apply, Expr, Var, size, variables, walk
from alder.ports import Listen, Submission
from alder.proposers.search.interactions import Structure, find_structure
from alder.proposers.search.laws import Fitter, Law, begun_at
from alder.proposers.search.rationale import explain
from alder.proposers.search.reduction import Ground, beyond, early, is_noise, late
from alder.proposers.search.table import Table, read_table
from alder.proposers.search.tidy import Written, read_off, tidy
from alder.proposers.search.transforms import look_at, views
from alder.proposers.search.watch import Watch
from alder.records.evidence import Evidence
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal

# Structures whose description is longer by less than this explain the rows about as well.
_ABOUT_AS_WELL = 14.0
_MOST_RIVALS = 12
_TIDIED = 14
# Sets of more variables are searched last: there are too many products of them.
_LARGE = 4


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A structure with its coefficients, description length in nats, and mean squared rest."""

    proposal: Proposal
    values: Mapping[str, float]
    length: float
    loss: float

    @property
    def structure(self) -> Expr:
        """The law itself."""
        return self.proposal.structure


@final
@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search brought: laws by description length, the front, and what the rows say."""

    laws: tuple[Scored, ...]
    front: tuple[Scored, ...]
    structure: Structure
    table: Table
    fits: int
    cut_short: bool


@final
@dataclass(frozen=True, slots=True)
class Search:
    """Propose the structure with the shortest description that was not refused on these rows.

    `listen` is told how far the search is; it changes nothing.
    """

    listen: Listen | None = None

    def watched(self, listen: Listen) -> "Search":
        """Return the same search, which tells how far it is."""
        return Search(listen)

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the best structure within the grammar, and rivals that fit about as well."""
        del rng
        found = search(evidence, self.listen)
        known = refused(evidence)
        fresh = [one for one in found.laws if skeleton_digest(one.structure) not in known]
        if not fresh:
            return None
        best, *others = fresh
        near = [one for one in others if one.length < best.length + _ABOUT_AS_WELL]
        rivals = tuple(one.proposal for one in near[:_MOST_RIVALS])
        rationale = explain(best, others, found, evidence)
        chosen = replace(best.proposal, rationale=rationale, scope=_scope(best, found))
        rows, grammar = found.table.columns, evidence.grammar
        front = [one.proposal for one in found.front if not check(one.proposal, grammar, rows)]
        return Submission(chosen, rivals=rivals, fits=found.fits, front=tuple(front))


def search(evidence: Evidence, listen: Listen | None = None) -> Found:
    """Search the grammar for laws of the public rows; effort is counted, time only cuts short.

    `listen` is told from time to time how far it is.
    """
    grammar = evidence.grammar
    table = read_table(evidence)
    fitter = Fitter(table, grammar.max_nodes)
    watch = Watch.of(max(evidence.budget.seconds - evidence.spent.seconds, 0.0), fitter, listen)
    # Shapes are tried far beyond what fits; those that overflow are dropped where they do.
    with np.errstate(all="ignore"):
        watch.enter("which variables act together")
        structure = find_structure(table)
        laws = _laws(table, structure, grammar, fitter, watch)
        watch.enter("tidier constants")
        short = sorted(laws, key=lambda law: law.length)[:_TIDIED]
        tidied = [one for law in short if (one := tidy(law, fitter, grammar)) is not None]
    return Found(
        _allowed(tidied, grammar, table),
        _front(fitter, tidied, table),
        structure,
        table,
        fitter.fits,
        watch.is_over(),
    )


def _laws(
    table: Table, structure: Structure, grammar: Grammar, fitter: Fitter, watch: Watch
) -> list[Law]:
    """Search the views of a table, and its reductions.

    Those come last, after the first view where there is hardly any noise, and first where too many
    variables interact for the views.
    """
    allowed = set(grammar.operators)
    unit: dict[str, object] = {one.name: one.unit for one in grammar.variables}
    laws: list[Law] = []
    steps: list[tuple[str, Callable[[], list[Law]]]] = [
        (
            "sums of terms" if view[0] is None else "sums under another scale",
            partial(look_at, view, unit, allowed, fitter, watch),
        )
        for view in views(table, structure, allowed)
    ]
    large = any(len(clique) > _LARGE for clique in structure.cliques())
    ground = Ground(table, unit, allowed)
    for place, reduce in ((0, beyond),) if large else ((1, early), (len(steps) + 1, late)):
        steps.insert(place, ("fewer variables", partial(reduce, ground, laws, fitter, watch)))
    for stage, step in steps:
        watch.enter(stage)
        laws += [law for law in step() if _can_be_said(law.structure, allowed)]
        if watch.is_over() or any(fitter.is_exact(law.rss) for law in laws):
            break
        if not large and is_noise(table, laws, structure.noise):
            break
    return laws


def _can_be_said(law: Expr, allowed: set[str]) -> bool:
    """Say whether the grammar has every operator; free exponents become literal ones later."""
    powers = {"pow", "powp"} if {"pow", "powp"} & allowed else set[str]()
    used = {node.operator.name for node in walk(law) if isinstance(node, Apply)}
    return used <= allowed | powers


def _allowed(laws: list[Written], grammar: Grammar, table: Table) -> tuple[Scored, ...]:
    """Keep what the grammar permits, equal structures once, the shortest first."""
    kept: dict[str, Scored] = {}
    for law in sorted(laws, key=lambda law: (round(law.length, 6), _mentions(law.structure))):
        identity = skeleton_digest(law.structure)
        if identity not in kept and not check(Proposal(law.structure), grammar, table.columns):
            kept[identity] = _scored(law, table)
    return tuple(kept.values())


def _mentions(law: Expr) -> int:
    """Count how often variables are named: x^2 comes before x*x."""
    return sum(isinstance(node, Var) for node in walk(law))


def _scored(law: Written | Law, table: Table) -> Scored:
    bounds = begun_at(law.proposal.bounds, law.values)
    exponents = read_off(law.structure, law.values, table)
    begun = Proposal(law.structure, bounds, exponents=exponents)
    return Scored(begun, law.values, law.length, law.rss / table.n)


def _front(fitter: Fitter, tidied: list[Written], table: Table) -> tuple[Scored, ...]:
    """Return the laws that no other beats in both size and accuracy, the smallest first."""
    known = [_scored(law, table) for law in (*fitter.front.values(), *tidied)]
    front: list[Scored] = []
    for one in sorted(known, key=lambda law: (size(law.structure), law.loss)):
        if not front or one.loss < front[-1].loss:
            front.append(one)
    return tuple(front)


def refused(evidence: Evidence) -> set[str]:
    """Return what was refused on as many rows as there are now: it would be refused again."""
    n_rows = evidence.initial.n_rows + sum(t.n_rows for t in evidence.trajectories)
    return {
        skeleton_digest(attempt.proposal.structure)
        for attempt in evidence.attempts
        if attempt.proposal is not None
        and (attempt.problems or (attempt.fit is not None and attempt.fit.n_rows == n_rows))
    }


def _scope(law: Scored, found: Found) -> str:
    """Say over which ranges the rows speak for a law."""
    columns = found.table.columns
    return "; ".join(
        f"{name} from {columns[name].min():.3g} to {columns[name].max():.3g}"
        for name in variables(law.structure)
    )
