r"""Explicit variable projection: the nonlinear parameters of a few atoms, the linear ones solved.

$\min_\theta \lVert y - \Phi(\theta) \beta(\theta) \rVert$ with $\beta$ the least-squares solution.
To minimise the smallest singular value over $\theta$ instead is drawn to corners where columns are
collinear.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray

Basis: TypeAlias = Callable[[FloatArray], FloatArray]
"""Columns at given parameters, (rows, columns)."""

_STEPS = 60
_NUDGE = 1e-7


@final
@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """Parameters at a minimum, their standard errors, and what is left relative to the target."""

    theta: FloatArray
    errors: FloatArray
    rest: float


def project(basis: Basis, y: FloatArray, start: Sequence[float], steps: int = _STEPS) -> Projected:
    """Descend from a start by Levenberg-Marquardt steps on the projected residual.

    `y` and the basis come with their rows scaled alike.
    """
    theta = np.array(start, dtype=np.float64)
    size = float(np.linalg.norm(y)) or 1.0
    damping = 1e-3
    state = _at(basis, y, theta)
    if state is None:
        return Projected(theta, np.full(len(theta), np.inf), np.inf)
    rest, slope = state
    for _ in range(steps):
        cost = float(rest @ rest)
        improved = False
        for _ in range(6):
            step = _step(slope, rest, damping)
            tried = _at(basis, y, theta + step)
            if tried is not None and float(tried[0] @ tried[0]) < cost:
                theta, (rest, slope), improved = theta + step, tried, True
                damping = max(damping / 10.0, 1e-14)
                break
            damping *= 8.0
        if not improved or float(rest @ rest) > (1.0 - 1e-9) * cost:
            break
    return Projected(theta, _errors(slope, rest, y), float(np.linalg.norm(rest)) / size)


def least_squares(A: FloatArray, b: FloatArray, rcond: float | None) -> FloatArray:
    """Return the shortest solution that leaves least."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=rcond)[0], dtype=np.float64)


def _step(J: FloatArray, rest: FloatArray, damping: float) -> FloatArray:
    norms = np.sqrt(np.einsum("ij,ij->j", J, J)) + 1e-300
    m = J.shape[1]
    stacked = np.vstack([J / norms, np.sqrt(damping) * np.eye(m)])
    return least_squares(stacked, np.append(-rest, np.zeros(m)), None) / norms


def _at(basis: Basis, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the projected residual and its derivative (Kaufman's), or None beyond the domain."""
    Phi = basis(theta)
    if not np.isfinite(Phi).all():
        return None
    norms = np.sqrt(np.einsum("ij,ij->j", Phi, Phi)) + 1e-300
    whole, R = np.linalg.qr(Phi / norms)
    Q = whole[:, np.abs(np.diag(R)) > 1e-13]
    rest = y - Q @ (Q.T @ y)
    rest = rest - Q @ (Q.T @ rest)
    beta = least_squares(Phi / norms, y, 1e-14) / norms
    J = np.zeros((len(y), len(theta)))
    for j in range(len(theta)):
        h = _NUDGE * max(abs(float(theta[j])), 1e-2)
        moved = theta.copy()
        moved[j] += h
        change = (basis(moved) - Phi) @ beta / h
        if not np.isfinite(change).all():
            return None
        J[:, j] = -(change - Q @ (Q.T @ change))
    return rest, J


def _errors(J: FloatArray, rest: FloatArray, y: FloatArray) -> FloatArray:
    noise = max(float(rest @ rest), (4e-16 * float(np.linalg.norm(y))) ** 2)
    noise /= max(len(y) - J.shape[1], 1)
    spread = np.linalg.pinv(J, rcond=1e-12)
    return np.sqrt(noise * np.einsum("ij,ij->i", spread, spread))
