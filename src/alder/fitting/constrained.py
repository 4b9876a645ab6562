r"""A fit that must also keep something: numbers moved onto a constraint, as little as they can be.

$$p^* = \arg\min (p - \hat p)^\top C^{-1} (p - \hat p) \quad\text{with}\quad h(p) = 0$$

is the constrained fit to second order of $\chi^2$; its covariance is that of the unconstrained fit
less the directions that the constraint settles.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.flows import Flow
from alder.fitting.shooting import Shot, shoot

Constraint: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From numbers to what must vanish, (n,), and its derivatives, (n, numbers)."""

_ROUNDS = 4  # one is exact where the constraint is linear
_RANK = 1e-9


def project(flow: Flow, shot: Shot, sigma: FloatArray, constraint: Constraint) -> Shot:
    """Return the fit on the constraint, starts fitted again; one that is not sound stays so."""
    C = shot.covariance
    if not shot.sound or not len(C) or not np.isfinite(C).all():
        return replace(shot, sound=False)
    L = _root(C)
    first = p = shot.values
    settled = np.zeros((len(C), 0))
    for _ in range(_ROUNDS):
        h, A = constraint(p)
        U, sizes, Vt = np.linalg.svd(A @ L, full_matrices=False)
        kept = sizes > _RANK * max(float(sizes.max(initial=0.0)), 1e-300)
        settled = Vt[kept].T
        z = settled @ ((U[:, kept].T @ (h + A @ (first - p))) / sizes[kept])
        p = first - L @ z
    again = shoot(flow.held_at(p), shot.samples, np.zeros(0), shot.starts, sigma)
    solution = flow.solve(shot.samples, again.starts, p, sensitivities=True)
    free = L - (L @ settled) @ settled.T
    return Shot(
        p, again.starts, again.chi2, free @ free.T, solution, shot.samples, again.sound,
        shot.n_solved + again.n_solved,
    )  # fmt: skip


def _root(C: FloatArray) -> FloatArray:
    """Return L with C = L L^T, made from correlations, whose sizes are comparable."""
    scale = np.sqrt(np.maximum(np.diag(C), 1e-300))
    sizes, modes = np.linalg.eigh(C / np.outer(scale, scale))
    return scale[:, None] * modes * np.sqrt(np.maximum(sizes, 0.0))
