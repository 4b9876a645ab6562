"""Dictionaries of shapes by group of variables, made when first asked for and kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.proposers.search.arithmetic import pairs
from alder.proposers.search.gains import block_squares
from alder.proposers.search.growth import singles
from alder.proposers.search.interactions import Parity, coordinate, design, monomials
from alder.proposers.search.products import Products, products
from alder.proposers.search.shapes import Dictionary, tabulate
from alder.proposers.search.slopes import Slopes
from alder.proposers.search.table import Table

Group: TypeAlias = tuple[str, ...]
"""One variable or two."""

Block: TypeAlias = tuple[FloatArray, FloatArray]
"""Polynomials (b, n), and their Gram matrices times each shape of a group (columns, b, b)."""

# Degrees of the polynomials of other variables, by their number, where the rows are enough.
_DEGREE_OF_CONTEXT = {1: 4, 2: 4, 3: 3}
_ENOUGH = 120
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
    slopes: dict[Group, Slopes] = field(default_factory=dict[Group, Slopes])
    whole: dict[str, Dictionary] = field(default_factory=dict[str, Dictionary])
    contexts: dict[Group, FloatArray] = field(default_factory=dict[Group, FloatArray])
    multiplied: dict[str, Products | None] = field(default_factory=dict[str, Products | None])

    def of(self, group: Group) -> Dictionary:
        """Return the columns of a group: shapes of one variable, or of two."""
        if group not in self.made:
            self.made[group] = self._single(*group) if len(group) == 1 else self._pair(*group)
        return self.made[group]

    def flexible(self, group: Group, rest: Group) -> Block:
        """Return polynomials of the other variables and the Gram matrices of their products."""
        if (group, rest) not in self.blocks:
            block = _polynomials(rest, self.table, 3 if len(rest) == 1 else 2)
            squares = block_squares(self.of(group).columns, block, self.table)
            self.blocks[group, rest] = (block, squares)
        return self.blocks[group, rest]

    def slopes_of(self, group: Group) -> Slopes:
        """Return how the columns of a group change with their parameters."""
        if group not in self.slopes:
            columns = {name: self.table.columns[name] for name in group}
            self.slopes[group] = Slopes(self.of(group), columns, self.table.floors)
        return self.slopes[group]

    def context(self, rest: Group) -> FloatArray:
        """Return polynomials of the other variables, as many as the rows allow."""
        if rest not in self.contexts:
            degree = _DEGREE_OF_CONTEXT.get(len(rest), 2) if self.table.n > _ENOUGH else 2
            self.contexts[rest] = _polynomials(rest, self.table, degree)
        return self.contexts[rest]

    def products_of(self, name: str) -> Products | None:
        """Return the shapes of a variable, and products of two where the grammar has them."""
        if name not in self.multiplied:
            self.of((name,))
            column, parity = self.table.columns[name], self.parity.get(name, "any")
            self.multiplied[name] = products(
                name, column, self.whole[name], parity, self.table.floors,
                multiply="mul" in self.allowed,
            )  # fmt: skip
        return self.multiplied[name]

    def _single(self, name: str) -> Dictionary:
        column = self.table.columns[name]
        one = tabulate(singles(name, column, self.allowed), {name: column}, self.table.floors)
        self.whole[name] = one
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


def _polynomials(names: Group, table: Table, degree: int) -> FloatArray:
    """Return polynomials of some variables, the constant first, (b, n)."""
    if not names:
        return np.ones((1, table.n_rows))
    k = len(names)
    exponents = monomials(k, degree, 2)
    if k <= _MULTILINEAR:  # a product of all others too, each once
        exponents += [m for m in monomials(k, k, k) if max(m) == 1 and sum(m) > 2]
    coordinates = [coordinate(table.columns[name]) for name in names]
    return design(coordinates, exponents).T
