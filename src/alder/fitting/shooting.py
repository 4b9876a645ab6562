r"""Fit a system to trajectories: shooting over segments, with exact sensitivities.

$$\chi^2(p, s) = \sum_{k} \left(\frac{y_k - x(t_k; s, p)}{\sigma}\right)^2$$

Every segment has a start $s$ of its own, eliminated from the normal equations segment by segment;
the parameters $p$ are shared. Levenberg and Marquardt's steps; a step onto which a solution ends
early is no step. Long trajectories are first cut into pieces, whose solutions cannot run far from
the samples, and the pieces are joined while the fit follows (`shoot_growing`).
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.flows import Flow, Solution
from alder.fitting.samples import Samples

_MOST_ITERATIONS = 30
_STALLED = 1e-5  # relative gain of a step that ends the descent
_LOOKED_BACK = 4  # steps by whose best gain one judges what is still to come
_MOST_DAMPING = 1e10
_SHORTEST = 8  # samples of the first pieces
_FEWEST = 2  # samples of a piece
_DAMAGE = 4.0  # times chi2 a joined piece may have before it is fitted: beyond, it ran away


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A fitted flow: parameters, starts (segments, d), chi2, covariance, and the solution.

    `covariance` is for noise `sigma`; it is infinite in directions the samples do not determine.
    `sound` says whether every segment was followed to its end.
    """

    values: FloatArray
    starts: FloatArray
    chi2: float
    covariance: FloatArray
    solution: Solution
    samples: Samples
    sound: bool
    n_solved: int

    @property
    def n_free(self) -> int:
        """Degrees of freedom of the residuals."""
        return self.samples.states.size - self.starts.size - len(self.values)


def shoot(
    flow: Flow,
    samples: Samples,
    values: FloatArray,
    starts: FloatArray,
    sigma: FloatArray,
    enough: float = np.inf,
) -> Shot:
    """Fit the parameters and the starts of all segments, from a first guess of both.

    Of no use is a fit with more than `enough` chi2: it ends where no better one is in sight, even
    if every step to come were as good as the best of the last few.
    """
    p, s = np.array(values, dtype=np.float64), np.array(starts, dtype=np.float64)
    damping, n_solved = 1e-4, 1
    solution = flow.solve(samples, s, p, sensitivities=True)
    chi2 = _chi2(samples, solution, sigma)
    gains: list[float] = []
    for left in reversed(range(_MOST_ITERATIONS if np.isfinite(chi2) else 0)):
        blocks = _Blocks.of(samples, solution, sigma, len(p))
        before = chi2
        while damping < _MOST_DAMPING:
            dp, ds = blocks.step(damping)
            trial = flow.solve(samples, s + ds, p + dp, sensitivities=True)
            n_solved += 1
            found = _chi2(samples, trial, sigma)
            if found < chi2:
                p, s, solution, chi2, damping = p + dp, s + ds, trial, found, damping / 8.0
                break
            damping = max(damping * 8.0, 1e-6)
        gains.append(before - chi2)
        if gains[-1] <= _STALLED * max(chi2, 1e-300):
            break
        if len(gains) >= _LOOKED_BACK and chi2 - left * max(gains[-_LOOKED_BACK:]) > enough:
            break
    covariance = (
        _covariance(solution.sensitivities / sigma[:, None], samples, flow.resolution)
        if np.isfinite(chi2)
        else np.full((len(p), len(p)), np.inf)
    )
    return Shot(p, s, chi2, covariance, solution, samples, bool(np.isfinite(chi2)), n_solved)


def shoot_growing(
    flow: Flow, samples: Samples, values: FloatArray, smoothed: FloatArray, sigma: FloatArray
) -> Shot:
    """Fit pieces of the trajectories first, then longer ones, up to whole trajectories.

    `smoothed` are states at the samples, where pieces start. Pieces stay as long as they were
    where longer ones run away from the samples, as they do where the motion is chaotic; where the
    first ones run away, shorter ones are first.
    """
    longest = int(np.diff(samples.firsts).max())
    length = min(_SHORTEST, longest)
    best = _shot_in_pieces(flow, samples, length, values, smoothed, sigma)
    while not best.sound and length > _FEWEST:
        length = max(length // 2, _FEWEST)
        best = _shot_in_pieces(flow, samples, length, values, smoothed, sigma)
    near = smoothed
    while length < longest:
        near = best.solution.states if best.sound else near
        length = min(2 * length, longest)
        shot = _shot_in_pieces(flow, samples, length, best.values, near, sigma)
        if not _follows(shot, best):
            return best
        best = shot
    return best


def _shot_in_pieces(
    flow: Flow,
    samples: Samples,
    length: int,
    values: FloatArray,
    near: FloatArray,
    sigma: FloatArray,
) -> Shot:
    longest = int(np.diff(samples.firsts).max())
    pieces = samples if length >= longest else samples.cut(length)
    return shoot(flow, pieces, values, near[pieces.firsts[:-1]], sigma)


def _follows(longer: Shot, shorter: Shot) -> bool:
    """Say whether joined pieces still fit, with their fewer starts."""
    if not longer.sound:
        return not shorter.sound
    before = shorter.chi2 / max(shorter.n_free, 1)
    return longer.chi2 / max(longer.n_free, 1) <= _DAMAGE * max(before, 1.0)


def _chi2(samples: Samples, solution: Solution, sigma: FloatArray) -> float:
    """Return the weighted sum of squares; infinite where a segment ends early.

    So it is where a derivative is no number, which leads nowhere.
    """
    if (solution.reached < np.diff(samples.firsts)).any():
        return np.inf
    if not np.isfinite(solution.sensitivities).all():
        return np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        chi2 = float(np.sum(np.square((samples.states - solution.states) / sigma)))
    return chi2 if np.isfinite(chi2) else np.inf


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Normal equations with one block for each segment's start."""

    pp: FloatArray  # (P, P)
    sp: FloatArray  # (segments, d, P)
    ss: FloatArray  # (segments, d, d)
    bp: FloatArray
    bs: FloatArray

    @staticmethod
    def of(samples: Samples, solution: Solution, sigma: FloatArray, n_p: int) -> "_Blocks":
        d = samples.n_states
        J = solution.sensitivities / sigma[:, None]
        r = (samples.states - solution.states) / sigma
        Js, Jp = J[:, :, :d], J[:, :, d : d + n_p]

        def by_segment(left: FloatArray, right: FloatArray) -> FloatArray:
            return np.add.reduceat(
                np.einsum("nia,nib->nab", left, right), samples.firsts[:-1], axis=0
            )

        flat = Jp.reshape(r.size, n_p)
        return _Blocks(
            flat.T @ flat,
            by_segment(Js, Jp),
            by_segment(Js, Js),
            flat.T @ r.ravel(),
            by_segment(Js, r[:, :, None])[:, :, 0],
        )

    def step(self, damping: float) -> tuple[FloatArray, FloatArray]:
        """Return the damped step of the parameters and of the starts."""
        ss = self.ss * (1.0 + damping * np.eye(self.ss.shape[1]))
        inverse = _inverses(ss)
        own = np.maximum(np.diag(self.pp), 1e-300)
        schur, right = self._schur(inverse)
        schur = schur + damping * np.diag(own)
        scale = 1.0 / np.sqrt(own)
        dp = scale * np.linalg.lstsq(schur * np.outer(scale, scale), right * scale, rcond=1e-14)[0]
        ds = np.einsum("sab,sb->sa", inverse, self.bs - self.sp @ dp)
        return dp, ds

    def _schur(self, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        schur = self.pp - np.einsum("sap,sab,sbq->pq", self.sp, inverse, self.sp, optimize=True)
        right = self.bp - np.einsum("sap,sab,sb->p", self.sp, inverse, self.bs, optimize=True)
        return schur, right


def without_starts(J: FloatArray, samples: Samples, *others: FloatArray) -> tuple[FloatArray, ...]:
    """Return derivatives by the numbers, and other columns, without what starts make up for.

    `J` (rows, d, d + numbers) are derivatives by the starts, then by the numbers.
    """
    d = samples.n_states
    columns = [J[:, :, d:], *(other[:, :, None] for other in others)]
    found: list[list[FloatArray]] = [[] for _ in columns]
    for segment in range(samples.n_segments):
        part = samples.rows_of(segment)
        by_start, _ = np.linalg.qr(J[part, :, :d].reshape(-1, d))
        for parts, column in zip(found, columns, strict=True):
            rest = column[part].reshape(len(by_start), -1)
            parts.append(rest - by_start @ (by_start.T @ rest))
    numbers, *sides = (np.concatenate(parts) for parts in found)
    return numbers, *(side[:, 0] for side in sides)


def _covariance(J: FloatArray, samples: Samples, resolution: float) -> FloatArray:
    """Return the covariance of the parameters, with the starts unknown too.

    Infinite where derivatives, known to `resolution` of their size, do not say what a number is.
    """
    (X,) = without_starts(J, samples)
    scale = np.linalg.norm(J[:, :, samples.n_states :].reshape(len(X), -1), axis=0)
    scale = 1.0 / np.maximum(scale, 1e-150)
    blank = np.zeros((max(len(scale) - len(X), 0), len(scale)))
    _, sizes, modes = np.linalg.svd(np.concatenate([X * scale, blank]), full_matrices=False)
    small = sizes <= resolution * max(float(sizes.max(initial=0.0)), 1e-150)
    found = (modes.T / np.where(small, 1.0, np.square(sizes))) @ modes
    found = found * np.outer(scale, scale)
    lost = np.square(modes[small]).sum(axis=0) > 1e-8
    found[lost, :] = found[:, lost] = np.inf
    return found


def _inverses(blocks: FloatArray) -> FloatArray:
    """Invert symmetric blocks; directions without weight have none."""
    return np.asarray(np.linalg.pinv(blocks, rcond=1e-13, hermitian=True), dtype=np.float64)
