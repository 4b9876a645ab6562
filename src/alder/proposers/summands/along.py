r"""Terms where they are needed, as columns of a regression: on rows, or along a solution.

Along a solution $\hat x(t)$ that follows samples, a rate's coefficients obey

$$x_i(t_k) = s_i + \sum_j c_{ij} \int^{t_k} \theta_j(\hat x(t))\, dt + \varepsilon_k ,$$

with white noise and a free start for each segment. So many sets of terms can be compared, and
numbers inside of them fitted, without a system being solved for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import Const, Expr, Var
from alder.fitting.subsets import least_squares
from alder.proposers.summands.terms import MOST_ROWS, Library, Term, is_tame, moved

_SETTLINGS = 12
_HALVINGS = 4
_FARTHEST = 1.5  # of one step of a number inside, in its logarithm
_SETTLED = 1e-3  # of a gain in squares, in units of noise
_TOLD_APART = 1e-13
_AT_ONCE = 1 << 23  # numbers in memory while terms are integrated


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
    """Where terms are needed, and what they are to say there.

    `table` (points, columns) holds states and inputs. Along a solution `weights` (rows, 4) say what
    the points between a sample and the next count, and `sides` (rows, states) are samples with
    the starts taken out, `joint` the first of those that are taken together, if any are. Without
    weights, rows stand for themselves.
    """

    columns: tuple[str, ...]
    table: FloatArray
    weights: FloatArray
    firsts: NDArray[np.int64]
    sides: FloatArray
    joint: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    seen: dict[Term, FloatArray] = field(default_factory=dict[Term, FloatArray])

    @staticmethod
    def rows(columns: tuple[str, ...], table: FloatArray, sides: FloatArray) -> "Along":
        """Return rows that stand for themselves: rates beside states, or next samples."""
        return Along(columns, table, np.zeros((0, 0)), np.zeros(0, dtype=np.int64), sides)

    @staticmethod
    def path(
        columns: tuple[str, ...],
        table: FloatArray,
        weights: FloatArray,
        firsts: NDArray[np.int64],
        samples: FloatArray,
    ) -> "Along":
        """Return a solution beside samples; neighbours among many of these are taken together."""
        joint = _neighbours(firsts)
        return Along(
            columns, table, weights, firsts, _merged(centred(samples, firsts), joint), joint
        )

    def blocks(self, terms: Sequence[Term]) -> FloatArray:
        """Return terms and their derivatives by numbers inside, (rows, 1 + most, terms)."""
        most = max((len(term.values) for term in terms), default=0)
        found = np.zeros((len(self.sides), 1 + most, len(terms)))
        at_once = max(_AT_ONCE // (len(self.table) * (1 + most)), 1)
        for first in range(0, len(terms), at_once):
            part = Library(self.columns, tuple(terms[first : first + at_once]))
            values = self._summed(part.blocks(self.table))
            found[:, : values.shape[1], first : first + at_once] = values
        return found

    def products(self, term: Term, factors: Sequence[Expr]) -> FloatArray:
        """Return a term times columns or one, and the derivatives, (rows, 1 + numbers, factors)."""
        value = Library(self.columns, (term,)).blocks(self.table)
        by = [
            np.ones(len(self.table)) if isinstance(f, Const) else self._column(f) for f in factors
        ]
        return self._summed(value * np.stack(by, axis=1)[:, None, :])

    def _column(self, factor: Expr) -> FloatArray:
        assert isinstance(factor, Var)
        return self.table[:, self.columns.index(factor.name)]

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
        c = in_sizes(X, y)
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
        found = in_sizes(X, y / scale) * scale
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
        shaped = values.reshape(*self.weights.shape, *values.shape[1:])
        steps = np.zeros((int(self.firsts[-1]), *values.shape[1:]))
        after_first = np.ones(len(steps), dtype=np.bool_)
        after_first[self.firsts[:-1]] = False
        steps[after_first] = np.einsum("kg,kg...->k...", self.weights, shaped)
        return _merged(centred(np.cumsum(steps, axis=0), self.firsts), self.joint)


def in_sizes(X: FloatArray, y: FloatArray) -> FloatArray:
    """Solve least squares with columns in units of their size."""
    size = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    return least_squares(X / size, y, _TOLD_APART) / size


def centred(columns: FloatArray, firsts: NDArray[np.int64]) -> FloatArray:
    """Take the mean of every segment away."""
    lengths = np.diff(firsts)
    means = np.add.reduceat(columns, firsts[:-1], axis=0) / lengths.reshape(
        -1, *[1] * (columns.ndim - 1)
    )
    return columns - np.repeat(means, lengths, axis=0)


def _neighbours(firsts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first of every few samples that are taken together; none where all are few."""
    n_together = -(-int(firsts[-1]) // MOST_ROWS)
    if n_together == 1:
        return np.zeros(0, dtype=np.int64)
    joint = [k for a, b in pairwise(firsts.tolist()) for k in range(a, b, n_together)]
    return np.array(joint, dtype=np.int64)


def _merged(columns: FloatArray, joint: NDArray[np.int64]) -> FloatArray:
    """Take neighbours together, noise of the same size in each: it is independent."""
    if not len(joint):
        return columns
    counts = np.diff(np.append(joint, len(columns))).reshape(-1, *[1] * (columns.ndim - 1))
    return np.add.reduceat(columns, joint, axis=0) / np.sqrt(counts)
