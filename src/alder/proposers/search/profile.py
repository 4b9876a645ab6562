r"""What the rows say about one factor of a term, whatever shape it has.

With the rest of the term left flexible, $y = \sum_{ij} c_i w_j T_i(x) B_j + \dots$, polynomials
$T$ of one variable and $B$ of the others, the best $\hat c$ and the matrix $\Lambda$ of second
derivatives say how much any other factor would cost, $(c - \hat c)^\top \Lambda (c - \hat c)$,
where $c$ is scaled like $\hat c$. A factor is a dozen numbers then, and hundreds of thousands of
them are ranked at once.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.proposers.search.gains import Frame, solved

# A touch of ridge keeps nearly dependent polynomials solvable; steps are damped more.
_RIDGE = 1e-9
_DAMPED = 1e-3
# Most steps of the fit, and the change at which it has settled.
_TURNS = 30
_SETTLED = 1e-7
# A step goes no farther than this many times what a parameter may move.
_FAR = 1.5


@final
@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What the rows ask of one factor: the best coefficients, and what others cost."""

    best: FloatArray
    metric: FloatArray
    cost: FloatArray
    gram: FloatArray
    slope: FloatArray

    @classmethod
    def of(cls, frame: Frame, basis: FloatArray, block: FloatArray, known: FloatArray) -> "Profile":
        """Fit polynomials (m, rows) times a block (b, rows), beginning at known factors (k, m)."""
        m, b = len(basis), len(block)
        flat = frame.outside(basis[:, None, :] * block[None, :, :]).reshape(m * b, -1)
        gram, slope = flat @ flat.T, flat @ frame.rest
        gram[np.diag_indices(m * b)] += _RIDGE * (np.trace(gram) / (m * b) + 1e-300)
        unsolved = cls(
            known[0], np.eye(m), np.eye(m), gram.reshape(m, b, m, b), slope.reshape(m, b)
        )
        start = known[int(np.argmax(unsolved.gains(known)))]
        c, w = _descended(gram, slope, start / (np.abs(start).max() + 1e-300), b)
        towards_c, towards_w = _jacobians(c, w)
        metric = towards_c.T @ gram @ towards_c
        mixed = towards_c.T @ gram @ towards_w
        others = towards_w.T @ gram @ towards_w
        cost = metric - mixed @ solved(_raised(others, _RIDGE), mixed.T)
        return cls(c, metric, 0.5 * (cost + cost.T), unsolved.gram, unsolved.slope)

    @property
    def is_sound(self) -> bool:
        """Whether rounding and overflow have left anything to go by."""
        return bool(np.isfinite(self.cost).all() and np.isfinite(self.best).all())

    @property
    def gain(self) -> float:
        """What the best factor gains."""
        return float(self.gains(self.best[None, :])[0])

    def costs(self, found: FloatArray) -> FloatArray:
        """Return about how much less than the best these factors (k, m) gain."""
        values, vectors = np.linalg.eigh(self.cost)
        halves = found @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return np.einsum("ki,ki->k", halves, halves) * np.square(self._scale(found))

    def step(self, found: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Move factors (k, m) along slopes (k, s, m) to where they cost least.

        Return the costs there and the steps (k, s), a minimum of Gauss and Newton.
        """
        pull = self.metric @ self.best
        scale = self._scale(found)[:, None]
        at = found * scale
        # Scaled like the best, a factor changes by less than its slope.
        bent = (slopes @ pull) * (scale / (self.best @ pull))
        along = slopes * scale[:, :, None] - bent[:, :, None] * at[:, None, :]
        curved = along @ self.cost
        hessian = curved @ along.transpose(0, 2, 1)
        diagonal = np.einsum("kii->ki", hessian)
        damp = (_DAMPED * diagonal + 1e-12 * np.trace(self.cost) + 1e-300)[:, :, None]
        hessian = hessian + damp * np.eye(slopes.shape[1])
        step = -solved(hessian, (curved @ at[:, :, None]))[:, :, 0]
        step = np.clip(np.nan_to_num(step), -_FAR, _FAR)
        moved = at + (step[:, None, :] @ along)[:, 0]
        cost = np.asarray(((moved @ self.cost) * moved).sum(axis=1), dtype=np.float64)
        return cost, np.asarray(step, dtype=np.float64)

    def _scale(self, found: FloatArray) -> FloatArray:
        pull = self.metric @ self.best
        along = found @ pull
        least = (
            1e-9 * float(np.linalg.norm(pull)) * np.sqrt(np.einsum("ki,ki->k", found, found))
            + 1e-200
        )
        return float(self.best @ pull) / np.where(np.abs(along) > least, along, least)

    def gains(self, found: FloatArray) -> FloatArray:
        """Return exactly what factors with these coefficients (k, m) gain."""
        size = np.abs(found).max(axis=1, keepdims=True)
        found = found / np.where(size > 0.0, size, 1.0)
        gram = np.einsum("ijkl,ni,nk->njl", self.gram, found, found, optimize=True)
        slope = found @ self.slope
        ridge = _RIDGE * np.einsum("njj->n", gram) + 1e-300
        gram = gram + ridge[:, None, None] * np.eye(gram.shape[1])
        weights = solved(gram, slope[:, :, None])[:, :, 0]
        return np.asarray((weights * slope).sum(axis=1), dtype=np.float64)


def _descended(
    gram: FloatArray, slope: FloatArray, c: FloatArray, b: int
) -> tuple[FloatArray, FloatArray]:
    r"""Fit $v = c w^\top$ to $v^\top G v - 2 s^\top v$ with damped steps of Gauss and Newton."""
    m = len(c)
    lift = np.kron(c[:, None], np.eye(b))
    w = solved(_raised(lift.T @ gram @ lift, _RIDGE), lift.T @ slope)
    v = np.outer(c, w).ravel()
    value, damping = float(v @ gram @ v - 2.0 * slope @ v), 1e-3
    for _ in range(_TURNS):
        jacobian = np.hstack(_jacobians(c, w))
        downhill = np.asarray(jacobian.T @ (slope - gram @ v), np.float64)
        step = solved(_raised(jacobian.T @ gram @ jacobian, damping), downhill)
        moved_c, moved_w = c + step[:m], w + step[m:]
        moved = np.outer(moved_c, moved_w).ravel()
        found = float(moved @ gram @ moved - 2.0 * slope @ moved)
        if found < value:
            done = value - found < _SETTLED * abs(value)
            c, w, v, value, damping = moved_c, moved_w, moved, found, max(damping * 0.1, _RIDGE)
            if done:
                break
        else:
            damping *= 10.0
    return c, w


def _jacobians(c: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how the products of two sets of coefficients change with either."""
    towards_c = np.kron(np.eye(len(c)), w[:, None])
    towards_w = np.kron(c[:, None], np.eye(len(w)))
    return np.asarray(towards_c, np.float64), np.asarray(towards_w, np.float64)


def _raised(matrix: FloatArray, share: float) -> FloatArray:
    """Add a share of its own to the diagonal."""
    own = np.diag(matrix)
    return matrix + np.diag(share * (own + own.mean()) + 1e-200)
