"""Which actions bring a world where it is wanted: forward models inverted within a budget."""

from collections.abc import Generator, Iterator, Sequence
from itertools import pairwise

import numpy as np

from alder.control.brent import brent
from alder.control.descent import descend
from alder.control.problem import Forward, Inversion
from alder.control.trials import Trial, Trials
from alder.records.plan import Plan

# Places looked at between the bounds where these do not enclose the target.
_INTERIOR = 7


def invert(models: Sequence[Forward], problem: Inversion) -> Plan:
    """Return actions that every model calls safe and that the first brings to the target.

    Horizons are tried in order, and the first at which a safe action reaches the target ends the
    search. One action for one column is found with bounded Brent; several, or several moves, with
    bounded least squares. Otherwise the closest safe action that was asked about is returned, and
    where there is none, a refusal with its reason. No more than `problem.evaluations` calls of
    models are made in all. Models beyond the first are asked about safety only.

    >>> from alder.records.plan import Prediction
    >>> def forward(actions, horizon):
    ...     return Prediction({"x": np.array([0.0, actions[0, 0] ** 3 * horizon])})
    >>> plan = invert([forward], Inversion({"x": 4.0}, {"u": (0.0, 2.0)}, horizons=(0.1, 1.0)))
    >>> plan.status, plan.horizon, round(plan.first["u"], 4)
    ('reached', 1.0, 1.5874)
    """
    trials = Trials(models, problem)
    look = _roots if problem.is_scalar else descend
    for k, horizon in enumerate(problem.horizons):
        share = trials.left // (len(problem.horizons) - k)
        for trial in look(trials, horizon, share):
            if trials.is_safe(trial):
                return trials.plan(trial)
    best = trials.closest()
    if best is not None:
        return trials.plan(best, _why_not(trials))
    return trials.refuse(f"No safe action was found: {trials.objection or 'no prediction is one'}.")


def _why_not(trials: Trials) -> str:
    """Say why the target is not reached."""
    if trials.seen and min(trial.misses for trial in trials.seen) <= 1.0:
        return f"An action that reaches the target is not safe: {trials.objection}."
    return f"No action that was tried reaches the target ({trials.spent} evaluations)."


def _roots(trials: Trials, horizon: float, share: int) -> Iterator[Trial]:
    """Yield actions whose prediction meets the target, with at most `share` further questions.

    The ends come first, then places between them as long as there is no safe root.
    """
    until = trials.spent + share
    grid: list[Trial] = []
    settled: list[float] = []  # places that a bracket has been narrowed down to
    for action in _places(*next(iter(trials.problem.bounds.values()))):
        trial = _ask(trials, action, horizon, until)
        if trial is None:
            return
        if trial.misses <= 1.0:
            yield trial
        grid = sorted([*grid, trial], key=_action)
        for a, b in pairwise(grid):
            if _encloses(a, b) and not any(_action(a) <= x <= _action(b) for x in settled):
                root = yield from _narrow(trials, a, b, until)
                settled.append(root)


def _narrow(trials: Trials, a: Trial, b: Trial, until: int) -> Generator[Trial, None, float]:
    """Follow Brent's method to a trial that meets the target, if any; return its last place."""
    looking = brent(_action(a), a.residual, _action(b), b.residual)
    place = next(looking, _action(a))
    while True:
        trial = _ask(trials, place, a.horizon, until)
        if trial is None or not np.isfinite(trial.misses):
            return place
        if trial.misses <= 1.0:
            yield trial
            return place
        try:
            place = looking.send(trial.residual)
        except StopIteration:
            return place


def _ask(trials: Trials, action: float, horizon: float, until: int) -> Trial | None:
    if trials.left <= 0 or trials.spent >= until:
        return None
    return trials.ask(np.array([[action]]), horizon)


def _action(trial: Trial) -> float:
    return float(trial.actions[0, 0])


def _places(low: float, high: float) -> Iterator[float]:
    """Yield the ends, then places that halve the gaps between them."""
    yield low
    yield high
    n = 2
    while n <= _INTERIOR + 1:
        for k in range(1, n, 2):
            yield low + (high - low) * k / n
        n *= 2


def _encloses(a: Trial, b: Trial) -> bool:
    """Say whether the target lies strictly between two predictions."""
    sound = np.isfinite(a.misses) and np.isfinite(b.misses)
    return (
        bool(sound) and min(a.misses, b.misses) > 1.0 and (a.residual < 0.0) != (b.residual < 0.0)
    )
