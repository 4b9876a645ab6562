r"""Find the terms of a system from sampled states alone.

First each rate is regressed on a library in weak form, which needs no derivative. Then the choice
is made again along solutions of the model itself: the sensitivities of a solution by *every*
coefficient of the library, zero ones included, are the columns of a regression of the samples,
whose noise is white. That regression is what the likelihood says to first order, so terms that
smoothing made up are dropped and terms it hid are found. The chosen terms are fitted by shooting,
and the whole is repeated while the description gets shorter.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.constrained import project
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.fitting.shooting import Shot, shoot, shoot_growing, without_starts
from alder.fitting.smoothing import Smooth
from alder.fitting.subsets import Normal, Subset, choose, least_squares, solve
from alder.fitting.weakform import weak_rows
from alder.proposers.states.constraints import allowed, keeping, kept_rows
from alder.proposers.states.model import (
    Model,
    Pick,
    Problem,
    make_flow,
    mixture,
    structures,
    with_fitted,
)
from alder.proposers.summands.alternatives import MOST_TERMS
from alder.proposers.summands.terms import Library

_ROUNDS = 8
_LEAST_GAIN = 1e-3
_SIMPLE = 2  # the level whose terms say what the noise of a step is
_FOLLOWED = 10.0  # times the span of the samples
_SURPRISE = 2.0 * np.log(1000.0)  # one in a thousand laws of nature does so


def weak_picks(problem: Problem, smooth: Smooth, library: Library, level: int) -> tuple[Pick, ...]:
    """Choose terms for every state by regression in weak form, up to a level of the library."""
    columns, sides = regression_rows(problem, smooth, library)
    return _regressed(problem, library, level, columns, sides, problem.sigma[None, :])


def regression_rows(
    problem: Problem, smooth: Smooth, library: Library
) -> tuple[FloatArray, FloatArray]:
    """Return columns and left-hand sides: the weak form, or one step where time is discrete."""
    if problem.discrete:
        return step_rows(problem.samples, library)
    rows = weak_rows(problem.samples, smooth, library.values)
    return rows.columns, rows.sides


def step_rows(samples: Samples, library: Library) -> tuple[FloatArray, FloatArray]:
    """Return the library at every sample that has a next one, and the next states."""
    table = np.concatenate([samples.states, samples.inputs], axis=1)
    is_last = np.zeros(len(table), dtype=np.bool_)
    is_last[samples.firsts[1:] - 1] = True
    before = np.flatnonzero(~is_last)
    return library.values(table[before]), samples.states[before + 1]


def step_noise(samples: Samples, library: Library) -> FloatArray:
    """Estimate the noise of a discrete system from what its simple terms leave of one step.

    Noise of a sample is in the step to it and in the step from it.
    """
    columns, sides = step_rows(samples, library)
    simple = columns[:, library.up_to(_SIMPLE)]
    scale = np.maximum(np.abs(simple).max(axis=0), 1e-300)
    rest = sides - (simple / scale) @ least_squares(simple / scale, sides)
    n_free = max(len(sides) - simple.shape[1], 1)
    size = np.sqrt(np.mean(np.square(sides), axis=0))
    return np.maximum(np.sqrt(np.square(rest).sum(axis=0) / n_free / 2.0), 1e-9 * size + 1e-300)


def misfit(problem: Problem, smooth: Smooth, library: Library, level: int) -> float:
    """Return how long the rates are described in regression, all states together, for each row."""
    columns, sides = regression_rows(problem, smooth, library)
    costs = costs_of(problem, library)
    total = 0.0
    for state in range(problem.samples.n_states):
        if state not in problem.known:
            error = problem.sigma[state]
            normal = Normal.of(columns / error, sides[:, state] / error)
            total += _nested(normal, costs[state], library, level).length / len(sides)
    return total


def slope_picks(problem: Problem, smooth: Smooth, library: Library, level: int) -> tuple[Pick, ...]:
    """Choose terms for every state by regression of smoothed rates, with their errors."""
    table = np.concatenate([smooth.values(), problem.samples.inputs], axis=1)
    return _regressed(
        problem, library, level, library.values(table), smooth.slopes(), smooth.slope_errors()
    )


def _regressed(
    problem: Problem,
    library: Library,
    level: int,
    columns: FloatArray,
    sides: FloatArray,
    errors: FloatArray,
) -> tuple[Pick, ...]:
    costs = costs_of(problem, library)
    picks: list[Pick] = []
    for state in range(problem.samples.n_states):
        if state in problem.known:
            continue
        error = np.broadcast_to(errors, sides.shape)[:, state]
        normal = Normal.of(columns / error[:, None], sides[:, state] / error)
        found = _nested(normal, costs[state], library, level)
        picks += [
            Pick(state, library.terms[place], float(value))
            for place, value in zip(found.columns, found.coefficients, strict=True)
        ]
    return tuple(picks)


def costs_of(problem: Problem, library: Library) -> FloatArray:
    """Return what each term costs in each rate, (states, terms); infinite where it may not be."""
    costs = library.costs(problem.samples.states.size)
    return np.where(allowed(problem, library), costs, np.inf)


def _nested(normal: Normal, costs: FloatArray, library: Library, level: int) -> Subset:
    """Search level by level, each from where the one below ended; keep the shortest."""
    best = solve(normal, (), costs)
    start: Sequence[int] = ()
    for top in [each for each in library.levels if each <= level]:
        barred = np.ones(len(costs), dtype=np.bool_)
        barred[library.up_to(top)] = False
        within = np.where(barred, np.inf, costs)
        found = choose(normal, within, start, most=MOST_TERMS)
        start = found.columns
        if found.length < best.length:
            best = found
    return best


def polish(
    picks: Sequence[Pick],
    problem: Problem,
    library: Library,
    beside: Shot | None = None,
    worth: float = np.inf,
) -> Model:
    """Fit all numbers of a model by shooting, and say how long its description is.

    `beside` is the fit of a system that moves alike: then its pieces and starts serve, and the fit
    is given up where a description shorter than `worth` is not in sight.
    """
    flow, values = make_flow(picks, problem)
    if beside is None:
        shot = shoot_growing(flow, problem.samples, values, problem.near, problem.sigma)
    else:
        enough = worth - _apart_from_chi2(picks, beside, problem, library)
        shot = shoot(flow, beside.samples, values, beside.starts, problem.sigma, enough)
        if shot.chi2 > enough:
            return Model(with_fitted(picks, flow, shot.values), shot)
    if problem.conserved:
        kept = project(
            flow, shot, problem.sigma, keeping(problem, structures(picks, problem)[0], flow)
        )
        if not kept.sound:
            return Model(with_fitted(picks, flow, shot.values), shot)
        shot = kept
    fitted = with_fitted(picks, flow, shot.values)
    return Model(fitted, shot, _length(fitted, flow, shot, problem, library))


def refine(picks: Sequence[Pick], problem: Problem, library: Library, level: int) -> Model:
    """Improve a model along its own solutions until its description gets no shorter."""
    best = polish(picks, problem, library)
    for _ in range(_ROUNDS):
        shot = best.shot
        if shot is None or not shot.sound:
            return best
        again = _chosen_along(best, shot, problem, library, level)
        if again is None:
            return best
        if shot.samples.n_segments == problem.samples.n_segments:
            problem = replace(problem, near=shot.solution.states)
        found = polish(again, problem, library)
        if not found.length < best.length - _LEAST_GAIN:
            return best
        best = found
    return best


def _chosen_along(
    model: Model, shot: Shot, problem: Problem, library: Library, level: int
) -> tuple[Pick, ...] | None:
    """Choose all terms again from the sensitivities along the model's solutions."""
    n_states = problem.samples.n_states
    usable = Library(library.columns, tuple(t for t in library.terms if t.level <= level))
    whole, mix = mixture(model.picks, usable, n_states)
    seen, r = _sensitivity_rows(whole, mix, problem, shot)
    if not np.isfinite(seen).all():
        return None
    asked, sides = kept_rows(problem, whole, mix)
    X = np.concatenate([seen, asked])
    y = np.concatenate([r + seen @ mix.ravel(), sides])
    costs = costs_of(problem, whole).ravel()
    n_terms = len(whole.terms)
    for state in problem.known:
        costs[state * n_terms : (state + 1) * n_terms] = np.inf
    now = np.flatnonzero(mix.ravel()).tolist()
    found = choose(Normal.of(X, y), costs, now, most=MOST_TERMS * n_states)
    if set(found.columns) == set(now):
        return None
    return tuple(
        Pick(place // n_terms, whole.terms[place % n_terms], float(value))
        for place, value in sorted(zip(found.columns, found.coefficients, strict=True))
    )


def _sensitivity_rows(
    library: Library, mix: FloatArray, problem: Problem, shot: Shot
) -> tuple[FloatArray, FloatArray]:
    """Return white rows of residuals and their derivatives by all coefficients, starts removed."""
    flow = _library_flow(library, mix, problem)
    solution = flow.solve(shot.samples, shot.starts, np.zeros(0), sensitivities=True)
    J = solution.sensitivities / problem.sigma[:, None]
    r = (shot.samples.states - solution.states) / problem.sigma
    by_terms, rest = without_starts(J, shot.samples, r)
    return by_terms, rest


def _library_flow(library: Library, mix: FloatArray, problem: Problem) -> Flow:
    """Return the library as a flow; known rates take part, without a coefficient to be found."""
    n_states = len(mix)
    exprs = [term.literal() for term in library.terms]
    flow = Flow.library(exprs, problem.columns, n_states, discrete=problem.discrete)
    if not problem.known:
        return flow.mixed(mix)
    known = [problem.known.get(i) for i in range(n_states)]
    given = [rate if rate is not None else exprs[0] for rate in known]
    wide = np.concatenate([mix, np.diag([float(rate is not None) for rate in known])], axis=1)
    whole = Flow.library([*exprs, *given], problem.columns, n_states, discrete=problem.discrete)
    return replace(whole, mix=np.ascontiguousarray(wide), active=flow.active)


def _length(
    picks: Sequence[Pick], flow: Flow, shot: Shot, problem: Problem, library: Library
) -> float:
    """Return chi2 plus what the terms cost; pieces cost a start for each joint they lack.

    A system that runs away soon after the samples end, though they do not, has that to explain. So
    has every number that the samples leave open altogether: there is a law without it.
    """
    surprises = int(shot.sound and runs_away(flow, shot, problem))
    surprises += int((~np.isfinite(np.diag(shot.covariance))).sum()) if shot.sound else 0
    return shot.chi2 + _apart_from_chi2(picks, shot, problem, library) + surprises * _SURPRISE


def _apart_from_chi2(
    picks: Sequence[Pick], shot: Shot, problem: Problem, library: Library
) -> float:
    joints = shot.samples.n_segments - problem.samples.n_segments
    per_start = problem.samples.n_states * np.log(problem.samples.states.size)
    return terms_length(picks, problem, library) + float(joints * per_start)


def terms_length(picks: Sequence[Pick], problem: Problem, library: Library) -> float:
    """Return what the terms of a model cost."""
    every, n_rows = _whole(library), problem.samples.states.size
    tie = tie_cost(len(picks))
    return float(sum(every.price(p.term, n_rows) if p.tied is None else tie for p in picks))


@lru_cache(maxsize=16)  # a library is the same object throughout a search
def _whole(library: Library) -> Library:
    return library.finer(library.top)


def tie_cost(n_picks: int) -> float:
    """Return what it costs to say which summand another shares its numbers with, and the sign."""
    return float(np.log(2.0 * max(n_picks, 1)))


def runs_away(flow: Flow, shot: Shot, problem: Problem) -> bool:
    """Say whether a solution from a start of the samples ends within ten times their span."""
    if problem.discrete or problem.samples.inputs.shape[1]:
        return False
    samples = shot.samples
    longest = max(
        float(np.ptp(samples.times[samples.rows_of(s)])) for s in range(samples.n_segments)
    )
    t = np.linspace(0.0, _FOLLOWED * longest, 61)
    blank = np.zeros((len(t), problem.samples.n_states))
    ahead = Samples.of([(t, blank) for _ in range(samples.n_segments)])
    reached = flow.solve(ahead, shot.starts, shot.values, tolerance=1e-4).reached
    return bool((reached < len(t)).any())
