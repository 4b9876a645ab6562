r"""One accurate solution of $\dot x = f(t, x)$, by one rule for every system."""

import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray

Derivative: TypeAlias = Callable[[float, FloatArray], FloatArray]

# States beyond this have diverged. Their squares and the squares of sums of them stay finite.
SATURATION = 1e100
RELATIVE_TOLERANCE = 1e-10
# Relative to the largest number of the start; small enough to leave the error to the relative one.
_ABSOLUTE_SHARE = 1e-14
# Steps after which an explicit method counts as held up by stiffness, and the implicit one's own.
EXPLICIT_STEPS, IMPLICIT_STEPS = 4_000, 8_000


def solve(f: Derivative, start: FloatArray, times: FloatArray) -> FloatArray:
    """Return the states at each time, (times, states), accurate to ten digits a step.

    DOP853, and Radau where that would take more than 4,000 steps. Where the solution diverges,
    or meets a pole that no step passes, the states end: fewer rows come back than times.
    """
    states, done = _march("DOP853", f, start, times, EXPLICIT_STEPS)
    return states if done else _march("Radau", f, start, times, IMPLICIT_STEPS)[0]


def _march(
    method: str, f: Derivative, start: FloatArray, times: FloatArray, max_steps: int
) -> tuple[FloatArray, bool]:
    """Solve with one method; say whether it came to an end within its steps."""
    from scipy import integrate  # pyright: ignore[reportMissingTypeStubs]

    scale = float(np.max(np.abs(start), initial=0.0)) or 1.0
    tolerances = {"rtol": RELATIVE_TOLERANCE, "atol": _ABSOLUTE_SHARE * scale}
    states = [np.asarray(start, dtype=np.float64)]
    if len(times) < 2 or not _is_sound(states[0]):
        return np.array(states), True
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # solvers warn where they give up; the rows end there
        solver = getattr(integrate, method)(f, times[0], start, times[-1], **tolerances)
        for _ in range(max_steps):
            if solver.status != "running":
                break
            solver.step()
            if str(solver.status) == "failed" or not _is_sound(solver.y):
                return np.array(states), True
            dense = None
            while len(states) < len(times) and times[len(states)] <= solver.t:
                dense = solver.dense_output() if dense is None else dense
                states.append(np.asarray(dense(times[len(states)]), dtype=np.float64))
    return np.array(states), solver.status != "running"


def _is_sound(state: FloatArray) -> bool:
    return bool(np.all(np.abs(state) < SATURATION))
