"""The terms a set of interacting variables may have: products of shapes, ranked in closed form.

Every group of one or two variables is ranked apart, with the rest of the set left flexible: a
group's shape times any polynomial of the others. Only the best of each group meet in products.
Nothing is fitted here; parameters stand on their grids.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.expr.nodes import Apply, Expr, Param, parameters, size, variables
from alder.proposers.search.gains import Frame
from alder.proposers.search.products import Products
from alder.proposers.search.profile import Profile
from alder.proposers.search.reader import columns_of
from alder.proposers.search.shapes import Factor, op
from alder.proposers.search.shelf import Shelf

NODE = 1.6
"""Nats a node costs: 1 does as well on some 300 rows, but small tables need more."""

# How many shapes of each tier a group looks at between grid points, how many it keeps, and how many
# numbers of parameters there are.
_LOOKED_OF_TIER = 48
_BEST_OF_TIER = 16
# Products, of at least so many nodes, are not looked at where they would at best be longer than a
# plain shape by this.
_LEAST_NODES = 6
_NO_BETTER = 3.0
# How many of them each tier moves again, and once more.
_MOVED_AGAIN = (64, 24)
_TIERS = 5
# How many options are kept by their number of parameters, those of plain shapes and those with a
# product of two shapes of one variable: grids favour many parameters, nature few.
_KEPT_PLAIN = (5, 12, 10, 6, 3)
_KEPT_PRODUCTS = (3, 8, 9, 6, 3)
# How many of each tier meet in a product, by the number of groups that meet, and the most products
# of one partition.
_MEET = {1: 16, 2: 12, 3: 4, 4: 2}
_PRODUCTS = 8000
# Sets of more variables than this are split into fewer pairs, and sets beyond the last not at all.
_FEW = 4
_MOST_MEMBERS = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A product of shapes: `key` over placeholders, where to look for them, how many nodes."""

    factors: tuple[Factor, ...]
    n_nodes: int

    @property
    def key(self) -> tuple[Expr, ...]:
        """What the term is, whatever its parameters."""
        return tuple(factor.expr for factor in self.factors)

    @property
    def has_product(self) -> bool:
        """Whether a factor is itself a product of two shapes of one variable."""
        return any(factor.is_product for factor in self.factors)

    @property
    def n_parameters(self) -> int:
        """Count the nonlinear parameters."""
        return sum(len(factor.names) for factor in self.factors)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One way to write the part of a law that belongs to a set of variables."""

    term: Term
    length: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """The best shapes of a group, and their columns (k, rows)."""

    factors: Sequence[Factor]
    columns: FloatArray

    @property
    def tiers(self) -> NDArray[np.int64]:
        """A number of parameters, products of two shapes apart: 2 k, or 2 k + 1 for those."""
        found = [2 * len(factor.names) + factor.is_product for factor in self.factors]
        return np.array(found, dtype=np.int64)

    def and_those_of(self, other: "_Ranked") -> "_Ranked":
        """Put two rankings together."""
        columns = np.vstack([self.columns, other.columns])
        return _Ranked([*self.factors, *other.factors], columns)


def options(members: tuple[str, ...], shelf: Shelf, frame: Frame) -> list[Option]:
    """Return the best ways to write the part of these variables, shortest description first."""
    ranked: dict[tuple[str, ...], _Ranked] = {}
    if len(members) > _MOST_MEMBERS:
        return []
    for group in _groups(members):
        rest = tuple(name for name in members if name not in group)
        ranked[group] = _best_of_group(group, rest, shelf, frame)
    found: list[Option] = []
    for parts in partitions(members, 2 if len(members) <= _FEW else 1):
        found += _products([ranked[group] for group in parts], frame)
    return _shortest(found)


def _shortest(found: Sequence[Option]) -> list[Option]:
    """Keep the shortest options of every number of parameters: grids favour many."""
    best: dict[tuple[Expr, ...], Option] = {}
    for one in sorted(found, key=lambda option: option.length):
        best.setdefault(one.term.key, one)
    kept: dict[tuple[int, bool], int] = {}
    result: list[Option] = []
    for one in best.values():
        kind = (one.term.n_parameters, one.term.has_product)
        kept[kind] = kept.get(kind, 0) + 1
        if kept[kind] <= _most(*kind):
            result.append(one)
    return result


def _most(n_parameters: int, has_product: bool) -> int:  # noqa: FBT001 - a fact, not a switch
    quota = _KEPT_PRODUCTS if has_product else _KEPT_PLAIN
    return quota[n_parameters] if n_parameters < len(quota) else 0


def _groups(members: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield from ((name,) for name in members)
    for i, first in enumerate(members):
        yield from ((first, second) for second in members[i + 1 :])


@lru_cache(maxsize=256)
def partitions(members: tuple[str, ...], pairs: int = 2) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Split a set into groups of one or two, at most so many of them pairs."""
    if not members:
        return ((),)
    first, rest = members[0], members[1:]
    found: list[tuple[tuple[str, ...], ...]] = [
        ((first,), *parts) for parts in partitions(rest, pairs)
    ]
    for i, second in enumerate(rest):
        if pairs:
            others = partitions(rest[:i] + rest[i + 1 :], pairs - 1)
            found += [((first, second), *parts) for parts in others]
    return tuple(found)


def _lengths(
    frame: Frame, gains: FloatArray, n_parameters: NDArray[np.int64], n_nodes: NDArray[np.int64]
) -> FloatArray:
    n = len(frame.rest)
    floor = 1e-24 * frame.rss + 1e-300
    rss = np.maximum(frame.rss - gains, floor)
    return 0.5 * n * np.log(rss / n) + 0.5 * n_parameters * np.log(n) + NODE * n_nodes


def _best_of_group(
    group: tuple[str, ...], rest: tuple[str, ...], shelf: Shelf, frame: Frame
) -> _Ranked:
    """Return the best columns of a group by number of parameters, one grid point per shape."""
    shapes = shelf.of(group)
    block, squares = shelf.flexible(group, rest)
    gains = frame.block_gains(shapes.columns, block, squares)
    lengths = _lengths(frame, gains, shapes.n_parameters, shapes.n_nodes)
    order = np.argsort(lengths, kind="stable")
    _, first = np.unique(shapes.shape_of[order], return_index=True)
    best = order[np.sort(first)]
    looked = _of_each_tier(shapes.tiers[best], best, _LOOKED_OF_TIER)
    slopes, reaches = shelf.slopes_of(group).of(looked)
    gains, steps = frame.stepped(shapes.columns[looked], slopes, block)
    lengths = _lengths(frame, gains, shapes.n_parameters[looked], shapes.n_nodes[looked])
    order = np.argsort(lengths, kind="stable")
    kept = _of_each_tier(shapes.tiers[looked[order]], order, _BEST_OF_TIER)
    index, steps = looked[kept], steps[kept]
    moved = shapes.columns[index] + (steps[:, None, :] @ slopes[kept])[:, 0]
    factors = [
        shapes.moved(column, move)
        for column, move in zip(map(int, index), steps * reaches[kept], strict=True)
    ]
    plain = _Ranked(factors, moved)
    if len(group) == 1 and len(lengths):
        better = _best_by_profile(group[0], rest, shelf, frame, plain)
        known = {factor.expr for factor in better.factors}
        other = [k for k, factor in enumerate(factors) if factor.expr not in known]
        return better.and_those_of(_Ranked([factors[k] for k in other], moved[other]))
    return plain


def _best_by_profile(
    name: str, rest: tuple[str, ...], shelf: Shelf, frame: Frame, plain: _Ranked
) -> _Ranked:
    """Return the best shapes of one variable and products of two, by number of parameters.

    No product explains more than the profile itself; where even that would come no nearer than
    the best plain shape, none is looked at.
    """
    found = shelf.products_of(name)
    none = _Ranked([], np.empty((0, frame.table.n_rows)))
    if found is None:
        return none
    begun = found.knots.coefficients(plain.columns)
    profile = Profile.of(frame, found.knots.basis, shelf.context(rest), begun)
    if not profile.is_sound:
        return none
    gain = profile.gain
    sizes = np.array([size(factor.expr) for factor in plain.factors])
    known = _lengths(frame, profile.gains(begun), plain.tiers // 2, sizes)
    least = _lengths(frame, np.array([gain]), np.zeros(1, np.int64), np.array([_LEAST_NODES]))
    worth_it = bool(least[0] <= known.min() + _NO_BETTER)
    first = len(found) if worth_it else found.n_plain
    if not first:
        return none
    chosen, points, costs = _moved(found, profile, frame, first)
    best = [found.factor(int(pair), point) for pair, point in zip(chosen, points, strict=True)]
    columns = columns_of(best, {name: shelf.table.columns[name]}, shelf.table.floors)
    good = np.isfinite(columns).all(axis=1) & (np.abs(columns).max(axis=1) < 1e100)
    # What the coarser look had found may be nearer.
    before = dict(zip((one.expr for one in plain.factors), profile.costs(begun), strict=True))
    good &= [cost < before.get(one.expr, np.inf) for one, cost in zip(best, costs, strict=True)]
    return _Ranked([one for one, fine in zip(best, good, strict=True) if fine], columns[good])


def _moved(
    found: Products, profile: Profile, frame: Frame, first: int
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Return the shortest of the first pairs of each tier, moved to where they cost least.

    A step may lead astray: what counts is what a pair costs where it has been.
    """
    gain = profile.gain

    def shortest(pairs: NDArray[np.intp], costs: FloatArray, most: int) -> NDArray[np.intp]:
        n_parameters, n_nodes = found.n_parameters[pairs], found.n_nodes[pairs]
        order = np.argsort(_lengths(frame, gain - costs, n_parameters, n_nodes), kind="stable")
        return _of_each_tier(found.tiers[pairs[order]], order, most)

    pairs = np.arange(first)
    costs, points = found.best_points(profile, first)
    least, at = np.full(first, np.inf), points
    for most in (*_MOVED_AGAIN, _MOVED_AGAIN[-1]):
        kept = shortest(pairs, costs, most)
        pairs, points, least, at = pairs[kept], points[kept], least[kept], at[kept]
        here, costs, moved = found.moved_again(pairs, points, profile)
        at = np.where((here < least)[:, None], points, at)
        least, points = np.minimum(here, least), moved
    kept = shortest(pairs, least, _BEST_OF_TIER)
    return pairs[kept], at[kept], least[kept]


def _of_each_tier(
    tiers: NDArray[np.int64], ranked: NDArray[np.intp], most: int
) -> NDArray[np.intp]:
    """Keep the first few of every tier, small tiers first."""
    return np.concatenate([ranked[tiers == tier][:most] for tier in range(2 * _TIERS)])


def _products(chosen: Sequence[_Ranked], frame: Frame) -> list[Option]:
    most = _MEET.get(len(chosen), 2)
    best = [_of_each_tier(one.tiers, np.arange(len(one.factors)), most) for one in chosen]
    if not all(len(one) for one in best):
        return []
    most = max(int(_PRODUCTS ** (1.0 / len(best))), 2)
    best = [one[:most] for one in best]
    picks = np.array(np.meshgrid(*best, indexing="ij")).reshape(len(best), -1)
    columns = np.ones((picks.shape[1], frame.table.n_rows))
    n_parameters = np.zeros(picks.shape[1], dtype=np.int64)
    n_nodes = np.full(picks.shape[1], len(chosen), dtype=np.int64)
    products = np.zeros(picks.shape[1], dtype=np.bool_)
    for one, index in zip(chosen, picks, strict=True):
        columns *= one.columns[index]
        tiers = one.tiers
        n_parameters += tiers[index] // 2
        n_nodes += np.array([size(factor.expr) for factor in one.factors])[index]
        products |= tiers[index] % 2 == 1
    lengths = _lengths(frame, frame.gains(columns), n_parameters, n_nodes)
    found: list[Option] = []
    for tier in map(int, np.unique(n_parameters)):
        for has_product in (False, True):
            here = np.flatnonzero((n_parameters == tier) & (products == has_product))
            for at in here[np.argsort(lengths[here], kind="stable")][: _most(tier, has_product)]:
                parts = zip(chosen, picks[:, at], strict=True)
                factors = tuple(one.factors[int(place)] for one, place in parts)
                found.append(Option(Term(factors, int(n_nodes[at])), float(lengths[at])))
    return found


def written(term: Term, names: Sequence[str]) -> Expr | None:
    """Write a term with these parameter names; None for the constant term."""
    expr: Expr | None = None
    used = 0
    for factor in term.factors:
        mapping = {old: names[used + k] for k, old in enumerate(factor.names)}
        used += len(factor.names)
        moved = rename(factor.expr, mapping) if mapping else factor.expr
        expr = moved if expr is None else op("mul", expr, moved)
    return expr


def placed(term: Term, values: Sequence[float]) -> Term:
    """Return the term with its parameters at these values."""
    factors: list[Factor] = []
    used = 0
    for factor in term.factors:
        near = tuple(values[used : used + len(factor.names)])
        factors.append(replace(factor, near=near))
        used += len(factor.names)
    return Term(tuple(factors), term.n_nodes)


def near_of(term: Term) -> tuple[float, ...]:
    """Return where the parameters of a term are, in order."""
    return tuple(value for factor in term.factors for value in factor.near)


def limits_of(term: Term) -> tuple[tuple[float, float], ...]:
    """Return between what the parameters of a term may lie, in order."""
    return tuple(value for factor in term.factors for value in factor.limits)


def split(term: Term) -> Iterator[tuple[Term, Term]]:
    """Yield a product with a sum among its factors as two products, with parameters of their own.

    What acted through f(r) (v - s u) may as well act through f(r) v and g(r) u.
    """
    for k, factor in enumerate(term.factors):
        match factor.expr:
            case Apply(operator, (left, right)) if operator.name in ("add", "sub"):
                rest = term.factors[:k] + term.factors[k + 1 :]
                sides = [_bare(side) for side in (left, right)]
                if all(variables(side) for side in sides):
                    first, second = (_product((Factor(side), *rest)) for side in sides)
                    yield first, second
            case _:
                pass


def _bare(side: Expr) -> Expr:
    """Leave out the scale of a summand: it gets a coefficient of its own."""
    match side:
        case Apply(operator, (Param(), inner)) if operator.name == "mul":
            return inner
        case _:
            return side


def _product(factors: tuple[Factor, ...]) -> Term:
    known = [f for f in factors if not (set(parameters(f.expr)) - set(f.names))]
    return Term(tuple(known), sum(size(f.expr) + 1 for f in known))
