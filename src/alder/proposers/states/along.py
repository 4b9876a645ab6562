r"""Terms along the solution of a fitted system, as columns of a regression of the samples.

Along a solution $\hat x(t)$ that follows the samples, a rate's coefficients obey

$$x_i(t_k) = s_i + \sum_j c_{ij} \int^{t_k} \theta_j(\hat x(t))\, dt + \varepsilon_k ,$$

with white noise and a free start for each segment. So many sets of terms can be compared, and
numbers inside of them fitted, without a system being solved for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.fitting.samples import Samples
from alder.fitting.shooting import Shot
from alder.fitting.subsets import least_squares
from alder.proposers.states.model import Model, Problem, make_flow
from alder.proposers.states.terms import Library, Term, moved

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_SETTLINGS = 12
_HALVINGS = 4
_FARTHEST = 1.5  # of one step of a number inside, in its logarithm
_SETTLED = 1e-3  # of a gain in squares, in units of noise
_TOLD_APART = 1e-13
_WILD = 1e100  # columns beyond this say nothing, and their squares are no numbers


@final
@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Summands of one rate with fitted numbers, and the sum of squares they leave."""

    terms: tuple[Term, ...]
    coefficients: FloatArray
    rest: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """A solution where terms are needed, and the samples beside it, starts taken out.

    `table` (points, columns) holds states and inputs, `weights` (rows, 4) what the points between
    a sample and the next count; rows without weights stand for themselves, as in maps.
    """

    columns: tuple[str, ...]
    table: FloatArray
    weights: FloatArray
    firsts: NDArray[np.int64]
    sides: FloatArray
    seen: dict[Term, FloatArray] = field(default_factory=dict[Term, FloatArray])

    @staticmethod
    def of(model: Model, shot: Shot, problem: Problem) -> "Along":
        """Follow a fitted model from sample to sample."""
        if problem.discrete:
            return _stepped(problem.columns, shot.samples, shot.solution.states)
        flow, values = make_flow(model.picks, problem)
        path, weights = _dense(shot.samples)
        followed = flow.solve(path, shot.starts, values).states
        return _followed(problem.columns, shot.samples, followed, path, weights)

    @staticmethod
    def beside(problem: Problem) -> "Along":
        """Follow the smoothed samples themselves, where no model does."""
        samples = problem.samples
        if problem.discrete:
            return _stepped(problem.columns, samples, samples.states)
        path, weights = _dense(samples)
        parts = [(samples.rows_of(s), path.rows_of(s)) for s in range(samples.n_segments)]
        followed = [_spline(samples.times[a], problem.near[a], path.times[b]) for a, b in parts]
        return _followed(problem.columns, samples, np.concatenate(followed), path, weights)

    def blocks(self, terms: Sequence[Term]) -> FloatArray:
        """Return terms and their derivatives by numbers inside, (rows, 1 + most, terms)."""
        return self._summed(Library(self.columns, tuple(terms)).blocks(self.table))

    def block(self, term: Term) -> FloatArray:
        """Return one term and its derivatives, (rows, 1 + its numbers)."""
        if term not in self.seen:
            self.seen[term] = self.blocks([term])[:, :, 0]
        return self.seen[term]

    def settle(self, terms: Sequence[Term], y: FloatArray, scale: float) -> Settled:
        """Fit all numbers of a sum of terms to one state's sides, those inside as well.

        `y` are the sides, `scale` the standard deviation of their noise.
        """
        best = self._fitted(tuple(terms), y, scale)
        for _ in range(_SETTLINGS if any(term.values for term in terms) else 0):
            steps = self._steps(best, y, scale)
            before = best.rest
            if not steps:
                break
            for halving in range(_HALVINGS):
                share = 0.5**halving
                trial = tuple(
                    replace(term, values=moved(term.values, [share * one for one in step]))
                    for term, step in zip(best.terms, steps, strict=True)
                )
                found = self._fitted(trial, y, scale)
                if found.rest < best.rest:
                    best = found
                    break
            if before - best.rest <= _SETTLED:
                break
        return best

    def _fitted(self, terms: tuple[Term, ...], y: FloatArray, scale: float) -> Settled:
        """Fit the coefficients alone."""
        X = np.stack([self.block(term)[:, 0] for term in terms], axis=1)
        if not is_tame(X):
            return Settled(terms, np.zeros(len(terms)), np.inf)
        size = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
        c = least_squares(X / size, y, _TOLD_APART) / size
        left = (y - X @ c) / scale
        rest = float(left @ left)
        return Settled(terms, c, rest if np.isfinite(rest) else np.inf)

    def _steps(self, best: Settled, y: FloatArray, scale: float) -> list[list[float]]:
        """Return Gauss and Newton's steps of the numbers inside, in their logarithms.

        There are none where a derivative is no number.
        """
        blocks = [self.block(term) for term in best.terms]
        X = np.concatenate(blocks, axis=1)
        if not is_tame(X):
            return []
        size = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
        found = least_squares(X / size, y / scale, _TOLD_APART) / size * scale
        steps: list[list[float]] = []
        place = 0
        for block, c in zip(blocks, best.coefficients.tolist(), strict=True):
            own = found[place + 1 : place + block.shape[1]] / (c or 1e-300)
            steps.append(np.clip(own, -_FARTHEST, _FARTHEST).tolist())
            place += block.shape[1]
        return steps

    def _summed(self, values: FloatArray) -> FloatArray:
        """Integrate columns at the points up to every sample, starts taken out."""
        if not len(self.weights):
            return values
        shaped = values.reshape(len(self.weights), len(_POINTS), *values.shape[1:])
        steps = np.zeros((int(self.firsts[-1]), *values.shape[1:]))
        after_first = np.ones(len(steps), dtype=np.bool_)
        after_first[self.firsts[:-1]] = False
        steps[after_first] = np.einsum("kg,kg...->k...", self.weights, shaped)
        return _centred(np.cumsum(steps, axis=0), self.firsts)


def is_tame(columns: FloatArray) -> bool:
    """Say whether all are numbers that can be squared."""
    return bool((np.abs(columns) < _WILD).all())


def _centred(columns: FloatArray, firsts: NDArray[np.int64]) -> FloatArray:
    """Take the mean of every segment away."""
    lengths = np.diff(firsts)
    means = np.add.reduceat(columns, firsts[:-1], axis=0) / lengths.reshape(
        -1, *[1] * (columns.ndim - 1)
    )
    return columns - np.repeat(means, lengths, axis=0)


def _stepped(columns: tuple[str, ...], samples: Samples, states: FloatArray) -> Along:
    """Return steps of a map: every sample that has one before it, and that one."""
    table = np.concatenate([states, samples.inputs], axis=1)
    joint = np.ones(len(table), dtype=np.bool_)
    joint[samples.firsts[:-1]] = False
    after = np.flatnonzero(joint)
    none, firsts = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    return Along(columns, table[after - 1], none, firsts, samples.states[after])


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
    sides = _centred(samples.states, samples.firsts)
    return Along(columns, table, weights, samples.firsts, sides)


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
