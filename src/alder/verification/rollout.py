r"""Does a law of rates, followed in time, stay where protected trajectories stay?

Recorded rows enter as starts, as inputs and as a scale; outcomes take no part, so that the answer
reveals nothing about them.
"""

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.records.law import Law
from alder.records.motion import Motion

# A path that leaves the recorded range by this factor has diverged; one that is merely wrong has
# not, and is the business of other criteria.
_FAR = 1e3
# Trajectories followed, and values of the law for all of them: a bound on the work, whatever the
# law. A solution that would take more is not decided, and so not blamed.
_TRAJECTORIES, _VALUES = 16, 10_000
_TOLERANCE = 1e-6
# The share of the range by which states are moved to find how fast errors grow.
_NUDGE = 1e-4


def diverges(
    law: Law, rows: Mapping[str, FloatArray], motion: Motion, time: str, group: str | None = None
) -> bool:
    r"""Say whether the law leaves the range of its protected trajectories for good.

    The law is solved from the first row of each; variables whose rate is not known are read from
    its rows. With inputs among them the recording may have been held in place by feedback that
    acts on the plant but not on the solution, so errors may grow at the rate $\lambda$ they have
    within the range without being the law's fault: the solution is then followed for
    $\ln(10^3)/\lambda$ only, in which an error of the size of the range just reaches the limit.
    What grows faster than that, a blow-up in finite time above all, still shows.
    """
    if not law.variables:
        return False
    runs = list(trajectories(rows[time], None if group is None else rows[group]))
    evenly = np.linspace(0, len(runs) - 1, min(_TRAJECTORIES, len(runs)))
    chosen = [runs[int(place)] for place in evenly]
    follow = _Follow(law, rows, _moved(law, motion), _VALUES // max(len(chosen), 1))
    return any(follow.escapes(rows[time][run], run) for run in chosen)


def trajectories(time: FloatArray, group: FloatArray | None) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of each trajectory: one group, while the time goes up."""
    groups = np.zeros(len(time)) if group is None else group
    for label in dict.fromkeys(groups.tolist()):
        rows = np.flatnonzero(groups == label)
        for run in np.split(rows, 1 + np.flatnonzero(np.diff(time[rows]) <= 0.0)):
            if len(run) > 1:
                yield run


def _moved(law: Law, motion: Motion) -> dict[str, str]:
    """Return the variables that are solved for with their rates; "" stands for the law itself."""
    used = {variable.name for variable in law.variables}
    kinematic = {name: rate for name, rate in motion.kinematics.items() if name in used}
    return {motion.state: "", **kinematic}


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Follow:
    """A law ready to be solved from any row."""

    law: Law
    rows: Mapping[str, FloatArray]
    moved: Mapping[str, str]
    n_values: int

    def escapes(self, times: FloatArray, run: NDArray[np.intp]) -> bool:
        """Solve along one trajectory; say whether the solution leaves the range far behind."""
        from scipy.integrate import LSODA  # pyright: ignore[reportMissingTypeStubs]

        middle, width = self._range()
        start = np.array([self.rows[name][run[0]] for name in self.moved])
        end = min(float(times[-1]), float(times[0]) + self._window(run, width))
        options: dict[str, Any] = {"rtol": _TOLERANCE, "atol": 1e-9 * width}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # LSODA warns where it gives up; the path ends there
            solver = cast("Any", LSODA(self._slope(times, run), times[0], start, end, **options))
            while solver.status == "running" and solver.nfev < self.n_values:
                solver.step()
                if not bool((np.abs(solver.y - middle) <= _FAR * width).all()):
                    return True
        return False

    def _range(self) -> tuple[FloatArray, FloatArray]:
        ends = [(self.rows[n].min(), self.rows[n].max()) for n in self.moved]
        low, high = np.array(ends).T
        scale = np.maximum(np.abs(low), np.abs(high))
        return (low + high) / 2.0, np.maximum((high - low) / 2.0, 1e-6 * scale + 1e-300)

    def _slope(self, times: FloatArray, run: NDArray[np.intp]) -> Any:  # noqa: ANN401 (for scipy)
        names = [v.name for v in self.law.variables]
        read = {
            n: self.rows[n][run]
            for n in (*names, *self.moved.values())
            if n and n not in self.moved
        }

        def slope(t: float, state: FloatArray) -> FloatArray:
            point = {name: np.interp(t, times, column) for name, column in read.items()}
            point |= dict(zip(self.moved, state.tolist(), strict=True))
            columns = {name: np.array([float(point[name])]) for name in names}
            rate = evaluate(self.law.structure, columns, self.law.values, self.law.floors)
            own = float(np.clip(rate[0], -1e200, 1e200))
            return np.array([own if not r else float(point[r]) for r in self.moved.values()])

        return slope

    def _window(self, run: NDArray[np.intp], width: FloatArray) -> float:
        """Return for how long the law is followed: for ever where nothing acts from outside."""
        inputs = [v.name for v in self.law.variables if v.name not in self.moved]
        if all(np.ptp(self.rows[name][run]) == 0.0 for name in inputs):
            return math.inf
        growth = self._growth(run, width)
        return math.log(_FAR) / growth if growth > 0.0 else math.inf

    def _growth(self, run: NDArray[np.intp], width: FloatArray) -> float:
        """Return the fastest rate at which a small error grows on the rows of a trajectory."""
        names = list(self.moved)
        columns = {v.name: self.rows[v.name][run] for v in self.law.variables}
        J = np.zeros((len(run), len(names), len(names)))
        for j, name in enumerate(names):
            step = _NUDGE * width[j]
            sides = [
                evaluate(
                    self.law.structure,
                    {**columns, name: self.rows[name][run] + sign * step},
                    self.law.values,
                    self.law.floors,
                )
                for sign in (1.0, -1.0)
            ]
            J[:, 0, j] = np.clip((sides[0] - sides[1]) / (2.0 * step), -1e100, 1e100)
            for i, rate in enumerate(self.moved.values()):
                if rate == name:
                    J[:, i, j] = 1.0
        return float(np.max(np.linalg.eigvals(J).real))
