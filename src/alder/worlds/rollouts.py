r"""Solutions of $\dot x = f(t, x)$: one, accurately; or many at once, in fixed steps."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np

from alder.arrays import FloatArray

Derivative: TypeAlias = Callable[[float, FloatArray], FloatArray]
Columns: TypeAlias = Mapping[str, FloatArray]

# States beyond this have diverged. Their squares and the squares of sums of them stay finite.
SATURATION = 1e100
# Digits kept by the accurate solution; measurements have fewer.
_RELATIVE_TOLERANCE = 1e-9
# Steps of the many-at-once solution between two rows.
SUBSTEPS = 8


def integrate(f: Derivative, start: FloatArray, times: FloatArray, max_steps: int) -> FloatArray:
    """Solve from one start, accurately; return the states at each time, (times, states).

    LSODA, which changes to a stiff method by itself. Where the solution diverges, or more than
    `max_steps` steps would be needed, the states end there: fewer rows come back than times.
    """
    from scipy.integrate import LSODA  # pyright: ignore[reportMissingTypeStubs]

    scale = float(np.max(np.abs(start), initial=0.0)) or 1.0
    tolerances: dict[str, Any] = {"rtol": _RELATIVE_TOLERANCE, "atol": 1e-12 * scale}
    solver = cast("Any", LSODA(f, times[0], start, times[-1], **tolerances))
    states = [start]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # LSODA warns where it gives up; the rows end there
        for _ in range(max_steps):
            if len(states) == len(times) or solver.status != "running":
                break
            solver.step()
            if str(solver.status) == "failed" or not _is_sound(solver.y):
                break
            dense = solver.dense_output()
            while len(states) < len(times) and times[len(states)] <= solver.t:
                states.append(np.asarray(dense(times[len(states)]), dtype=np.float64))
    return np.array(states)


def roll_out(
    f: Callable[[float, Columns], Columns],
    start: Columns,
    times: FloatArray,
    substeps: int = SUBSTEPS,
) -> dict[str, FloatArray]:
    r"""Solve from many starts at once; return each state at each time, (starts, times).

    Runge-Kutta of fourth order, `substeps` steps between two times, so that every law costs the
    same and none can stall. A rollout that diverges is held at $\pm 10^{100}$: results are finite.
    """
    names = tuple(start)
    x = np.array([start[name] for name in names])
    path = [x]

    def slope(t: float, state: FloatArray) -> FloatArray:
        found = f(t, dict(zip(names, state, strict=True)))
        return np.array([found[name] for name in names])

    with np.errstate(all="ignore"):
        for begin, end in pairwise(times.tolist()):
            h = (end - begin) / substeps
            for k in range(substeps):
                x = _step(slope, begin + k * h, x, h)
            path.append(x)
    return {name: np.array([state[i] for state in path]).T for i, name in enumerate(names)}


def saturate(values: FloatArray) -> FloatArray:
    """Hold numbers within the saturation; what is no number counts as diverged upwards."""
    return np.clip(np.where(np.isnan(values), SATURATION, values), -SATURATION, SATURATION)


def _step(f: Derivative, t: float, x: FloatArray, h: float) -> FloatArray:
    k1 = f(t, x)
    k2 = f(t + h / 2.0, saturate(x + h / 2.0 * k1))
    k3 = f(t + h / 2.0, saturate(x + h / 2.0 * k2))
    k4 = f(t + h, saturate(x + h * k3))
    return saturate(x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))


def _is_sound(state: Sequence[float] | FloatArray) -> bool:
    return bool(np.all(np.abs(state) < SATURATION))
