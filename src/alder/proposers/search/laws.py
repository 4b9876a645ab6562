"""Laws as sums of terms: written, fitted together, scored by description length."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Expr, Param, Var, parameters, size
from alder.fitting.many import Fits, fit_many
from alder.proposers.search.reader import columns_of
from alder.proposers.search.shapes import op
from alder.proposers.search.table import Table
from alder.proposers.search.terms import NODE, Option, Term, limits_of, near_of, placed, written
from alder.records.effort import Effort
from alder.records.proposal import Bounds, Proposal

NEARBY = Effort(pool=1, starts=1, iterations=25, tolerance=1e-6)
"""One descent from where the grid says the parameters are."""

SURE = Effort(pool=64, starts=4, iterations=60, tolerance=1e-9)
"""The same, and starts elsewhere, to the end."""

SLACK = 10
"""Nodes beyond the limit that a law may have on the way to a shorter one."""

CONSTANT = Term((), 0)
"""The term without variables."""

# Terms up to so many times the spread of the target cost nothing more.
_FREE = 10.0
# Numbers in the columns of terms that are made at once.
_NUMBERS = 2_000_000
# A rest below this share of the target is rounding, and smaller is not better.
_ROUNDING = 1e-24
_EXACT = 1e-22


@final
@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A fitted sum: its terms with their parameters where the fit left them."""

    terms: tuple[Term, ...]
    proposal: Proposal
    values: Mapping[str, float]
    rss: float
    length: float

    @property
    def structure(self) -> Expr:
        """The whole sum."""
        return self.proposal.structure

    @property
    def key(self) -> frozenset[tuple[Expr, ...]]:
        """The set of terms: their order does not matter."""
        return frozenset(term.key for term in self.terms)


@final
@dataclass(slots=True, eq=False)
class Fitter:
    """Fits structures to one table, and counts them."""

    table: Table
    max_nodes: int
    fits: int = 0
    front: dict[int, Law] = field(default_factory=dict[int, Law])

    def laws(self, sums: Sequence[Sequence[Term]], effort: Effort = NEARBY) -> list[Law]:
        """Fit every sum not much beyond the node limit; the shortest come first."""
        small = [terms for terms in sums if nodes_of(terms) <= self.max_nodes + SLACK]
        if not small:
            return []
        trees = [assemble(terms) for terms in small]
        fits = self.fit(trees, effort)
        rss = fits.loss * self.table.n
        known = [k for k in range(len(small)) if math.isfinite(rss[k])]
        values = [fits.values(k) for k in known]
        moved = [_moved(small[k], at) for k, at in zip(known, values, strict=True)]
        strains = self._strains(moved, values)
        laws = [
            Law(terms, trees[k], at, float(rss[k]), strain + self._length_of(trees[k], rss[k]))
            for k, terms, at, strain in zip(known, moved, values, strains, strict=True)
        ]
        for law in laws:
            self._note(law)
        return sorted(laws, key=lambda law: law.length)

    def _note(self, law: Law) -> None:
        """Keep the most accurate law of each size."""
        n_nodes = size(law.structure)
        if n_nodes <= self.max_nodes and (
            n_nodes not in self.front or law.rss < self.front[n_nodes].rss
        ):
            self.front[n_nodes] = law

    def polish(self, terms: Sequence[Term], others: FloatArray, most: int) -> list[Option]:
        """Fit each term alone beside fixed columns (k, rows), and keep the shortest."""
        if not terms:
            return []
        names = [f".{k}" for k in range(len(others))]
        beside: Expr | None = None
        for k, name in enumerate(names):
            part = op("mul", Param(f"b{k}"), Var(name))
            beside = part if beside is None else op("add", beside, part)
        alone = [assemble([term]) for term in terms]
        trees = [
            tree if beside is None else Proposal(op("add", beside, tree.structure), tree.bounds)
            for tree in alone
        ]
        fits = self.fit(trees, NEARBY, dict(zip(names, others, strict=True)))
        found: list[Option] = []
        for k, term in enumerate(terms):
            rss = float(fits.loss[k]) * self.table.n
            if math.isfinite(rss):
                fitted = fits.values(k)
                at = placed(term, [fitted[f"p{i + 1}"] for i in range(term.n_parameters)])
                found.append(Option(at, self.length(rss, term.n_parameters, term.n_nodes)))
        return sorted(found, key=lambda option: option.length)[:most]

    def fit(
        self,
        trees: Sequence[Proposal],
        effort: Effort,
        more: Mapping[str, FloatArray] | None = None,
    ) -> Fits:
        """Fit structures to the table, with more columns where they need them."""
        self.fits += len(trees)
        table = self.table
        number = table.segments.number(table.n_rows)
        # No variable can have these names: they are no plain words.
        rows: dict[str, FloatArray] = {**table.columns, **(more or {})}
        rows["="] = table.target[number]
        weight = group = sums = None
        if (table.root != 1.0).any():
            weight, rows["^"] = "^", np.square(table.root)[number]
        if table.apart.size:
            group, rows["#"] = "#", np.argmax(table.apart, axis=1).astype(np.float64)[number]
        if table.segments.summed:
            sums, rows["+"] = "+", number.astype(np.float64)
        return fit_many(
            trees, rows, target="=", weight=weight, group=group, sums=sums, effort=effort,
            floors=table.floors,
        )  # fmt: skip

    def length(self, rss: float, n_parameters: int, n_nodes: int) -> float:
        r"""Return the description length in nats, over all observations.

        $$\tfrac n2 \ln\frac{\mathrm{rss}}n + \tfrac k2 \ln n + \nu m$$

        $n$ observations, $k$ parameters, $m$ nodes, and $\nu$ nats a node (`NODE`).
        """
        n = self.table.n
        least = _ROUNDING * float(np.sum(np.square(self.table.target))) + 1e-300
        return (
            0.5 * n * math.log(max(rss, least) / n)
            + 0.5 * n_parameters * math.log(n)
            + NODE * n_nodes
        )

    def is_exact(self, rss: float) -> bool:
        """Say whether what is left is rounding."""
        return rss <= _EXACT * float(np.sum(np.square(self.table.target)))

    def columns(self, terms: Sequence[Term]) -> FloatArray:
        """Evaluate terms where their parameters are; (terms, rows)."""
        factors = [factor for term in terms for factor in term.factors]
        values = columns_of(factors, self.table.columns, self.table.floors)
        found = np.ones((len(terms), self.table.n_rows))
        done = 0
        for row, term in zip(found, terms, strict=True):
            for value in values[done : done + len(term.factors)]:
                row *= value
            done += len(term.factors)
        return found

    def _length_of(self, tree: Proposal, rss: float) -> float:
        return self.length(rss, len(parameters(tree.structure)), size(tree.structure))

    def _strains(
        self, sums: Sequence[tuple[Term, ...]], values: Sequence[Mapping[str, float]]
    ) -> list[float]:
        """Return the price of coefficients that are large only to cancel one another."""
        spread = _FREE * float(np.std(self.table.target))
        if not spread > 0.0:
            return [0.0] * len(sums)
        sizes = self._sizes([term for terms in sums for term in terms])
        strains: list[float] = []
        done = 0
        with np.errstate(over="ignore", invalid="ignore"):
            for terms, at in zip(sums, values, strict=True):
                coefficients = np.abs([at[f"c{k + 1}"] for k in range(len(terms))])
                parts = sizes[done : done + len(terms)] * coefficients
                strains.append(float(np.sum(np.log1p(np.square(parts / spread)))))
                done += len(terms)
        return strains

    def _sizes(self, terms: Sequence[Term]) -> FloatArray:
        """Return the root mean square of each term, some at a time: columns take memory."""
        step = max(_NUMBERS // max(self.table.n_rows, 1), 1)
        parts = [
            np.sqrt(np.mean(np.square(self.columns(terms[k : k + step])), axis=1))
            for k in range(0, len(terms), step)
        ]
        return np.concatenate([np.empty(0), *parts])


def _moved(terms: Sequence[Term], values: Mapping[str, float]) -> tuple[Term, ...]:
    """Return terms with their parameters where a fit left them."""
    moved: list[Term] = []
    done = 0
    for term in terms:
        k = term.n_parameters
        moved.append(placed(term, [values[f"p{done + i + 1}"] for i in range(k)]))
        done += k
    return tuple(moved)


def nodes_of(terms: Sequence[Term]) -> int:
    """Count the nodes of a sum: a coefficient for each term, products and sums included."""
    return sum(term.n_nodes + 1 for term in terms) + len(terms) - 1


def assemble(terms: Sequence[Term]) -> Proposal:
    """Write a sum with a coefficient per term; parameters are numbered through."""
    law: Expr | None = None
    bounds: dict[str, Bounds] = {}
    for number, term in enumerate(terms):
        names = [f"p{len(bounds) + k + 1}" for k in range(term.n_parameters)]
        for name, (low, high), start in zip(names, limits_of(term), near_of(term), strict=True):
            bounds[name] = Bounds(low, high, min(max(start, low), high))
        expr = written(term, names)
        coefficient = Param(f"c{number + 1}")
        part: Expr = coefficient if expr is None else op("mul", coefficient, expr)
        law = part if law is None else op("add", law, part)
    assert law is not None
    return Proposal(law, bounds)


def begun_at(
    bounds: Mapping[str, Bounds], values: Mapping[str, float], tree: Expr | None = None
) -> dict[str, Bounds]:
    """Say where the parameters were, so that they are looked for there first."""
    names = values if tree is None else [n for n in parameters(tree) if n in values]
    open_ = Bounds()
    return {
        name: Bounds(old.lower, old.upper, old.clip(values[name]))
        for name in names
        for old in (bounds.get(name, open_),)
    }
