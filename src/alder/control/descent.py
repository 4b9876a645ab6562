"""Several actions at once: bounded least squares on what the target is missed by."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import numpy as np

from alder.arrays import FloatArray
from alder.control.problem import Inversion, missed
from alder.control.trials import Trial, Trials

# Errors count in tolerances; a limit broken by its own width counts as so many of them.
_STERN = 1e4
# What no solver should look at twice: large, and its square is still a number.
_LARGEST = 1e12
# Shares of the bounds by which actions are moved to see what they do.
_STEP = 1e-4
# A descent that gains less than this share of its sum of squares has ended.
_SLOW = 1e-6
_MOST_STARTS, _MOST_REPAIRS = 16, 4


class _Stop(Exception):
    """Ends scipy's solver from inside: the target is met, or no question is left."""


def descend(trials: Trials, horizon: float, share: int) -> Iterator[Trial]:
    """Yield actions worth judging, with at most `share` further questions to the first model.

    These are actions whose prediction meets the target; with `along`, the best that a descent has
    found. Starts are the actions to begin with, or the middle of the bounds, then places that fill
    the bounds evenly. Where another model objects to what was found, the descent goes on from
    there with limits drawn in by as much as that model went further.
    """
    until = trials.spent + share
    for start in _starts(trials.problem):
        place: FloatArray | None = start
        for _ in range(_MOST_REPAIRS):
            if place is None or trials.left <= 0 or trials.spent >= until:
                break
            before, allowed = dict(trials.margins), max((until - trials.spent) // 2, 1)
            trial = _descend_from(trials, place, horizon, trials.spent + allowed)
            if trial is None:
                break
            asked = trials.spent
            yield trial
            until += trials.spent - asked  # judging is not counted against the share
            place = _shares(trials.problem, trial.actions) if trials.margins != before else None
        if trials.left <= 0 or trials.spent >= until:
            return


def _descend_from(trials: Trials, place: FloatArray, horizon: float, until: int) -> Trial | None:
    """Follow least squares; return what meets the target, or with `along` the best there is.

    Actions live on [1, 2], where the step of the differences is the same share of every bound.
    """
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

    problem = trials.problem
    low, width = _box(problem)
    found: list[tuple[float, Trial]] = []

    def residuals(x: FloatArray) -> FloatArray:
        if trials.left <= 0 or trials.spent >= until:
            raise _Stop
        trial = trials.ask(low + width * (x - 1.0), horizon)
        broken = trials.broken(trial)
        if (problem.along or trial.misses <= 1.0) and not broken.any():
            found.append((trial.cost, trial))
            if not problem.along:
                raise _Stop
        numbers = np.concatenate([missed(trial.prediction, problem), _STERN * broken])
        return np.clip(np.nan_to_num(numbers, nan=_LARGEST), -_LARGEST, _LARGEST)

    with suppress(_Stop):
        cast("Any", optimize).least_squares(
            residuals, 1.0 + place, bounds=(1.0, 2.0), method="dogbox", diff_step=_STEP, ftol=_SLOW
        )
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _shares(problem: Inversion, actions: FloatArray) -> FloatArray:
    """Return actions as shares of their bounds."""
    low, width = _box(problem)
    return np.clip((np.ravel(actions) - low) / width, 0.0, 1.0)


def _box(problem: Inversion) -> tuple[FloatArray, FloatArray]:
    """Return the lower ends and the widths of all moves, one after the other."""
    ends = np.tile(np.array(list(problem.bounds.values())), (problem.moves, 1))
    return ends[:, 0], ends[:, 1] - ends[:, 0]


def _starts(problem: Inversion) -> Iterator[FloatArray]:
    """Yield places to begin, as shares of the bounds.

    The later ones are multiples of powers of the root of $x^{d+1} = x + 1$, which fill a box of
    $d$ dimensions evenly. (Roberts 2018.)
    """
    if problem.begin is not None:
        yield _shares(problem, problem.begin)
        if problem.along:
            return  # the next question comes soon, and begins here again
    d = len(_box(problem)[0])
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (d + 1))
    steps = root ** -np.arange(1.0, d + 1.0)
    for k in range(_MOST_STARTS):
        yield (0.5 + k * steps) % 1.0
