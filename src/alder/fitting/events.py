r"""Laws for events: a score whose sign says whether something happens.

The loss is logistic and class-balanced, so that rare events count as much as common ones:

$$\ell = \frac1N \sum_n w_n \log\bigl(1 + e^{-s_n f_n}\bigr), \qquad
  w_n = \frac{N}{2 N_{\text{class}(n)}}, \quad s_n = \pm 1 .$$
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.expr.evaluate import jacobian
from alder.expr.nodes import Expr, parameters
from alder.expr.operators import Floors
from alder.fitting.observations import Observations
from alder.fitting.request import Request, used_variables
from alder.fitting.separable import Settings, kernel_rows, solve
from alder.fitting.uncertainty import Estimates, estimate, find_states, scale, with_units
from alder.kernel.encode import Batch, encode
from alder.kernel.engine import evaluate_with_jacobian
from alder.kernel.plan import Rows
from alder.kernel.starts import golden_steps, place_start
from alder.records.effort import Effort
from alder.records.fit import Fit
from alder.records.noise import Noise
from alder.records.proposal import Bounds
from alder.records.scope import Scope
from alder.records.variable import Variable

# Where the classes separate, the loss falls for ever as the score is scaled up. This ridge on the
# score's mean square stops it near a score of 15 on a typical row, where the loss is 1e-7.
_RIDGE = 1e-9
_FLAT = 1e-10
_PATIENCE = 12


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """Scores of one structure, and their derivatives by its free parameters."""

    batch: Batch
    rows: Rows

    def __call__(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return scores (n) and derivatives (n, p)."""
        values, jacobian = evaluate_with_jacobian(self.batch, point, self.rows)
        return values, jacobian.T


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Descent:
    """Where a descent ended."""

    point: FloatArray
    loss: float
    converged: bool


def fit_events(
    request: Request,
    observations: Observations,
    target: Variable,
    declared: Sequence[Variable] | None,
    effort: Effort,
    floors: Floors,
) -> Fit:
    """Fit a score to rows whose target is 0 or 1.

    Descents start from the least-squares fit to the labels, which is near the answer for most
    structures, and from a fixed set of points inside the bounds. `loss` is the mean logistic loss
    and `nmse` its share of what tossing a coin would lose.
    """
    if len(observations.sigma) or observations.groups or observations.segments.summed:
        raise BadTable("A law of events takes weights, but no error bars, no groups and no sums.")
    signs, weights = _labels(observations, target.name)
    batch = encode([request.structure], observations.names, request.fixed)
    names = batch.parameters[0]
    order = np.arange(observations.n_rows)
    scores = _Scores(batch, kernel_rows(observations, np.ones(len(signs)), floors, order))
    bounds = [request.bounds.get(name, Bounds()) for name in names]
    lower = np.array([pair.lower for pair in bounds])
    upper = np.array([pair.upper for pair in bounds])
    starts = [_least_squares(request, observations, signs, weights, floors, effort)]
    starts += _spread(lower, upper, effort.starts)
    descents = [
        _descend(scores, signs, weights, start, lower, upper, effort.iterations) for start in starts
    ]
    best = min(descents, key=lambda descent: descent.loss)
    found = dict(zip(names, map(float, best.point), strict=True))
    values = {**request.fixed, **found}
    return _assemble(request, observations, target, declared, values, best, scores, floors)


def _labels(observations: Observations, name: str) -> tuple[FloatArray, FloatArray]:
    """Return labels as -1 and 1, and weights that give both classes the same say."""
    y = observations.target
    odd = y[(y != 0.0) & (y != 1.0)]
    if len(odd):
        raise BadTable(f"An event is 0 or 1; `{name}` holds {odd[0]:g}.")
    n_yes = int(y.sum())
    if n_yes in (0, len(y)):
        raise BadTable(f"`{name}` is {y[0]:g} in every row; both outcomes must occur.")
    shares = np.where(y == 1.0, n_yes, len(y) - n_yes)
    weights = len(y) / (2.0 * shares)
    if len(observations.weight):
        weights = weights * observations.weight / observations.weight.mean()
    return np.where(y == 1.0, 1.0, -1.0), weights


def _least_squares(
    request: Request,
    observations: Observations,
    signs: FloatArray,
    weights: FloatArray,
    floors: Floors,
    effort: Effort,
) -> FloatArray:
    labelled = replace(observations, target=2.0 * signs)
    batch = encode([request.structure], observations.names, request.fixed)
    settings = Settings(effort, floors)
    solutions = solve(batch, labelled, weights, [request.bounds], settings)
    return solutions.values.copy()


def _spread(lower: FloatArray, upper: FloatArray, count: int) -> list[FloatArray]:
    p = len(lower)
    steps = golden_steps()[p, :p]
    return [
        np.array(
            [place_start((0.5 + n * steps[k]) % 1.0, lower[k], upper[k], 1.0) for k in range(p)]
        )
        for n in range(count)
    ]


def _loss(scores: FloatArray, signs: FloatArray, weights: FloatArray) -> float:
    with np.errstate(over="ignore"):
        losses = np.logaddexp(0.0, -signs * scores)
        return float(np.mean(weights * losses) + _RIDGE * np.mean(np.square(scores)))


def _descend(  # noqa: PLR0913 (mirrors the compiled descent)
    scores: _Scores,
    signs: FloatArray,
    weights: FloatArray,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    iterations: int,
) -> _Descent:
    """Levenberg-Marquardt on the logistic loss, steps cut at the bounds."""
    point = np.clip(start, lower, upper)
    values, slopes = scores(point)
    loss = _loss(values, signs, weights)
    damping, fails, n = 1e-3, 0, len(signs)
    for _ in range(4 * iterations):
        chance = 1.0 / (1.0 + np.exp(np.clip(signs * values, -500.0, 500.0)))
        slope = slopes.T @ (weights * signs * chance / n - 2.0 * _RIDGE * values / n)
        curvature = weights * chance * (1.0 - chance) / n + 2.0 * _RIDGE / n
        H = (slopes * curvature[:, None]).T @ slopes
        held = ((point <= lower) & (slope < 0.0)) | ((point >= upper) & (slope > 0.0))
        step = _solve_step(H, slope, damping, held)
        trial = np.clip(point + step, lower, upper)
        trial_values, trial_slopes = scores(trial)
        trial_loss = _loss(trial_values, signs, weights)
        if trial_loss < loss:
            gain = loss - trial_loss
            point, values, slopes, loss = trial, trial_values, trial_slopes, trial_loss
            damping, fails = max(damping * 0.2, 1e-12), 0
            if gain < _FLAT * loss:
                return _Descent(point, loss, converged=True)
        else:
            damping, fails = damping * 8.0, fails + 1
            if fails > _PATIENCE:
                return _Descent(point, loss, converged=True)
    return _Descent(point, loss, converged=False)


def _solve_step(
    H: FloatArray, slope: FloatArray, damping: float, held: NDArray[np.bool_]
) -> FloatArray:
    free = np.flatnonzero(~held & (np.diag(H) > 0.0) & np.isfinite(slope))
    step = np.zeros(len(slope))
    if not len(free):
        return step
    diagonal = np.diag(H)[free]
    roots = np.sqrt(diagonal)
    scaled = H[np.ix_(free, free)] / np.outer(roots, roots)
    scaled[np.diag_indices(len(free))] += damping + 1e-12
    if np.isfinite(scaled).all():
        step[free] = np.linalg.solve(scaled, slope[free] / roots) / roots
    return step


def _sandwich(
    estimates: Estimates,
    structure: Expr,
    values: Mapping[str, float],
    observations: Observations,
    floors: Floors,
    spread: FloatArray,
) -> Estimates:
    r"""Correct the covariance for weights that are not inverse variances: $H^{-1} G H^{-1}$.

    $G = \sum w^2 (y - p)^2 J J^T$ is what the weighted slopes really scatter (Huber 1967).
    """
    names = parameters(structure)
    _, slopes = jacobian(structure, observations.by_name, values, names, floors)
    G = (slopes * spread[:, None]).T @ slopes
    covariance = estimates.covariance @ G @ estimates.covariance
    return replace(estimates, covariance=covariance)


def _assemble(  # noqa: PLR0913 (gathers a record)
    request: Request,
    observations: Observations,
    target: Variable,
    declared: Sequence[Variable] | None,
    values: Mapping[str, float],
    best: _Descent,
    scores: _Scores,
    floors: Floors,
) -> Fit:
    structure = request.structure
    signs, weights = _labels(observations, target.name)
    found, _ = scores(best.point)
    chance = 1.0 / (1.0 + np.exp(np.clip(-found, -500.0, 500.0)))
    states = find_states(parameters(structure), values, request.bounds, request.fixed)
    curvature = weights * chance * (1.0 - chance)
    separated = bool(((found > 0.0) == (signs > 0.0)).all())
    estimates = estimate(
        structure, values, observations, np.maximum(curvature, 1e-300), states=states,
        floors=floors,
    )  # fmt: skip
    estimates = scale(_sandwich(estimates, structure, values, observations, floors,
                                weights * np.square(np.where(signs > 0.0, 1.0 - chance, chance))
                                * weights), 1.0, math.inf)  # fmt: skip
    used = used_variables(structure, declared)
    loss = float(np.mean(weights * np.logaddexp(0.0, -signs * found)))
    notes = estimates.determination.sentences
    if separated:
        notes = (*notes, "The score separates the rows without error, so its scale is not known.")
    return Fit(
        structure=structure,
        target=target,
        variables=used,
        coefficients=with_units(estimates.coefficients, structure, used, target),
        covariance=estimates.covariance,
        noise=Noise(0.0, origin="none"),
        loss=loss,
        nmse=loss / math.log(2.0),
        n_rows=observations.n_rows,
        residual_df=max(observations.n_rows - estimates.n_free, 0),
        converged=best.converged,
        reason="converged" if best.converged else "stopped at the iteration limit",
        undetermined=notes,
        condition=estimates.determination.condition,
        scope=Scope.of(dict(zip(observations.names, observations.columns, strict=True))),
        floors=floors,
        objective="events",
    )
