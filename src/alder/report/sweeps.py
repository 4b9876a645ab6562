"""The input along which rivals part at an experiment, and their curves over it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.records.evidence import Candidate
from alder.report.measure import Yardstick
from alder.report.story import Story

_N_POINTS = 61
# Curves beyond this many cannot be told apart by eye.
MOST_CURVES = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """One input varied while the others stay: what each candidate says, with one sd.

    `initial` is the range of the first rows.
    """

    along: str
    x: FloatArray
    candidates: tuple[Candidate, ...]
    said: FloatArray
    sd: FloatArray
    initial: tuple[float, float]
    parting: float


def sweep(
    story: Story,
    candidates: Sequence[Candidate],
    at: dict[str, float],
    unit: Yardstick,
    *,
    wider: float = 0.0,
) -> Sweep | None:
    """Return the sweep along the input that parts the candidates most, compared with the shade.

    The parting is the widest distance between two curves, in noise sd. With `wider` the sweep
    leaves the rows by that share of their range on both sides, and the widest parting decides.
    There is none where targets are sums over rows.
    """
    shown = tuple(candidates[:MOST_CURVES])
    if not shown or unit.sums is not None:  # a curve is of one row, and what was seen is a sum
        return None
    ends = {v.name: _ends(story, v.name, at, wider) for v in unit.variables}
    moving = [
        _along(story, shown, at, unit, _points(*ends[v.name]), v.name)
        for v in unit.variables
        if ends[v.name][1] > ends[v.name][0]
    ]
    if wider:
        return max(moving, key=lambda s: s.parting, default=None)
    return max(moving, key=lambda s: _contrast(s, at), default=None)


def _points(low: float, high: float) -> FloatArray:
    return np.linspace(low, high, _N_POINTS)


def _ends(story: Story, name: str, at: dict[str, float], wider: float) -> tuple[float, float]:
    rows = story.evidence.rows()[name]
    low, high = min(float(rows.min()), at[name]), max(float(rows.max()), at[name])
    room = wider * (high - low)
    # What is positive in all rows may have to be: a mass, a distance.
    return max(low - room, low / 2.0) if low > 0.0 < room else low - room, high + room


def _contrast(found: Sweep, at: dict[str, float]) -> float:
    """How much further the curves part at the experiment than inside the range of first rows."""
    distance: FloatArray = np.ptp(found.said, axis=0)
    inside = (found.x >= found.initial[0]) & (found.x <= found.initial[1])
    here = float(np.interp(at[found.along], found.x, distance))
    known = float(np.median(distance[inside])) if inside.any() else 0.0
    return here - known + 1e-3 * float(distance.max())


def _along(
    story: Story,
    candidates: tuple[Candidate, ...],
    at: dict[str, float],
    unit: Yardstick,
    x: FloatArray,
    name: str,
) -> Sweep:
    first = story.evidence.initial.columns[name]
    columns: dict[str, FloatArray] = {v: np.full(len(x), value) for v, value in at.items()}
    columns[name] = x
    said = np.array([unit.predict(c.law, columns) for c in candidates])
    sd = np.array([unit.half_width(c.law, columns) for c in candidates])
    noise = unit.noise_at(said[0], columns)
    parting = float(np.max(np.ptp(said, axis=0) / noise))
    ends = float(first.min()), float(first.max())
    return Sweep(name, x, candidates, said, sd, ends, parting)
