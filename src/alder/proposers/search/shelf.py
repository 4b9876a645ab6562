"""Dictionaries of shapes by group of variables, made when first asked for and kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.proposers.search.arithmetic import pairs
from alder.proposers.search.gains import block_squares
from alder.proposers.search.growth import singles
from alder.proposers.search.interactions import Parity, coordinate, design, monomials
from alder.proposers.search.shapes import Dictionary, Shape, op, shelve, tabulate
from alder.proposers.search.table import Table

Group: TypeAlias = tuple[str, ...]
"""One variable or two."""

Block: TypeAlias = tuple[FloatArray, FloatArray]
"""Polynomials (b, n), and their Gram matrices times each shape of a group (columns, b, b)."""

# Grid points of a shape that meet those of another in a product, and the nodes the two may have.
_FINE, _COARSE = 10, 4
_SIMPLE = 4
_LARGEST_PRODUCT = 14
# Up to so many other variables, their product is among the polynomials.
_MULTILINEAR = 4


@final
@dataclass(slots=True, eq=False)
class Shelf:
    """The shapes of one table: what the grammar allows, what is odd or even, and units."""

    table: Table
    allowed: set[str]
    parity: Mapping[str, Parity]
    unit: Mapping[str, object]
    made: dict[Group, Dictionary] = field(default_factory=dict[Group, Dictionary])
    blocks: dict[tuple[Group, Group], Block] = field(
        default_factory=dict[tuple[Group, Group], Block]
    )

    def of(self, group: Group) -> Dictionary:
        """Return the columns of a group: shapes of one variable with their products, or of two."""
        if group not in self.made:
            self.made[group] = self._single(*group) if len(group) == 1 else self._pair(*group)
        return self.made[group]

    def flexible(self, group: Group, rest: Group) -> Block:
        """Return polynomials of the other variables and the Gram matrices of their products."""
        if (group, rest) not in self.blocks:
            block = _polynomials(rest, self.table)
            squares = block_squares(self.of(group).columns, block, self.table)
            self.blocks[group, rest] = (block, squares)
        return self.blocks[group, rest]

    def _single(self, name: str) -> Dictionary:
        column = self.table.columns[name]
        one = tabulate(singles(name, column, self.allowed), {name: column}, self.table.floors)
        if "mul" in self.allowed:
            one = _with_products(one)
        parity = self.parity.get(name, "any")
        if parity == "any":
            return one
        mirrored = {name: -column}
        sign = -1.0 if parity == "odd" else 1.0
        again = tabulate(one.shapes, mirrored, self.table.floors)
        at = {
            (int(s), int(p)): k
            for k, (s, p) in enumerate(zip(again.shape_of, again.point_of, strict=True))
        }
        kept = [
            k
            for k, (s, p) in enumerate(zip(one.shape_of, one.point_of, strict=True))
            if (found := at.get((int(s), int(p)))) is not None
            and np.abs(again.columns[found] - sign * one.columns[k]).max() < 1e-9
        ]
        return one.picked(kept) if kept else one

    def _pair(self, first: str, second: str) -> Dictionary:
        columns = {name: self.table.columns[name] for name in (first, second)}
        units = [self.unit.get(name) for name in (first, second)]
        alike = None in units or units[0] == units[1]
        shapes = pairs((first, second), columns, self.allowed, alike=alike)
        return tabulate(shapes, columns, self.table.floors)


def _polynomials(names: Group, table: Table) -> FloatArray:
    """Return polynomials of some variables, the constant first, (b, n)."""
    if not names:
        return np.ones((1, table.n_rows))
    k = len(names)
    exponents = monomials(k, 3 if k == 1 else 2, 2)
    if k <= _MULTILINEAR:  # a product of all others too, each once
        exponents += [m for m in monomials(k, k, k) if max(m) == 1 and sum(m) > 2]
    coordinates = [coordinate(table.columns[name]) for name in names]
    return design(coordinates, exponents).T


def _with_products(one: Dictionary) -> Dictionary:
    """Add products of two different shapes of the same variable, on a coarser grid."""
    shapes = list(one.shapes)
    columns: list[FloatArray] = [one.columns]
    shape_of, point_of = [one.shape_of], [one.point_of]
    for shape, both, points in _products(one):
        sizes = np.sqrt(np.mean(np.square(both), axis=1))
        good = (sizes > 0.0) & (np.ptp(both, axis=1) > 1e-7 * sizes)
        shapes.append(Shape(shape.expr, shape.names, points, is_product=True))
        columns.append(both[good] / sizes[good][:, None])
        shape_of.append(np.full(int(good.sum()), len(shapes) - 1, dtype=np.intp))
        point_of.append(np.flatnonzero(good))
    return shelve(shapes, np.vstack(columns), np.concatenate(shape_of), np.concatenate(point_of))


def _products(one: Dictionary) -> Iterator[tuple[Shape, FloatArray, FloatArray]]:
    """Yield products of two shapes, with their columns and grid points."""
    coarse: dict[int, list[int]] = {}
    for number in np.unique(one.shape_of):
        here = np.flatnonzero(one.shape_of == number)
        points = _FINE if one.n_nodes[here[0]] <= _SIMPLE else _COARSE
        step = max(1, int(np.ceil(len(here) / points)))
        coarse[int(number)] = [int(k) for k in here[step // 2 :: step]]
    for a, b in combinations(coarse, 2):
        left, right = coarse[a], coarse[b]
        if one.n_nodes[left[0]] + one.n_nodes[right[0]] > _LARGEST_PRODUCT:
            continue
        first, second = one.shapes[a], one.shapes[b]
        moved = {name: name + "2" for name in second.names}
        expr = op("mul", first.expr, rename(second.expr, moved) if moved else second.expr)
        names = (*first.names, *moved.values())
        points = np.array([[*_point(one, i), *_point(one, j)] for i in left for j in right])
        both = one.columns[left][:, None, :] * one.columns[right][None, :, :]
        n = len(left) * len(right)
        yield Shape(expr, names), both.reshape(n, -1), points.reshape(n, len(names))


def _point(one: Dictionary, column: int) -> list[float]:
    points = one.shapes[int(one.shape_of[column])].points
    return [] if points is None else [float(x) for x in points[int(one.point_of[column])]]
