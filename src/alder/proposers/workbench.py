"""Where a structure is edited: the laws one step away, written within a grammar, and fitted."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from alder.checking import check
from alder.expr.canonical import digest
from alder.expr.edits import at, fresh_parameter, positions, replace
from alder.expr.evaluate import evaluate
from alder.expr.neighbours import neighbours
from alder.expr.nodes import Apply, Const, Expr, Param, parameters, size, variables
from alder.expr.operators import OPERATORS
from alder.proposers.search.gains import frame
from alder.proposers.search.interactions import Structure
from alder.proposers.search.laws import SLACK, Fitter, Law, begun_at
from alder.proposers.search.shapes import op
from alder.proposers.search.shelf import Shelf
from alder.proposers.search.table import Table
from alder.proposers.search.terms import near_of, options, written
from alder.records.effort import Effort
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal

# Terms looked for in what is left, for each set of variables.
_TERMS = 2
# Stands for a literal exponent that is not known yet, where only its form matters.
_SOME = 2.5


@final
@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A fitted structure, and those it came from, the first first."""

    law: Law
    path: tuple[Expr, ...]

    @property
    def length(self) -> float:
        """Its description length in nats."""
        return self.law.length


Edit: TypeAlias = tuple[Expr, tuple[Expr, ...], Mapping[str, float]]
"""A structure, those it came from and itself, and where its parameters are looked for."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """Where edits are made and fitted."""

    grammar: Grammar
    fitter: Fitter
    known: Structure
    shelf: Shelf

    def edits(self, draft: Draft) -> Iterator[Edit]:
        """Yield every law one edit away, and those with another function in the place of one."""
        structure = draft.law.structure
        for tree in (*neighbours(structure, self.grammar.variable_names), *self._other(structure)):
            yield tree, (*draft.path, tree), draft.law.values

    def _other(self, structure: Expr) -> Iterator[Expr]:
        """Put each function of the grammar in the place of each function, with a scale or not."""
        unary = [name for name in self.grammar.operators if OPERATORS[name].arity == 1]
        for position in positions(structure):
            node = at(structure, position)
            if not isinstance(node, Apply) or not variables(node):
                continue
            inside = node.arguments[0] if node.operator.arity == 1 else node
            scaled = op("mul", fresh_parameter(structure, "q"), inside)
            for name in unary:
                for new in (op(name, inside), op(name, scaled)):
                    tree = replace(structure, position, new)
                    if tree is not None:
                        yield tree

    def extensions(self, draft: Draft) -> Iterator[Edit]:
        """Add a term that the search finds in what a law leaves."""
        table, law = self.fitter.table, draft.law
        said = evaluate(law.structure, table.columns, law.values, table.floors)
        beside = np.vstack([np.ones((1, table.n_rows)), said[None, :]])
        sets = [*self.known.cliques(), *((name,) for name in self.known.relevant)]
        for members in dict.fromkeys(sets):
            ranked = options(members, self.shelf, frame(table, beside))
            for option in self.fitter.polish([one.term for one in ranked], beside, _TERMS):
                names = _fresh(law.structure, len(near_of(option.term)))
                term = written(option.term, names)
                if term is None:
                    continue
                near = dict(zip(names, near_of(option.term), strict=True))
                c = fresh_parameter(op("add", law.structure, term), "c")
                tree = op("add", law.structure, op("mul", c, term))
                yield tree, (*draft.path, tree), {**law.values, **near}

    def fitted(
        self, edits: Iterable[Edit], effort: Effort, *, permitted: bool = True
    ) -> list[Draft]:
        """Fit structures that the grammar permits, equal ones once; the shortest come first."""
        kept: dict[str, tuple[Proposal, tuple[Expr, ...]]] = {}
        for edited, path, values in edits:
            tree = _within(edited, self.grammar)
            identity = digest(tree)
            if identity not in kept and self._may_be(tree, permitted=permitted):
                kept[identity] = (Proposal(tree, begun_at({}, values, tree)), (*path[:-1], tree))
        if not kept:
            return []
        fits = self.fitter.fit([proposal for proposal, _ in kept.values()], effort)
        drafts: list[Draft] = []
        for k, (proposal, path) in enumerate(kept.values()):
            rss = float(fits.loss[k]) * self.fitter.table.n
            tree = proposal.structure
            length = self.fitter.length(rss, len(parameters(tree)), size(tree))
            if math.isfinite(rss):
                drafts.append(Draft(Law((), proposal, fits.values(k), rss, length), path))
        return sorted(drafts, key=lambda draft: draft.length)

    def _may_be(self, tree: Expr, *, permitted: bool) -> bool:
        """Let what the grammar refuses begin, but nothing come of it that it refuses."""
        if size(tree) > self.grammar.max_nodes + (0 if permitted else SLACK) or not variables(tree):
            return False
        return not permitted or not check(_literal(tree, self.grammar), self.grammar)


def _literal(tree: Expr, grammar: Grammar) -> Expr:
    """Write free exponents as literal ones where the grammar has only those: tidying will."""
    if "powp" in grammar.operators or "pow" not in grammar.operators:
        return tree
    return _rewritten(tree, "powp", lambda both: op("pow", both[0], Const(_SOME)))


def _within(tree: Expr, grammar: Grammar) -> Expr:
    """Write differences as sums, and a change of sign as a factor, where the grammar lacks them."""
    if "mul" not in grammar.operators:
        return tree
    if "sub" not in grammar.operators and "add" in grammar.operators:
        tree = _rewritten(tree, "sub", lambda two: op("add", two[0], _negated(two[1])))
    if "neg" not in grammar.operators:
        tree = _rewritten(tree, "neg", lambda one: _negated(one[0]))
    return tree


def _negated(tree: Expr) -> Expr:
    """Change the sign; that of a parameter is free anyway."""
    return tree if isinstance(tree, Param) else op("mul", Const(-1.0), tree)


def _rewritten(tree: Expr, operator: str, rewrite: Callable[[tuple[Expr, ...]], Expr]) -> Expr:
    """Rewrite every application of an operator, the innermost first."""
    if not isinstance(tree, Apply):
        return tree
    arguments = tuple(_rewritten(one, operator, rewrite) for one in tree.arguments)
    if tree.operator.name == operator:
        return rewrite(arguments)
    return Apply(tree.operator, arguments)


def _fresh(structure: Expr, count: int) -> list[str]:
    """Name parameters that the law does not have yet."""
    names: list[str] = []
    grown = structure
    for _ in range(count):
        param = fresh_parameter(grown, "p")
        grown = op("add", grown, Param(param.name))
        names.append(param.name)
    return names


def bench_of(grammar: Grammar, table: Table, known: Structure) -> Bench:
    """Lay out a bench for the rows of a table, of which so much is known."""
    units: dict[str, object] = {one.name: one.unit for one in grammar.variables}
    shelf = Shelf(table, set(grammar.operators), known.parity, units)
    return Bench(grammar, Fitter(table, grammar.max_nodes), known, shelf)
