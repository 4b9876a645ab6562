"""Many shapes at many points of their parameters, evaluated in one compiled call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import Expr
from alder.expr.operators import Floors
from alder.kernel.encode import Batch, encode
from alder.kernel.engine import evaluate_points, rows_without_target, values_at_points
from alder.kernel.plan import Rows
from alder.proposers.search.shapes import Factor, Shape


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Shapes ready to be evaluated on the same rows.

    `order` (shapes, k) says which of a shape's own parameters each parameter of the bytecode is.
    """

    batch: Batch
    order: NDArray[np.intp]
    rows: Rows

    @classmethod
    def of(
        cls, shapes: Sequence[Shape | Factor], columns: Mapping[str, FloatArray], floors: Floors
    ) -> "Reader":
        """Make shapes ready to be read on some columns."""
        batch = encode([shape.expr for shape in shapes], tuple(columns))
        most = max((len(shape.names) for shape in shapes), default=0)
        order = np.tile(np.arange(most), (len(shapes), 1))
        for k, (shape, names) in enumerate(zip(shapes, batch.parameters, strict=True)):
            first = [shape.names.index(name) for name in names]
            order[k] = [*first, *(i for i in range(most) if i not in first)]
        return cls(batch, order, rows_without_target(np.array(list(columns.values())), floors))

    def at(self, shapes: NDArray[np.intp], points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values (n, rows) and derivatives (n, k, rows) of shapes at points (n, k)."""
        sequence, begins, order, placed = self._placed(shapes, points)
        found, slopes = evaluate_points(self.batch, begins, placed, self.rows)
        values, own = np.empty_like(found), np.empty_like(slopes)
        values[sequence] = found
        own[sequence] = np.take_along_axis(slopes, np.argsort(order, axis=1)[:, :, None], axis=1)
        return values, own

    def values(self, shapes: NDArray[np.intp], points: FloatArray) -> FloatArray:
        """Return values (n, rows) of shapes at points (n, k)."""
        sequence, begins, _, placed = self._placed(shapes, points)
        values = np.empty((len(shapes), self.rows.columns.shape[1]))
        values[sequence] = values_at_points(self.batch, begins, placed, self.rows)
        return values

    def _placed(
        self, shapes: NDArray[np.intp], points: FloatArray
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], FloatArray]:
        """Sort points by shape, with their parameters in the order of the bytecode."""
        sequence = np.argsort(shapes, kind="stable")
        begins = np.searchsorted(shapes[sequence], np.arange(len(self.batch) + 1))
        order = self.order[shapes[sequence]]
        used = points[sequence][:, : self.order.shape[1]]
        return sequence, begins, order, np.take_along_axis(used, order, axis=1)


def columns_of(
    factors: Sequence[Factor], columns: Mapping[str, FloatArray], floors: Floors
) -> FloatArray:
    """Return factors where their parameters are, on some rows: (factors, rows)."""
    if not factors:
        return np.empty((0, len(next(iter(columns.values())))))
    number: dict[Expr, int] = {}
    shapes = np.array([number.setdefault(one.expr, len(number)) for one in factors], dtype=np.intp)
    _, first = np.unique(shapes, return_index=True)
    read = Reader.of([factors[int(k)] for k in first], columns, floors)
    points = np.zeros((len(factors), max(len(one.names) for one in factors)))
    for row, one in zip(points, factors, strict=True):
        row[: len(one.near)] = one.near
    return read.values(shapes, points)
