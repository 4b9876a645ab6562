"""What Python calls: the compiled functions, made ready before their first use.

Compiled code calls the interpreter by address, so nothing compiled may run before `ensure`.
"""

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
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
    ensure()
    values = np.empty(len(rows.target))
    jacobian = np.empty((len(point), len(values)))
    search.evaluate_structure(
        batch.opcodes, batch.arguments, batch.literals, point, rows, values, jacobian
    )
    return values, jacobian
