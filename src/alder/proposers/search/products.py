"""Shapes of one variable and products of two, on a fine grid, ranked through a profile of the rows.

On any useful grid there are tens of thousands, too many for columns as long as the table. At a few
knots they are polynomials with a dozen coefficients, which is all that a profile asks for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.expr.nodes import Const, size
from alder.expr.operators import Floors
from alder.proposers.search.interactions import Parity
from alder.proposers.search.knots import PARAMETERS, Knots, Singles, evaluated, joined
from alder.proposers.search.profile import Profile
from alder.proposers.search.reader import Reader
from alder.proposers.search.shapes import Dictionary, Factor, Shape, op

# Most products of a variable, grid points of a shape that meet those of another, and nodes that
# two shapes may have together.
_MOST = 150_000
_POINTS = (24, 16, 12, 8, 6, 4, 3, 2)
_LARGEST = 14
# A parameter that is moved again may move by this share of itself.
_NEARBY = 0.3
# Products of shapes of unit size beyond this, or changing so fast, are left alone.
_HUGE = 1e6


@final
@dataclass(slots=True, eq=False)
class Products:
    """Pairs of shapes of one variable; `left` and `right` are places in the singles.

    The first `n_plain` pairs are of a shape and the unit, all others are products of two shapes.
    """

    shapes: Sequence[Shape]
    knots: Knots
    read: Reader
    singles: Singles
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    starts: NDArray[np.intp]
    coefficients: FloatArray
    n_parameters: NDArray[np.int64]
    n_nodes: NDArray[np.int64]
    lowest: FloatArray
    highest: FloatArray
    n_plain: int
    made: dict[int, Shape] = field(default_factory=dict[int, Shape])

    def __len__(self) -> int:
        """Count the pairs of shapes."""
        return len(self.starts)

    @property
    def tiers(self) -> NDArray[np.int64]:
        """A number of parameters, products apart: 2 k, or 2 k + 1 for products."""
        return 2 * self.n_parameters + (np.arange(len(self)) >= self.n_plain)

    def best_points(self, profile: Profile, most: int) -> tuple[FloatArray, FloatArray]:
        """Return the least cost of each of the first pairs, and its parameters (pairs, 4) there."""
        end = int(self.starts[most]) if most < len(self) else len(self.coefficients)
        costs = profile.costs(self.coefficients[:end])
        starts = self.starts[:most]
        least = np.minimum.reduceat(costs, starts)
        counts = np.diff([*starts, len(costs)])
        hits = np.flatnonzero(costs <= np.repeat(least, counts))
        pair_of = np.repeat(np.arange(most), counts)
        _, first = np.unique(pair_of[hits], return_index=True)
        at = hits[first]
        one, two, singles = self.left[at], self.right[at], self.singles
        sides = [(singles.values[side], singles.slopes[side]) for side in (one, two)]
        moved, steps = self._stepped(sides, profile)
        reaches = np.concatenate([singles.reaches[one], singles.reaches[two]], axis=1)
        points = np.concatenate([singles.points[one], singles.points[two]], axis=1)
        return moved, points + steps * reaches

    def moved_again(
        self, pairs: NDArray[np.intp], points: FloatArray, profile: Profile
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Move some pairs once more from points (k, 4).

        Return what they cost where they were, what they should cost where they are now, and that.
        """
        points = self._within(pairs, points)
        reaches = np.maximum(_NEARBY * np.abs(points), 1e-12)
        sides: list[tuple[FloatArray, FloatArray]] = []
        for number, side in enumerate((self.left, self.right)):
            own = slice(number * PARAMETERS, (number + 1) * PARAMETERS)
            shapes = self.singles.shape_of[side[self.starts[pairs]]]
            sides.append(evaluated(self.read, shapes, points[:, own], reaches[:, own]))
        values = (sides[0][0] * sides[1][0]) @ self.knots.project.T
        here = np.where(values.any(axis=1), profile.costs(values), np.inf)
        costs, steps = self._stepped(sides, profile)
        moved = self._within(pairs, points + steps * reaches)
        return np.where(np.isfinite(here), here, np.inf), costs, moved

    def _stepped(
        self, sides: Sequence[tuple[FloatArray, FloatArray]], profile: Profile
    ) -> tuple[FloatArray, FloatArray]:
        """Move products of two sides along the slopes of both."""
        (one, along_one), (two, along_two) = sides
        slopes = np.concatenate([along_one * two[:, None, :], along_two * one[:, None, :]], axis=1)
        values = one * two
        fine = (np.abs(values).max(axis=1) < _HUGE) & (np.abs(slopes).max(axis=(1, 2)) < _HUGE)
        values, slopes = values * fine[:, None], slopes * fine[:, None, None]
        project = self.knots.project.T
        costs, steps = profile.step(values @ project, slopes @ project)
        return np.where(fine, costs, np.inf), steps

    def _within(self, pairs: NDArray[np.intp], points: FloatArray) -> FloatArray:
        """Keep parameters within what their shapes allow."""
        low, high = self.lowest[pairs], self.highest[pairs]
        return np.clip(points, low, high)

    def factor(self, pair: int, point: FloatArray) -> Factor:
        """Return a pair with its parameters at a point."""
        shape, kept = self.shape(pair)
        if shape.points is None or not shape.names:
            return Factor(shape.expr, is_product=shape.is_product)
        near = tuple(map(float, point[kept]))
        limits = Factor.limits_from(shape.points)
        return Factor(shape.expr, shape.names, near, limits, shape.is_product)

    def shape(self, pair: int) -> tuple[Shape, list[int]]:
        """Return what a pair is, with the grid of its parameters, and which it has."""
        one, two = (
            self.shapes[int(self.singles.shape_of[side[self.starts[pair]]])]
            for side in (self.left, self.right)
        )
        if pair < self.n_plain:
            return one, list(range(len(one.names)))
        if pair not in self.made:
            moved = {name: name + "2" for name in two.names}
            expr = op("mul", one.expr, rename(two.expr, moved) if moved else two.expr)
            grids = [shape.points for shape in (one, two) if shape.points is not None]
            ends = [np.vstack([g.min(axis=0), np.median(g, axis=0), g.max(axis=0)]) for g in grids]
            points = np.hstack(ends) if ends else None
            names = (*one.names, *moved.values())
            self.made[pair] = Shape(expr, names, points, is_product=True)
        kept = [*range(len(one.names)), *(PARAMETERS + k for k in range(len(two.names)))]
        return self.made[pair], kept


def products(
    name: str,
    column: FloatArray,
    one: Dictionary,
    parity: Parity,
    floors: Floors,
    *,
    multiply: bool,
) -> Products | None:
    """Multiply every two shapes of a dictionary, at as many points as there is room for."""
    knots = Knots.of(column, parity)
    pairs, most = _pairs(one, multiply=multiply)
    if not pairs:
        return None
    # By themselves shapes are read at all points of their grids, in products at some.
    shapes = (*one.shapes, Shape(Const(1.0)))
    few = [one if len(one.names) <= PARAMETERS else shapes[-1] for one in shapes]
    read = Reader.of(few, {name: knots.at}, floors)
    whole = Singles.of(one, None, read)
    singles = joined([whole, Singles.of(one, most, read)])
    unit, some = len(one.shapes), np.arange(len(singles.values)) >= len(whole.values)
    left: list[NDArray[np.intp]] = []
    right: list[NDArray[np.intp]] = []
    coefficients: list[FloatArray] = []
    kept: list[tuple[int, int]] = []
    for a, b in pairs:
        of_a = np.flatnonzero((singles.shape_of == a) & (some != (b == unit)))
        of_b = np.flatnonzero((singles.shape_of == b) & some)
        i, j = np.repeat(of_a, len(of_b)), np.tile(of_b, len(of_a))
        values = singles.values[i] * singles.values[j]
        good = _is_good(values, parity)
        if good.any():
            left.append(i[good])
            right.append(j[good])
            coefficients.append(values[good] @ knots.project.T)
            kept.append((a, b))
    if not left:
        return None
    starts = np.cumsum([0, *(len(one) for one in left[:-1])])
    limits = np.array([np.vstack([_limits(shapes[a]), _limits(shapes[b])]) for a, b in kept])
    return Products(
        shapes, knots, read, singles, np.concatenate(left), np.concatenate(right),
        starts, np.vstack(coefficients),
        np.array([len(shapes[a].names) + len(shapes[b].names) for a, b in kept]),
        np.array([_nodes(shapes[a], None if b == unit else shapes[b]) for a, b in kept]),
        limits[:, :, 0], limits[:, :, 1], sum(b == unit for _, b in kept),
    )  # fmt: skip


def _nodes(one: Shape, other: Shape | None) -> int:
    return size(one.expr) + (0 if other is None else size(other.expr) + 1)


def _limits(shape: Shape) -> FloatArray:
    """Return between what the parameters of a shape may lie, zeros for those it has not."""
    found = np.zeros((PARAMETERS, 2))
    if shape.points is not None and shape.names:
        found[: len(shape.names)] = Factor.limits_from(shape.points)
    return found


def _pairs(one: Dictionary, *, multiply: bool) -> tuple[list[tuple[int, int]], int]:
    """Return which shapes meet, those that meet the unit first, and at how many grid points."""
    numbers = [
        k for k in map(int, np.unique(one.shape_of)) if len(one.shapes[k].names) <= PARAMETERS
    ]
    nodes = {k: size(one.shapes[k].expr) for k in numbers}
    points = {k: int((one.shape_of == k).sum()) for k in numbers}
    met = [(a, b) for a, b in combinations(numbers, 2) if nodes[a] + nodes[b] <= _LARGEST]
    pairs = [(k, len(one.shapes)) for k in numbers if one.shapes[k].names]
    pairs += met if multiply else []
    for most in _POINTS:
        if sum(min(points[a], most) * min(points[b], most) for a, b in met) <= _MOST:
            return pairs, most
    return pairs, _POINTS[-1]


def _is_good(values: FloatArray, parity: Parity) -> NDArray[np.bool_]:
    """Say which products vary, have no pole, and are as odd or even as they must be."""
    typical = np.sqrt(np.mean(np.square(values), axis=1))
    good = np.isfinite(typical) & (typical > 0.0) & (np.ptp(values, axis=1) > 1e-7 * typical)
    if parity != "any":
        mirrored = values[:, ::-1] * (-1.0 if parity == "odd" else 1.0)
        good &= np.abs(values - mirrored).max(axis=1) < 1e-9 * typical
    return good
