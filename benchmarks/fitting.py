"""Fits per second of our fitter and its peers on the same structures and rows.

    python benchmarks/fitting.py [--structures 2000] [--rows 64,256,4096] [--nodes 31]

One core throughout (`jobs=1`, CPU time). Ours is timed from the expression trees to the fitted
coefficients, lowering included. Peers get a sample of the structures, since they take too long
for all of them; the ratio is to scipy in the same run.
"""

import argparse
import resource
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from peers import time_operon, time_scipy
from rich.console import Console
from rich.table import Table
from structures import MAX_NODES, bounds_of, distinct_structures, rows

from alder.expr.nodes import Expr, size
from alder.fitting import fit_many
from alder.kernel.ready import ensure
from alder.records.effort import FULL, SCREENED, Effort
from alder.records.proposal import Bounds, Proposal

REPEATS = 3
SCIPY_SAMPLE = 40
OPERON_SAMPLE = 200


def time_ours(
    proposals: Sequence[Proposal], data: dict[str, NDArray[np.float64]], effort: Effort
) -> tuple[float, NDArray[np.float64]]:
    """Return the best CPU seconds of several runs, and the sum of squares of each structure."""
    seconds = np.inf
    losses = np.empty(0)
    for _ in range(REPEATS):
        begin = time.process_time()
        fits = fit_many(proposals, data, target="a", effort=effort, jobs=1)
        seconds = min(seconds, time.process_time() - begin)
        losses = fits.loss * len(data["a"])
    return seconds, losses


def as_proposals(structures: Sequence[Expr]) -> list[Proposal]:
    """Attach the bounds."""
    return [
        Proposal(s, {name: Bounds(*pair) for name, pair in bounds_of(s).items()})
        for s in structures
    ]


def measure(n_rows: int, structures: Sequence[Expr], table: Table) -> None:
    """Add the rows of one table size."""
    data = rows(n_rows)
    proposals = as_proposals(structures)
    scipy_sample = structures[:SCIPY_SAMPLE]
    scipy_seconds, scipy_losses = time_scipy(scipy_sample, data)
    per_scipy = scipy_seconds / len(scipy_sample)
    operon_sample = structures[:OPERON_SAMPLE]
    operon_seconds, operon_losses = time_operon(operon_sample, data)
    full_seconds, full = time_ours(proposals, data, FULL)
    screened_seconds, screened = time_ours(proposals, data, SCREENED)
    for name, seconds, count, losses in (
        ("scipy least_squares, 8 restarts", scipy_seconds, len(scipy_sample), scipy_losses),
        ("pyoperon optimizer, 8 restarts", operon_seconds, len(operon_sample), operon_losses),
        ("alder, 8 full restarts", full_seconds, len(structures), full),
        ("alder, 8 screened, 2 polished", screened_seconds, len(structures), screened),
    ):
        each = seconds / count
        near = np.mean(losses <= 1.01 * full[:count])
        table.add_row(
            str(n_rows), name, f"{1.0 / each:,.0f}", f"{1e6 * each:,.0f}",
            f"{per_scipy / each:,.1f}", f"{100.0 * near:.1f}",
        )  # fmt: skip
    table.add_section()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--structures", type=int, default=2000)
    parser.add_argument("--rows", default="64,256,4096")
    parser.add_argument("--nodes", type=int, default=MAX_NODES, help="largest structure")
    options = parser.parse_args()
    ensure()
    structures = distinct_structures(options.structures, options.nodes)
    console = Console(width=100)
    table = Table("rows", "fitter", "fits/s/core", "us a fit", "x scipy", "within 1 %")
    for n_rows in map(int, options.rows.split(",")):
        with console.status(f"{n_rows} rows"):
            measure(n_rows, structures, table)
    console.print(
        f"{len(structures)} structures, {np.mean([size(s) for s in structures]):.1f} nodes on "
        f"average. Within 1 %: share of structures whose loss is at most 1.01 times that of 8 "
        f"full restarts. scipy on {SCIPY_SAMPLE}, pyoperon (float32) on {OPERON_SAMPLE} of them."
    )
    console.print(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    console.print(f"Peak memory of the whole run: {peak:,.0f} MiB.")


if __name__ == "__main__":
    main()
