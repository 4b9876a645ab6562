r"""How far an experiment lies from everything seen: the term D of the paper's Equation 5."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.records.evidence import Evidence
from alder.records.experiment import Pool

# Distances computed at once: half a megabyte stays in the cache, and products of this size are not
# spread over threads, whose waiting costs more than the product on a busy machine.
_BLOCK = 65_536
# More points than these hardly change which region is empty; a pool of a million needs a bound.
_MOST_SEEN = 512
# The width of a column leaves out this share of the experiments on either side, so that one
# heavy tail does not make all other distances vanish.
_TAIL = 0.02


@final
@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    r"""Scaled inputs of a pool, and the points seen.

    $$D(q) = \min\Bigl(1, \min_s \sqrt{\tfrac1d \textstyle\sum_j ((q_j - s_j)/L_j)^2}\Bigr)$$

    $s$ runs over the inputs observed or asked for, $d$ counts the columns, and $L_j$ is the width
    of column $j$ over the pool, tails left out. $D$ has no unit and lies between 0 and 1.
    """

    pool: Pool
    low: FloatArray
    width: FloatArray
    seen: FloatArray

    def scaled(self, positions: NDArray[np.intp]) -> FloatArray:
        """Return scaled inputs (experiments, columns); distances in them are root mean squares."""
        table = np.empty((len(positions), len(self.width)))
        for j, column in enumerate(self.pool.columns.values()):
            table[:, j] = (column[positions] - self.low[j]) / self.width[j]
        return table / np.sqrt(max(len(self.width), 1))

    def distance(self, positions: NDArray[np.intp], *, exact: bool = False) -> FloatArray:
        """Return D for these experiments.

        Unless `exact`, at most 512 of the points seen count, evenly taken, so that D may come out
        too large but the time does not grow with the rows.
        """
        seen = self.seen
        if not exact and len(seen) > _MOST_SEEN:
            seen = seen[np.linspace(0, len(seen) - 1, _MOST_SEEN).astype(np.intp)]
        found = np.ones(len(positions))
        if not len(seen) or not len(self.width):
            return found
        step = max(_BLOCK // len(seen), 1)
        for start in range(0, len(positions), step):
            part = slice(start, start + step)
            found[part] = nearest(self.scaled(positions[part]), seen)
        return np.minimum(found, 1.0)


def coverage_of(pool: Pool, positions: NDArray[np.intp], evidence: Evidence) -> Coverage:
    """Scale a pool by the experiments that may be chosen, and gather the points seen.

    Where one experiment is one row, the points are the inputs of all public rows; where the
    columns of the pool are knobs that rows do not carry, they are the experiments asked for.
    """
    columns = list(pool.columns.values())
    low, width = np.zeros(len(columns)), np.ones(len(columns))
    for j, column in enumerate(columns):
        low[j], width[j] = _extent(column[positions])
    bare = Coverage(pool, low, width, np.empty((0, len(columns))))
    asked = {choice.experiment.id for choice in evidence.choices} | evidence.done
    is_asked = (identity in asked for identity in pool.ids)
    run = np.flatnonzero(np.fromiter(is_asked, np.bool_, len(pool))) if asked else np.empty(0, int)
    points = [bare.scaled(run.astype(np.intp))]
    rows = [t.columns for t in (evidence.initial, *evidence.trajectories)]
    if rows and columns and all(name in row for row in rows for name in pool.columns):
        table = np.column_stack(
            [np.concatenate([row[name] for row in rows]) for name in pool.columns]
        )
        points.append((table - low) / width / np.sqrt(len(columns)))
    seen = np.concatenate(points)
    return Coverage(pool, low, width, seen[np.isfinite(seen).all(axis=1)])


def nearest(points: FloatArray, seen: FloatArray) -> FloatArray:
    r"""Return the distance of each point to the nearest one seen.

    $\min_s |x - s|^2 = |x|^2 + \min_s (|s|^2 - 2 x \cdot s)$: one matrix product and one minimum.
    """
    table = np.empty((len(seen), points.shape[1] + 1))
    table[:, :-1] = -2.0 * seen
    table[:, -1] = np.square(seen).sum(axis=1)
    augmented = np.ones((points.shape[1] + 1, len(points)))
    augmented[:-1] = points.T
    # The minimum over the first axis runs along memory.
    least = (table @ augmented).min(axis=0)
    return np.sqrt(np.maximum(np.square(points).sum(axis=1) + least, 0.0))


def _extent(column: FloatArray) -> tuple[float, float]:
    if not len(column):
        return 0.0, 1.0
    low, high = (float(end) for end in np.quantile(column, [_TAIL, 1.0 - _TAIL]))
    if not low < high:
        low, high = float(column.min()), float(column.max())
    return low, (high - low) or 1.0
