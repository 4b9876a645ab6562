"""Fit one law to rows: coefficients, noise, intervals, and what is not determined."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.loosen import loosen
from alder.expr.nodes import parameters, variables
from alder.expr.operators import Floors
from alder.fitting.events import fit_events
from alder.fitting.groups import group_offsets
from alder.fitting.noise import estimate_noise
from alder.fitting.observations import Observations, observe, require_varying_target
from alder.fitting.request import (
    BoundsLike,
    Request,
    Structure,
    known_names,
    make_request,
    used_variables,
)
from alder.fitting.separable import Settings, solve
from alder.fitting.uncertainty import estimate, find_states, scale, with_units
from alder.kernel.encode import encode
from alder.kernel.search import CONVERGED, EXHAUSTED, UNSOLVABLE
from alder.records.coefficient import Loss
from alder.records.effort import THOROUGH, Effort
from alder.records.fit import Fit
from alder.records.noise import Noise
from alder.records.roles import Roles
from alder.records.scope import Scope
from alder.records.variable import Variable
from alder.tables import Rows

# Weights and noise depend on each other; they agree to a per cent after this many rounds.
_NOISE_ROUNDS = 3
# Residuals below this share of the target are rounding, not noise.
_ROUNDING = 1e-13
# Residuals beyond this come from a law that saturates, and their squares would overflow.
_HUGE = 1e150
_REASONS = {
    CONVERGED: "converged",
    EXHAUSTED: "stopped at the iteration limit; raise `iterations` in the effort",
    UNSOLVABLE: "no start gave a finite fit; narrow the bounds",
}
_STALLED = "stalled: no step lowers the error any more, though it is not flat"


def fit(  # noqa: PLR0913 (a user's whole request in one call)
    structure: Structure,
    rows: Rows,
    *,
    target: str | Variable,
    variables: Sequence[Variable] | None = None,
    bounds: BoundsLike | None = None,
    fixed: Mapping[str, float] | None = None,
    sigma: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    sums: str | None = None,
    noise: Noise | None = None,
    objective: Loss = "squared",
    effort: Effort = THOROUGH,
    floors: Floors | None = None,
) -> Fit:
    """Fit the coefficients of one structure.

    `structure` is human syntax, a tree or a proposal; in human syntax the columns of `rows` are
    variables and every other name is a coefficient. `sigma`, `weight` and `group` name columns:
    error bars, relative weights, and groups of rows with an offset of their own. `sums` names the
    column that says which observation a row belongs to, where the target, repeated on each of its
    rows, is the sum of the law over them. `bounds` are (lower, upper) pairs, `fixed` holds
    coefficients at a value. Without error bars the noise is estimated, additive plus
    proportional, unless `noise` gives it.

    >>> import numpy as np
    >>> r = np.linspace(1.0, 3.0, 20)
    >>> found = fit("k*r^p", {"r": r, "a": 2.0 * r**-1.5}, target="a")
    >>> round(found.values["k"], 6), round(found.values["p"], 6)
    (2.0, -1.5)
    """
    goal = target if isinstance(target, Variable) else Variable(target)
    roles = Roles(sigma, weight, group, sums=sums)
    names = known_names(rows, goal.name, roles.names, variables)
    request = make_request(structure, names, bounds, fixed)
    observations = observe(rows, goal.name, _columns_of(request), roles)
    if objective == "events":
        return fit_events(request, observations, goal, variables, effort, floors or Floors())
    require_varying_target(observations, goal.name)
    given = None if noise is None else replace(noise, origin="given")
    task = FitTask(request, observations, goal, variables, floors or Floors(), given)
    return fit_squared(task, effort)


@final
@dataclass(frozen=True, slots=True, eq=False)
class FitTask:
    """A request over its rows."""

    request: Request
    observations: Observations
    target: Variable
    declared: Sequence[Variable] | None
    floors: Floors
    noise: Noise | None


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Coefficients, the weights they were found with, and how the search ended."""

    values: Mapping[str, float]
    weights: FloatArray
    code: int


def fit_squared(task: FitTask, effort: Effort) -> Fit:
    """Fit by least squares; weights follow the noise where the noise grows with the value."""
    observations = task.observations
    solved = _solve(task, observations.weights(), effort)
    if len(observations.sigma):
        return assemble(task, solved)
    nominal = len(parameters(task.request.structure)) - len(task.request.fixed)
    residual_df = observations.n_observations - nominal - max(len(observations.groups) - 1, 0)
    for _ in range(_NOISE_ROUNDS):
        noise = task.noise or _noise_of(task, solved, residual_df)
        variances: FloatArray = np.square(noise.sigma(_predict(task, solved.values)))
        if noise.proportional == 0.0 or not variances.min() > 0.0:
            break
        weights = observations.weights() * float(np.mean(variances)) / variances
        solved = _solve(task, weights, effort)
    return assemble(task, solved)


def assemble(task: FitTask, solved: Solved) -> Fit:
    """Add to coefficients everything a fit carries."""
    request, observations = task.request, task.observations
    names = parameters(request.structure)
    states = find_states(names, solved.values, request.bounds, request.fixed)
    weights, n_groups = solved.weights, len(observations.groups)
    loose, moved = loosen(request.structure, request.exponents)
    estimates = estimate(
        loose, {**solved.values, **dict.fromkeys(moved, 0.0)}, observations, weights,
        states={**states, **dict.fromkeys(moved, "free")}, floors=task.floors,
    ).ordered((*names, *moved))  # fmt: skip
    residuals, offsets = _residuals(task, solved)
    n_free = estimates.n_free + max(n_groups - 1, 0)
    residual_df = max(observations.n_observations - n_free, 0)
    with np.errstate(over="ignore"):
        chi2 = min(float(np.sum(weights * np.square(residuals))), _HUGE**2)
    if len(observations.sigma):
        noise = Noise(float(np.median(observations.sigma)), origin="given")
        estimates = scale(estimates, 1.0, math.inf)
    elif task.noise is not None:
        noise = task.noise
        variance = float(np.mean(np.square(noise.sigma(_predict(task, solved.values)))))
        estimates = scale(estimates, variance, math.inf)
    else:
        noise = _noise_of(task, solved, residual_df)
        estimates = scale(estimates, chi2 / max(residual_df, 1), residual_df)
    if n_groups:
        between = float(np.std(offsets, ddof=1)) if n_groups > 1 else 0.0
        noise = replace(noise, between=min(between, _HUGE), n_groups=n_groups)
    return Fit(
        structure=request.structure,
        target=task.target,
        variables=used_variables(request.structure, task.declared),
        coefficients=with_units(
            estimates.coefficients[: len(names)],
            request.structure,
            used_variables(request.structure, task.declared),
            task.target,
        ),
        covariance=estimates.covariance,
        noise=noise,
        loss=chi2 / observations.n_observations,
        nmse=_nmse(residuals, observations.target, weights),
        n_rows=observations.n_rows,
        residual_df=residual_df,
        converged=solved.code == CONVERGED,
        reason=_REASONS.get(solved.code, _STALLED),
        undetermined=estimates.determination.sentences,
        condition=estimates.determination.condition,
        scope=Scope.of(dict(zip(observations.names, observations.columns, strict=True))),
        floors=task.floors,
        offsets=dict(zip(observations.groups, map(float, offsets), strict=True)),
        exponents=request.exponents,
    )


def _columns_of(request: Request) -> tuple[str, ...]:
    return variables(request.structure)


def _solve(task: FitTask, weights: FloatArray, effort: Effort) -> Solved:
    request = task.request
    batch = encode([request.structure], task.observations.names, request.fixed)
    settings = Settings(effort, task.floors)
    solutions = solve(batch, task.observations, weights, [request.bounds], settings)
    values = {**request.fixed, **solutions.of(0)}
    return Solved(values, weights, int(solutions.reports[0, 1]))


def _predict(task: FitTask, values: Mapping[str, float]) -> FloatArray:
    """Return what the law says of each observation."""
    rows = task.observations
    said = evaluate(task.request.structure, rows.by_name, values, task.floors)
    return rows.segments.total(said)


def _residuals(task: FitTask, solved: Solved) -> tuple[FloatArray, FloatArray]:
    """Return residuals after group offsets, and the offsets."""
    observations = task.observations
    raw = observations.target - _predict(task, solved.values)
    offsets = group_offsets(raw, solved.weights, observations.group, len(observations.groups))
    return (raw - offsets[observations.group] if len(offsets) else raw), offsets


def _noise_of(task: FitTask, solved: Solved, residual_df: int) -> Noise:
    """Estimate the noise from what the law leaves unexplained."""
    observations = task.observations
    residuals, _ = _residuals(task, solved)
    largest = float(np.max(np.abs(residuals)))
    if largest > _HUGE:
        return Noise(_HUGE, origin="none")
    if largest <= _ROUNDING * float(np.max(np.abs(observations.target))):
        return Noise(float(np.sqrt(np.mean(np.square(residuals)))))
    roots = np.sqrt(observations.weights())
    return estimate_noise(residuals * roots, _predict(task, solved.values), residual_df)


def _nmse(residuals: FloatArray, target: FloatArray, weights: FloatArray) -> float:
    mean = float(np.sum(weights * target) / np.sum(weights))
    with np.errstate(over="ignore"):
        unexplained = float(np.sum(weights * np.square(residuals)))
    return unexplained / float(np.sum(weights * np.square(target - mean)))
