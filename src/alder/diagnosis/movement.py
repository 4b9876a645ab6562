"""Too little excitation: what was never moved, and whether an experiment on offer would move it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.diagnosis.signs import COVERED, MOVED, TIED, Sign, count
from alder.diagnosis.view import View
from alder.records.experiment import Pool
from alder.records.nextstep import NextStep
from alder.records.outcome import Cause

_CAUSE: Cause = "excitation"
_PARTS = 10


@final
@dataclass(frozen=True, slots=True, eq=False)
class Unmoved:
    """Variables that public rows leave open, over which range, and experiments that move them.

    `is_still` says that it hardly moved at all. `tied` are two variables that were moved together
    only. `far` are rows of the pool, not run
    yet, that lie where no public row does; it is empty where nothing on offer goes there.
    """

    names: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(
        default_factory=dict[str, tuple[float, float]]
    )
    tied: tuple[str, ...] = ()
    sentence: str = ""
    is_still: bool = False
    far: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def is_there(self) -> bool:
        """Whether anything was left open."""
        return bool(self.names)


def unmoved(view: View, n_rows: int | None = None) -> Unmoved:
    """Find what public rows, or the first so many, never moved: a variable, or two apart."""
    rows = {name: column[:n_rows] for name, column in view.evidence.rows().items()}
    for variable in view.evidence.grammar.variables:
        found = _alone(view, variable.name, rows[variable.name], variable.range)
        if found.is_there:
            return found
    for first, second in combinations(view.names, 2):
        found = _together(view, (first, second), rows)
        if found.is_there:
            return found
    return Unmoved()


def unexcited(view: View, found: Unmoved) -> Sign:
    """Say that a variable was not moved, where no experiment on offer would move it."""
    if not found.is_there:
        return Sign(_CAUSE, _moved(view))
    if len(found.far):
        return Sign(
            _CAUSE,
            f"{found.sentence}, but {count(len(found.far), 'experiment')} on offer would move it.",
        )
    step = NextStep("explore", variables=found.names, ranges=found.ranges)
    if found.tied:
        first, second = found.tied
        advice = f"Move {first} while {second} stays where it is, over the whole range of both."
    else:
        name = found.names[0]
        low, high = found.ranges.get(name, (0.0, 0.0))
        whole = f", over {low:.4g} to {high:.4g}" if high > low else ""
        advice = (
            f"Measure with {name} at several clearly different values{whole}, or leave it out of "
            "the grammar."
        )
    return Sign(
        _CAUSE,
        f"{found.sentence}, so nothing can be said about how the target depends on it.",
        advice,
        step,
    )


def _alone(
    view: View, name: str, column: FloatArray, declared: tuple[float, float] | None
) -> Unmoved:
    """Ask whether rows lie in most parts of the range of a variable."""
    low, high = float(column.min()), float(column.max())
    begin, end = declared or _reach(view.pool, name, (low, high))
    if not end > begin:
        return Unmoved((name,), {}, sentence=_stayed(name, low, high), is_still=True)
    edges = np.linspace(begin, end, _PARTS + 1)
    n_rows, _ = np.histogram(np.clip(column, begin, end), edges)
    # A handful of rows far away open a part; rows never fill parts by chance.
    covered = float(np.mean(n_rows > 0))
    is_still = high - low < MOVED * (end - begin)
    if covered >= COVERED and not is_still:
        return Unmoved()
    far = _far(view, name, edges, n_rows > 0)
    sentence = _stayed(name, *_bulk(column))
    return Unmoved((name,), {name: (begin, end)}, (), sentence, is_still, far)


def _bulk(column: FloatArray) -> tuple[float, float]:
    """Return where all but a few rows lie."""
    low, high = np.quantile(column, [0.05, 0.95])
    return float(low), float(high)


def _stayed(name: str, low: float, high: float) -> str:
    return f"{name} stayed between {low:.4g} and {high:.4g}"


def _reach(pool: Pool | None, name: str, had: tuple[float, float]) -> tuple[float, float]:
    """Return how far rows and experiments on offer reach together."""
    if pool is None or name not in pool.columns or not len(pool):
        return had
    column = pool.columns[name]
    return min(had[0], float(column.min())), max(had[1], float(column.max()))


def _far(
    view: View, name: str, edges: FloatArray, is_covered: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return experiments, not run yet, in parts of the range that hold no row."""
    pool = view.pool
    if pool is None or name not in pool.columns:
        return np.empty(0, dtype=np.intp)
    part = np.clip(np.digitize(pool.columns[name], edges) - 1, 0, _PARTS - 1)
    return np.flatnonzero(~is_covered[part] & _open(view, pool))


def _open(view: View, pool: Pool) -> NDArray[np.bool_]:
    done = view.evidence.done
    return np.array([name not in done for name in pool.ids], dtype=np.bool_)


def _together(view: View, pair: tuple[str, str], rows: Mapping[str, FloatArray]) -> Unmoved:
    """Ask whether two variables were moved along one line only."""
    first, second = (rows[name] for name in pair)
    if min(float(np.std(first)), float(np.std(second))) == 0.0 or len(first) < 5:
        return Unmoved()
    if abs(float(np.corrcoef(first, second)[0, 1])) < TIED:
        return Unmoved()
    slope, offset = np.polyfit(first, second, 1)
    off = float(np.max(np.abs(second - slope * first - offset)))
    far = np.empty(0, dtype=np.intp)
    pool = view.pool
    if pool is not None and all(name in pool.columns for name in pair):
        line = slope * pool.columns[pair[0]] + offset
        away = np.abs(pool.columns[pair[1]] - line) > 3.0 * off + 0.05 * float(np.ptp(second))
        far = np.flatnonzero(away & _open(view, pool))
    ranges = {name: (float(rows[name].min()), float(rows[name].max())) for name in pair}
    sentence = f"{pair[0]} and {pair[1]} were moved together only"
    return Unmoved(pair, ranges, tied=pair, sentence=sentence, far=far)


def _moved(view: View) -> str:
    n = len(view.names)
    sentence = f"{n} of {count(n, 'input')} moved"
    rows = view.evidence.rows()
    shares = {
        v.name: float(np.ptp(rows[v.name])) / (v.range[1] - v.range[0])
        for v in view.evidence.grammar.variables
        if v.range is not None
    }
    if shares:
        least = min(shares, key=lambda name: shares[name])
        sentence += f"; the least, {least}, through {100 * shares[least]:.0f} % of its range"
    return f"{sentence}."
