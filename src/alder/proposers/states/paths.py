"""Where terms of a rate are compared: along a model's own solution, or along the samples."""

from typing import Any, cast

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.samples import Samples
from alder.fitting.shooting import Shot
from alder.proposers.states.model import Model, Problem, make_flow
from alder.proposers.summands.along import Along
from alder.proposers.summands.terms import MOST_ROWS

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def along_solution(model: Model, shot: Shot, problem: Problem) -> Along:
    """Follow a fitted model from sample to sample."""
    if problem.discrete:
        return _stepped(problem.columns, shot.samples, shot.solution.states)
    flow, values = make_flow(model.picks, problem)
    path, weights = _dense(shot.samples)
    followed = flow.solve(path, shot.starts, values).states
    return _followed(problem.columns, shot.samples, followed, path, weights)


def along_samples(problem: Problem) -> Along:
    """Follow the smoothed samples themselves, where no model does."""
    samples = problem.samples
    if problem.discrete:
        return _stepped(problem.columns, samples, samples.states)
    path, weights = _dense(samples)
    parts = [(samples.rows_of(s), path.rows_of(s)) for s in range(samples.n_segments)]
    followed = [_spline(samples.times[a], problem.near[a], path.times[b]) for a, b in parts]
    return _followed(problem.columns, samples, np.concatenate(followed), path, weights)


def _stepped(columns: tuple[str, ...], samples: Samples, states: FloatArray) -> Along:
    """Return steps of a map: every sample that has one before it, and that one."""
    table = np.concatenate([states, samples.inputs], axis=1)
    joint = np.ones(len(table), dtype=np.bool_)
    joint[samples.firsts[:-1]] = False
    after = np.flatnonzero(joint)
    after = after[:: -(-len(after) // MOST_ROWS) or 1]
    return Along.rows(columns, table[after - 1], samples.states[after])


def _followed(
    columns: tuple[str, ...],
    samples: Samples,
    followed: FloatArray,
    path: Samples,
    weights: FloatArray,
) -> Along:
    at_points = np.ones(len(followed), dtype=np.bool_)
    at_points[path.firsts[:-1]] = False
    table = np.concatenate([followed, path.inputs], axis=1)[at_points]
    return Along.path(columns, table, weights, samples.firsts, samples.states)


def _dense(samples: Samples) -> tuple[Samples, FloatArray]:
    """Return the points of quadrature as samples without states, and their weights."""
    dense = [_between(samples, s) for s in range(samples.n_segments)]
    path = Samples.of(
        [(t, np.zeros((len(t), samples.n_states))) for t, _, _ in dense],
        [inputs for _, inputs, _ in dense],
    )
    return path, np.concatenate([weights for _, _, weights in dense])


def _spline(t: FloatArray, x: FloatArray, at: FloatArray) -> FloatArray:
    from scipy.interpolate import CubicSpline  # pyright: ignore[reportMissingTypeStubs]

    return np.asarray(cast("Any", CubicSpline)(t, x)(at), dtype=np.float64)


def _between(samples: Samples, segment: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the first time of a segment and the points of quadrature after it.

    With the inputs there, and the weights of the points of every interval.
    """
    part = samples.rows_of(segment)
    t = samples.times[part]
    half = np.diff(t) / 2.0
    points = ((t[:-1] + half)[:, None] + half[:, None] * _POINTS).ravel()
    inputs = np.repeat(samples.inputs[part][:-1], len(_POINTS), axis=0)
    return (
        np.concatenate([t[:1], points]),
        np.concatenate([samples.inputs[part][:1], inputs]),
        half[:, None] * _WEIGHTS,
    )
