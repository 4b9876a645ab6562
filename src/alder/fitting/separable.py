"""The bridge to the compiled fitter: squared error, many structures, all cores."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.operators import Floors
from alder.fitting.observations import Observations
from alder.fitting.threads import n_threads
from alder.kernel.encode import Batch
from alder.kernel.engine import N_REPORTED, fit_structures
from alder.kernel.plan import Rows
from alder.records.effort import Effort
from alder.records.proposal import Bounds

# Structures handed to a thread at once: enough to make the hand-over free, few enough to share.
_CHUNK = 32
# Rows are put in a fixed random order, so that the first of them are a fair sample of all.
_SHUFFLE_SEED = 20261116
_UNBOUNDED = Bounds()


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How to fit: effort, floors, and threads (all cores if None)."""

    effort: Effort
    floors: Floors
    jobs: int | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """What the compiled fitter found: parameters end to end, one report per structure.

    A report is (weighted sum of squares, code, passes, refined, nonlinear parameters).
    """

    parameters: tuple[tuple[str, ...], ...]
    values: FloatArray
    offsets: NDArray[np.int64]
    reports: FloatArray

    def of(self, index: int) -> dict[str, float]:
        """The parameters of one structure by name."""
        found = self.values[self.offsets[index] : self.offsets[index + 1]]
        return dict(zip(self.parameters[index], map(float, found), strict=True))


def shuffled(n_rows: int) -> NDArray[np.int64]:
    """Return the fixed random order in which the kernel reads that many rows."""
    return np.random.default_rng(_SHUFFLE_SEED).permutation(n_rows)


def kernel_rows(
    observations: Observations, weights: FloatArray, floors: Floors, order: NDArray[np.int64]
) -> Rows:
    """Lay rows out for the kernel: in this order, contiguous, weights as square roots.

    Where targets are sums over rows, the order is that of observations.
    """
    places, segments = observations.segments.take(order)
    columns = np.ascontiguousarray(observations.columns[:, places])
    target = observations.target[order]
    even = bool((weights == weights[0]).all())
    # Equal weights only scale the sum of squares; leaving them out saves a product per column.
    roots = np.empty(0) if even and weights[0] == 1.0 else np.sqrt(weights[order])
    sizes = np.array([_size(column) for column in (*columns, target)])
    return Rows(
        columns,
        target,
        roots,
        observations.group[order] if len(observations.group) else observations.group,
        len(observations.groups),
        sizes,
        np.array([floors.denominator, floors.base, floors.exponent, floors.saturation]),
        np.append(segments.starts, len(places)) if segments.summed else np.empty(0, np.int64),
    )


def _size(column: FloatArray) -> float:
    """Return the typical magnitude; the median, so that a pole in the rows does not set it."""
    magnitudes = np.abs(column)
    median = float(np.median(magnitudes))
    return median if median > 0.0 else float(magnitudes.max())


def solve(
    batch: Batch,
    observations: Observations,
    weights: FloatArray,
    bounds: Sequence[Mapping[str, Bounds]],
    settings: Settings,
) -> Solutions:
    """Fit every structure, each with its own bounds; the same result whatever `jobs` is."""
    order = shuffled(observations.n_observations)
    rows = kernel_rows(observations, weights, settings.floors, order)
    flat, values = _flatten(batch, bounds)
    reports = np.zeros((len(batch), N_REPORTED))

    def run(start: int) -> None:
        chosen = slice(start, min(start + _CHUNK, len(batch)))
        fit_structures(batch, chosen, flat, rows, settings.effort, (values, reports))

    starts = range(0, len(batch), _CHUNK)
    n_workers = min(len(starts), settings.jobs or n_threads())
    if n_workers > 1:
        with ThreadPoolExecutor(n_workers) as pool:
            list(pool.map(run, starts))
    else:
        for start in starts:
            run(start)
    return Solutions(batch.parameters, values, flat[2], reports)


def _flatten(
    batch: Batch, bounds: Sequence[Mapping[str, Bounds]]
) -> tuple[tuple[FloatArray, FloatArray, NDArray[np.int64]], FloatArray]:
    """Return lower ends, upper ends and where each structure's begin, and the starts."""
    pairs = [
        declared.get(name, _UNBOUNDED)
        for names, declared in zip(batch.parameters, bounds, strict=True)
        for name in names
    ]
    counts = [len(names) for names in batch.parameters]
    lower = np.array([pair.lower for pair in pairs], dtype=np.float64)
    upper = np.array([pair.upper for pair in pairs], dtype=np.float64)
    starts = np.array([np.nan if p.start is None else p.start for p in pairs], dtype=np.float64)
    return (lower, upper, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)), starts
