"""Several actions at once: bounded least squares on what the target is missed by."""

from collections.abc import Iterator

import numpy as np

from alder.arrays import FloatArray
from alder.control.problem import Inversion, excesses, missed
from alder.control.trials import Trial, Trials

# Errors count in tolerances; a limit broken by its own width counts as so many of them.
_STERN = 1e4
# What no solver should look at twice: large, and its square is still a number.
_LARGEST = 1e12
# Shares of the bounds by which actions are moved to see what they do.
_STEP = 1e-4
# A descent that gains less than this share of its sum of squares has ended.
_SLOW = 1e-6
_MOST_STARTS = 16


class _Stop(Exception):
    """Ends scipy's solver from inside: the target is met, or no question is left."""


def descend(trials: Trials, horizon: float, share: int) -> Iterator[Trial]:
    """Yield actions whose prediction meets the target, with at most `share` further questions.

    Starts are the actions to begin with, or the middle of the bounds, then places that fill the
    bounds evenly, as long as there are questions. Actions live on [1, 2], where the step of the
    differences is the same share of every bound.
    """
    from scipy.optimize import least_squares  # pyright: ignore[reportMissingTypeStubs]

    problem, until = trials.problem, trials.spent + share
    low, width = _box(problem)
    found: list[Trial] = []

    def residuals(x: FloatArray) -> FloatArray:
        if trials.left <= 0 or trials.spent >= until:
            raise _Stop
        trial = trials.ask(low + width * (x - 1.0), horizon)
        broken = excesses(trial.prediction, problem)
        if trial.misses <= 1.0 and not problem.along and not broken.any():
            found.append(trial)
            raise _Stop
        numbers = np.concatenate([missed(trial.prediction, problem), _STERN * broken])
        return np.clip(np.nan_to_num(numbers, nan=_LARGEST), -_LARGEST, _LARGEST)

    for start in _starts(problem):
        try:
            least_squares(
                residuals,
                1.0 + start,
                bounds=(1.0, 2.0),
                method="dogbox",
                diff_step=_STEP,
                ftol=_SLOW,
            )
        except _Stop:
            yield from found
            found.clear()
        if trials.left <= 0 or trials.spent >= until:
            return


def _box(problem: Inversion) -> tuple[FloatArray, FloatArray]:
    """Return the lower ends and the widths of all moves, one after the other."""
    ends = np.tile(np.array(list(problem.bounds.values())), (problem.moves, 1))
    return ends[:, 0], ends[:, 1] - ends[:, 0]


def _starts(problem: Inversion) -> Iterator[FloatArray]:
    """Yield places to begin, as shares of the bounds.

    The later ones are multiples of powers of the root of $x^{d+1} = x + 1$, which fill a box of
    $d$ dimensions evenly. (Roberts 2018.)
    """
    low, width = _box(problem)
    if problem.begin is not None:
        yield np.clip((np.ravel(problem.begin) - low) / width, 0.0, 1.0)
        if problem.along:
            return  # the next question comes soon, and begins here again
    d = len(low)
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (d + 1))
    steps = root ** -np.arange(1.0, d + 1.0)
    for k in range(_MOST_STARTS):
        yield (0.5 + k * steps) % 1.0
