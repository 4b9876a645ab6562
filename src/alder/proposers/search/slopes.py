"""Between the points of a grid: how a column changes with its parameters, and how far they reach.

A grid as fine as the rows could tell apart would be too large for products of shapes. One step of
Gauss and Newton from the nearest point does as well, and is closed form too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.operators import Floors
from alder.proposers.search.shapes import Dictionary, Shape, evaluate_grid

Slope: TypeAlias = tuple[FloatArray, FloatArray]
"""How a column changes if a parameter moves as far as it may (k, rows); how far that is (k)."""

DIFFERENCE = 1e-3
"""Derivatives are differences over this share of the way that a parameter may move."""

# A parameter may move by this share of the way to the next point of its grid, or of itself where
# the grid has no other.
_WAY = 0.75
_ALONE = 0.5


@final
@dataclass(slots=True, eq=False)
class Slopes:
    """The slopes of a dictionary's columns, made when first asked for and kept."""

    shapes: Dictionary
    columns: Mapping[str, FloatArray]
    floors: Floors
    known: dict[int, Slope] = field(default_factory=dict[int, Slope])

    def of(self, chosen: NDArray[np.intp]) -> Slope:
        """Return slopes (chosen, k, rows) and reaches (chosen, k), zero beyond a shape's own k."""
        most = int(self.shapes.n_parameters[chosen].max(initial=0))
        slopes = np.zeros((len(chosen), most, self.shapes.columns.shape[1]))
        reaches = np.zeros((len(chosen), most))
        for place, column in enumerate(map(int, chosen)):
            if column not in self.known:
                self.known[column] = self._slope(column)
            slope, reach = self.known[column]
            slopes[place, : len(slope)], reaches[place, : len(reach)] = slope, reach
        return slopes, reaches

    def _slope(self, column: int) -> Slope:
        shape = self.shapes.shapes[int(self.shapes.shape_of[column])]
        if shape.points is None or not shape.names:
            return np.empty((0, self.shapes.columns.shape[1])), np.empty(0)
        point = shape.points[int(self.shapes.point_of[column])]
        reach = reach_of(shape, point)
        moves = DIFFERENCE * np.diag(reach)
        at = replace(shape, points=np.vstack([point, point + moves, point - moves]))
        found = np.asarray(evaluate_grid(at, self.columns, self.floors), dtype=np.float64)
        up, down = found[1 : len(reach) + 1], found[len(reach) + 1 :]
        size = float(np.sqrt(np.mean(np.square(found[:1])))) or 1.0
        slope = np.asarray((up - down) / (2.0 * DIFFERENCE * size), dtype=np.float64)
        return np.where(np.isfinite(slope).all(axis=1, keepdims=True), slope, 0.0), reach


def reach_of(shape: Shape, point: FloatArray) -> FloatArray:
    """Return how far each parameter may move from a point on or between those of the grid."""
    assert shape.points is not None
    found = np.empty(len(point))
    for k, value in enumerate(point):
        others = np.unique(shape.points[:, k])
        apart = np.abs(others - value)
        near = [float(apart[side].min()) for side in (others < value, others > value) if side.any()]
        found[k] = _WAY * max(near) if near else _ALONE * abs(float(value))
        if (others > 0.0).all() or (others < 0.0).all():  # and so it stays, however wide the grid
            found[k] = min(found[k], _ALONE * abs(float(value)))
    return found
