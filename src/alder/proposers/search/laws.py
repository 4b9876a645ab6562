"""Laws as sums of terms: written, fitted together, scored by description length."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr, Param, Var, parameters, size
from alder.fitting.many import Fits, fit_many
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
        laws = [
            self._law(terms, tree, fits.values(k), float(rss[k]))
            for k, (terms, tree) in enumerate(zip(small, trees, strict=True))
            if math.isfinite(rss[k])
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
        found = np.ones((len(terms), self.table.n_rows))
        for row, term in zip(found, terms, strict=True):
            near = near_of(term)
            names = [f"p{k}" for k in range(len(near))]
            expr = written(term, names)
            if expr is not None:
                values = dict(zip(names, near, strict=True))
                row[:] = evaluate(expr, self.table.columns, values, self.table.floors)
        return found

    def _law(
        self, terms: Sequence[Term], tree: Proposal, values: Mapping[str, float], rss: float
    ) -> Law:
        moved: list[Term] = []
        done = 0
        for term in terms:
            k = term.n_parameters
            moved.append(placed(term, [values[f"p{done + i + 1}"] for i in range(k)]))
            done += k
        length = self.length(rss, len(parameters(tree.structure)), size(tree.structure))
        return Law(tuple(moved), tree, values, rss, length + self._strain(moved, values))

    def _strain(self, terms: Sequence[Term], values: Mapping[str, float]) -> float:
        """Return the price of coefficients that are large only to cancel one another."""
        spread = _FREE * float(np.std(self.table.target))
        sizes = np.sqrt(np.mean(np.square(self.columns(terms)), axis=1))
        parts = sizes * np.abs([values[f"c{k + 1}"] for k in range(len(terms))])
        with np.errstate(over="ignore"):
            return float(np.sum(np.log1p(np.square(parts / spread)))) if spread > 0.0 else 0.0


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
