"""What Python calls: the compiled functions, made ready before their first use.

Compiled code calls the interpreter by address, so nothing compiled may run before `ensure`.
"""

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.operators import Floors
from alder.kernel import search
from alder.kernel.encode import Batch
from alder.kernel.plan import Rows
from alder.kernel.ready import ensure
from alder.kernel.starts import golden_steps
from alder.records.effort import Effort

N_REPORTED = 5
"""Sum of squares, code, passes, whether residuals were refined, nonlinear parameters."""


def fit_structures(
    batch: Batch,
    chosen: slice,
    bounds: tuple[FloatArray, FloatArray, NDArray[np.int64]],
    rows: Rows,
    effort: Effort,
    results: tuple[FloatArray, FloatArray],
) -> None:
    """Fit the chosen structures of a batch; write parameters and reports in place.

    `bounds` are lower ends, upper ends and where each structure's begin; `results` are parameters,
    laid out like the bounds, and one report of `N_REPORTED` numbers per structure.
    """
    ensure()
    lower, upper, begins = bounds
    values, reports = results
    ends = slice(chosen.start, chosen.stop + 1)
    search.fit_batch(
        batch.opcodes, batch.arguments, batch.literals, batch.offsets[ends], np.int64(0), lower,
        upper, begins[ends], rows, effort, golden_steps(), values, reports[chosen],
    )  # fmt: skip


def evaluate_with_jacobian(
    batch: Batch, point: FloatArray, rows: Rows
) -> tuple[FloatArray, FloatArray]:
    """Return values (n) and derivatives (parameters, n) of the one structure in a batch."""
    values, slopes = evaluate_points(batch, np.array([0, 1]), point[None, :], rows)
    return values[0], slopes[0]


def evaluate_points(
    batch: Batch, begins: NDArray[np.int64], points: FloatArray, rows: Rows
) -> tuple[FloatArray, FloatArray]:
    """Return values (points, n) and derivatives (points, parameters, n) of many structures.

    Structure s is evaluated at `points[begins[s] : begins[s + 1]]`, a column for each parameter
    in the order of the batch; columns beyond a structure's own are ignored.
    """
    n_points, n_parameters = points.shape
    slopes = np.empty((n_points, n_parameters, rows.columns.shape[1]))
    return _evaluated(batch, begins, points, rows, slopes), slopes


def values_at_points(
    batch: Batch, begins: NDArray[np.int64], points: FloatArray, rows: Rows
) -> FloatArray:
    """Return what `evaluate_points` does without the derivatives."""
    return _evaluated(batch, begins, points, rows, np.empty((0, 0, 0)))


def _evaluated(
    batch: Batch, begins: NDArray[np.int64], points: FloatArray, rows: Rows, slopes: FloatArray
) -> FloatArray:
    ensure()
    values = np.empty((len(points), rows.columns.shape[1]))
    search.evaluate_points(
        batch.opcodes, batch.arguments, batch.literals, batch.offsets, begins, points, rows,
        values, slopes,
    )  # fmt: skip
    return values


def rows_without_target(columns: FloatArray, floors: Floors) -> Rows:
    """Return rows to evaluate on, (variables, n), that nothing is fitted to."""
    limits = np.array([floors.denominator, floors.base, floors.exponent, floors.saturation])
    none = np.empty(0, np.int64)
    n_columns, n = columns.shape
    return Rows(columns, np.zeros(n), np.empty(0), none, 0, np.ones(n_columns + 1), limits, none)
