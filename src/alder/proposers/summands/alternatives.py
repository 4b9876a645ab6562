"""Sums of other terms that say the same of one rate, the shortest first.

They are compared by the regression of `along`, which is cheap enough for many sets of terms, not
only for neighbours of the present one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Var, parameters
from alder.fitting.descriptions import Search, shortest
from alder.fitting.layers import gains_of
from alder.proposers.summands.along import Along, Settled
from alder.proposers.summands.building import times
from alder.proposers.summands.rarer import MANY
from alder.proposers.summands.terms import WILD, Term

MOST_TERMS = 10
"""Summands of one rate, at most."""
_WIDTH = 120  # sets of one size that are followed
_COMPARED = 400  # sets that are as short as others, scales inside included
_SETTLED = 60  # of different terms, whose numbers inside are fitted
_TRIED = 6
_PRUNED = 30  # of these, to find so many that still differ without what they do not need
_FARTHEST = 0.7  # of a step of a number inside, in its logarithm: the grid is as fine
_COARSER = 3.0  # times the noise
_MOST_OF_MANY = 48  # shapes of which there are many that are compared, beside one of each kind
_SIMPLE, _MOST_SIMPLE = 2, 30  # level of terms that laws often hold several of, and how many


@final
@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """Terms for one rate, the columns of each, (rows, 1 + numbers inside, terms), and costs."""

    terms: tuple[Term, ...]
    blocks: FloatArray
    costs: FloatArray

    def with_lent(self, along: Along, lent: Sequence[Term], cost: float) -> "Offer":
        """Add terms with numbers inside that other rates have, at a lower cost."""
        if not lent:
            return self
        blocks = along.blocks(lent)
        n_inside = max(self.blocks.shape[1], blocks.shape[1])
        wide = [
            np.pad(each, ((0, 0), (0, n_inside - each.shape[1]), (0, 0)))
            for each in (self.blocks, blocks)
        ]
        costs = np.concatenate([self.costs, np.full(len(lent), cost)])
        return Offer((*self.terms, *lent), np.concatenate(wide, axis=2), costs)

    def tamed(self) -> "Offer":
        """Bar terms that are no numbers somewhere, or too large to be squared."""
        tame = (np.abs(self.blocks) < WILD).all(axis=(0, 1))
        if tame.all():
            return self
        blocks = np.where(tame, self.blocks, 0.0)
        return Offer(self.terms, blocks, np.where(tame, self.costs, np.inf))

    def narrowed(self, y: FloatArray) -> "Offer":
        """Keep of the shapes of which there are many those that promise most beside linear terms.

        Of each kind the best stays: what is needed may promise little until all of it is there.
        """
        levels = np.array([term.level for term in self.terms])
        many = np.flatnonzero((levels == MANY) & np.isfinite(self.costs))
        if len(many) <= _MOST_OF_MANY:
            return self
        linear = [i for i, term in enumerate(self.terms) if isinstance(term.expr, Const | Var)]
        Q, _ = np.linalg.qr(self.blocks[:, 0, linear])
        left = self.blocks[:, :, many]
        left = left - np.einsum("nr,rqp->nqp", Q, np.einsum("nr,nqp->rqp", Q, left))
        left = left / np.maximum(np.linalg.norm(left, axis=0), 1e-300)
        rest = y - Q @ (Q.T @ y)
        along = np.einsum("n,nqp->qp", rest, left)[None]
        gains = gains_of(along, np.einsum("nqp,nrp->qrp", left, left)[None])[0]
        best: list[int] = many[np.argsort(-gains, kind="stable")].tolist()
        first: dict[Expr, int] = {}
        for place in best:
            first.setdefault(self.terms[place].expr, place)
        promising = {*first.values(), *best[:_MOST_OF_MANY]}
        kept = sorted([*np.flatnonzero(levels != MANY).tolist(), *promising])
        return Offer(tuple(self.terms[i] for i in kept), self.blocks[:, :, kept], self.costs[kept])

    def base(self) -> tuple[int, ...]:
        """Return the places of simple terms, not too many."""
        found: tuple[int, ...] = ()
        for level in range(_SIMPLE + 1):
            places = [
                place
                for place, term in enumerate(self.terms)
                if term.level <= level and np.isfinite(self.costs[place])
            ]
            if len(places) <= _MOST_SIMPLE:
                found = tuple(places)
        return found


def alternatives(
    along: Along, state: int, noise: tuple[float, float], offer: Offer
) -> list[Settled]:
    """Return sums of different terms for one rate, the shortest first, numbers inside fitted.

    `noise` is that of the state, and a coarser one: where noise is tiny, what numbers inside leave
    to first order outweighs any term, so sets of terms are found at coarser noise too.
    """
    sigma, coarse = noise
    y = along.sides[:, state]
    offer = offer.narrowed(y)
    kinds = [term.expr for term in offer.terms]
    search = Search(_COMPARED, _WIDTH, MOST_TERMS, offer.base())
    different: dict[tuple[str, ...], tuple[int, ...]] = {}
    noises = (sigma, coarse) if coarse > _COARSER * sigma else (sigma,)
    for number, assumed in enumerate(noises, start=1):
        for subset in shortest(offer.blocks / assumed, y / assumed, offer.costs, kinds, search):
            terms = tuple(offer.terms[place] for place in subset.columns)
            if len(different) < number * _SETTLED and _is_near(terms, subset.coefficients):
                different.setdefault(_shapes(terms), subset.columns)
    found: list[_Sum] = []
    for places in different.values():
        terms = tuple(offer.terms[place] for place in places)
        costs = tuple(offer.costs[list(places)].tolist())
        found.append(_Sum(along.settle(terms, y, sigma), costs))
    found.sort(key=lambda one: one.length)
    pruned: dict[tuple[str, ...], _Sum] = {}
    for one in found[:_PRUNED]:
        if len(pruned) == 2 * _TRIED:
            break
        less = _pruned(along, one, y, sigma)
        # Sums that differ in what is not needed are one.
        pruned.setdefault(_shapes(less.settled.terms), less)
    return [one.settled for one in sorted(pruned.values(), key=lambda one: one.length)[:_TRIED]]


def _shapes(terms: Sequence[Term]) -> tuple[str, ...]:
    """Return what a sum consists of, without its numbers."""
    return tuple(sorted(str(term.expr) for term in terms))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """Fitted summands, and what each costs."""

    settled: Settled
    costs: tuple[float, ...]

    @property
    def length(self) -> float:
        return self.settled.rest + sum(self.costs)


def _pruned(along: Along, best: _Sum, y: FloatArray, sigma: float) -> _Sum:
    """Drop summands while that is shorter: what was needed to first order may not be."""
    while len(best.costs) > 1:
        terms = best.settled.terms
        trials = [
            _Sum(
                along.settle((*terms[:i], *terms[i + 1 :]), y, sigma),
                (*best.costs[:i], *best.costs[i + 1 :]),
            )
            for i in range(len(terms))
        ]
        shorter = min(trials, key=lambda one: one.length)
        if shorter.length >= best.length:
            break
        best = shorter
    return best


def partners(sums: Sequence[Sequence[Term]], columns: Sequence[str]) -> tuple[Term, ...]:
    """Return the shapes of sums with their numbers, alone and times each column.

    A shape that takes part once often does so again, multiplied by something else.
    """
    found: list[Term] = []
    for term in (term for terms in sums for term in terms if term.values):
        core = _unmultiplied(term.expr)
        if parameters(core) == parameters(term.expr):
            every = (core, *(times(Var(name), core) for name in columns))
            found.extend(Term(expr, term.level, term.values) for expr in every)
    return tuple(dict.fromkeys(found))


def _unmultiplied(expr: Expr) -> Expr:
    if isinstance(expr, Apply) and expr.operator.name == "mul":
        left, right = expr.arguments
        if isinstance(left, Var):
            return right
    return expr


def _is_near(terms: Sequence[Term], coefficients: FloatArray) -> bool:
    """Say whether numbers inside move so little that their derivatives tell where to."""
    if not terms:
        return False
    c = coefficients.reshape(-1, len(terms))
    return bool((np.abs(c[1:]) <= _FARTHEST * np.abs(c[0])).all())
