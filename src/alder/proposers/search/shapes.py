"""Shapes and their columns: a tree with parameters on a grid, evaluated at every point of it.

A column per grid point makes the gain of any product of shapes a matter of matrix products, before
anything nonlinear is fitted. What trees there are is grown in `growth` and `arithmetic`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, Var, size
from alder.expr.operators import OPERATORS, Floors, saturate

# Columns whose largest entry is this many times their typical one are poles, not shapes.
_POLE = 1e4
# Parameters beyond their grid by more than this make one function imitate another.
_BEYOND = 2.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A tree over placeholders `p`, `q`, `s`, and the grid of their values (points, names)."""

    expr: Expr
    names: tuple[str, ...] = ()
    points: FloatArray | None = None
    is_product: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A shape with its parameters: where they are, and between what they may lie."""

    expr: Expr
    names: tuple[str, ...] = ()
    near: tuple[float, ...] = ()
    limits: tuple[tuple[float, float], ...] = ()
    is_product: bool = False

    @staticmethod
    def limits_from(points: FloatArray) -> tuple[tuple[float, float], ...]:
        """Return how far beyond a grid (points, k) its parameters may lie."""
        upper = _BEYOND * np.abs(points).max(axis=0)
        lower = np.where(points.min(axis=0) >= 0.0, 0.0, -upper)
        return tuple((float(low), float(high)) for low, high in zip(lower, upper, strict=True))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Columns of many shapes, of unit size (columns, n), with where each comes from.

    A tier is a number of parameters, products of two shapes apart: 2 k, or 2 k + 1 for products.
    """

    shapes: tuple[Shape, ...]
    columns: FloatArray
    shape_of: NDArray[np.intp]
    point_of: NDArray[np.intp]
    n_nodes: NDArray[np.int64]
    n_parameters: NDArray[np.int64]
    tiers: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.columns)

    def moved(self, column: int, move: FloatArray) -> Factor:
        """Return the shape of a column with its parameters moved from where they are there."""
        shape = self.shapes[int(self.shape_of[column])]
        if shape.points is None or not shape.names:
            return Factor(shape.expr, is_product=shape.is_product)
        point = shape.points[self.point_of[column]]
        limits = Factor.limits_from(shape.points)
        near = tuple(
            float(np.clip(x + dx, *ends))
            for x, dx, ends in zip(point, move[: len(point)], limits, strict=True)
        )
        return Factor(shape.expr, shape.names, near, limits, shape.is_product)

    def picked(self, chosen: Sequence[int] | NDArray[np.intp]) -> "Dictionary":
        """Keep some columns."""
        index = np.asarray(chosen, dtype=np.intp)
        return shelve(self.shapes, self.columns[index], self.shape_of[index], self.point_of[index])


def shelve(
    shapes: Sequence[Shape],
    columns: FloatArray,
    shape_of: NDArray[np.intp],
    point_of: NDArray[np.intp],
) -> Dictionary:
    """Put columns together with the size of the shape each comes from."""
    nodes = np.array([size(shape.expr) for shape in shapes], dtype=np.int64)
    counts = np.array([len(shape.names) for shape in shapes], dtype=np.int64)
    products = np.array([shape.is_product for shape in shapes], dtype=np.int64)
    return Dictionary(
        tuple(shapes),
        columns,
        shape_of,
        point_of,
        nodes[shape_of],
        counts[shape_of],
        2 * counts[shape_of] + products[shape_of],
    )


def op(name: str, *arguments: Expr) -> Expr:
    """Apply an operator by name."""
    return Apply(OPERATORS[name], arguments)


def tabulate(
    shapes: Sequence[Shape], columns: Mapping[str, FloatArray], floors: Floors
) -> Dictionary:
    """Evaluate every shape at every grid point; drop columns that are constant or have poles."""
    found: list[FloatArray] = []
    shape_of: list[int] = []
    point_of: list[int] = []
    for number, shape in enumerate(shapes):
        table = evaluate_grid(shape, columns, floors)
        with np.errstate(all="ignore"):
            sizes = np.sqrt(np.mean(np.square(table), axis=1))
        good = np.isfinite(table).all(axis=1) & (sizes > 0.0) & (sizes < 1e100)
        with np.errstate(all="ignore"):
            table = table / np.where(good, sizes, 1.0)[:, None]
            good &= np.abs(table).max(axis=1) < np.minimum(
                _POLE, 0.9 * np.sqrt(table.shape[1] + 99)
            )
            good &= np.ptp(table, axis=1) > 1e-7
        for point in np.flatnonzero(good):
            found.append(table[point])
            shape_of.append(number)
            point_of.append(int(point))
    n = len(next(iter(columns.values())))
    return shelve(
        shapes,
        np.array(found) if found else np.empty((0, n)),
        np.array(shape_of, dtype=np.intp),
        np.array(point_of, dtype=np.intp),
    )


def evaluate_grid(shape: Shape, columns: Mapping[str, FloatArray], floors: Floors) -> FloatArray:
    """Return the shape at every grid point, (points, n)."""
    n = len(next(iter(columns.values())))
    points = shape.points if shape.points is not None else np.empty((1, 0))
    placed = {name: points[:, k : k + 1] for k, name in enumerate(shape.names)}
    with np.errstate(all="ignore"):
        return np.broadcast_to(_grid(shape.expr, columns, placed, floors), (len(points), n))


def _grid(
    expr: Expr,
    columns: Mapping[str, FloatArray],
    placed: Mapping[str, FloatArray],
    floors: Floors,
) -> FloatArray:
    match expr:
        case Const(value):
            return np.array([[value]])
        case Param(name):
            return placed[name]
        case Var(name):
            return columns[name][None, :]
        case Apply(operator, arguments):
            parts = tuple(_grid(a, columns, placed, floors) for a in arguments)
            return saturate(operator.value(parts, floors), floors)
