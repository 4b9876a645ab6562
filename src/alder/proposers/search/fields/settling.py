r"""Relations with short numbers: the normalisation and the constants a scientist would write."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.proposers.search.fields.relation import EPSILON, Scaled
from alder.records.short import bits_of, shorten

# Coefficients are known to so many standard errors, and never better than this.
_SIGMAS, _BEST = 8.0, 2e-14
# A short number may cost this much of the residual.
_SLACK = 4.0
# Columns tried as the one with coefficient one.
_NORMALISATIONS = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Coefficients of a relation, normalised, and what they take to write, in bits."""

    coefficients: FloatArray
    bits: float


def settle(columns: FloatArray, ones: Sequence[int]) -> tuple[Settled, Settled]:
    """Return the relation among columns with short numbers, and with free ones.

    `ones` are the places that may carry the coefficient one; the largest of them are tried.
    """
    scaled = Scaled.of(columns)
    if len(scaled.kept) < columns.shape[1]:
        flat = Settled(np.ones(columns.shape[1]), np.inf)
        return flat, flat
    _, vector = scaled.null_vector()
    tried = sorted(ones, key=lambda j: -abs(float(vector[j])))[:_NORMALISATIONS]
    pairs = [_settle_with(scaled, one) for one in tried]
    short = min((pair[0] for pair in pairs), key=lambda settled: settled.bits)
    return short, pairs[0][1]


def _settle_with(scaled: Scaled, one: int) -> tuple[Settled, Settled]:
    m = len(scaled.norms)
    fixed: dict[int, float] = {one: 1.0}
    free, errors, rest = _solve(scaled, fixed)
    plain = _gather(m, fixed, free)
    allowed = _SLACK * rest + EPSILON * (1.0 + float(np.abs(plain * scaled.norms).sum()))
    refused: set[int] = set()
    while True:
        near = {
            j: short.value
            for j, value in free.items()
            if j not in refused
            and (short := shorten(value, max(_SIGMAS * errors[j], _BEST))) is not None
        }
        if not near:
            break
        chosen = near
        kept = _solve(scaled, {**fixed, **chosen})
        if kept[2] > allowed:
            best = min(near, key=lambda j: errors[j])
            chosen = {best: near[best]}
            kept = _solve(scaled, {**fixed, **chosen})
            if kept[2] > allowed:
                refused.add(best)
                continue
        fixed |= chosen
        free, errors, _ = kept
    coefficients = _gather(m, fixed, free)
    bits = sum(bits_of(value) for value in coefficients.tolist())
    return Settled(coefficients, bits), Settled(plain, 50.0 * m)


def _gather(m: int, fixed: dict[int, float], free: dict[int, float]) -> FloatArray:
    return np.array([fixed[j] if j in fixed else free[j] for j in range(m)])


def _solve(
    scaled: Scaled, fixed: dict[int, float]
) -> tuple[dict[int, float], dict[int, float], float]:
    """Solve for the free coefficients; return them, their relative errors and the residual."""
    norms, m = scaled.norms, len(scaled.norms)
    target = -sum(
        (value * norms[j] * scaled.triangle[:, j] for j, value in fixed.items()),
        np.zeros(len(scaled.triangle)),
    )
    others = [j for j in range(m) if j not in fixed]
    if not others:
        return {}, {}, float(np.linalg.norm(target))
    Q, R = np.linalg.qr(scaled.triangle[:, others])
    projected = Q.T @ target
    size = np.abs(np.diag(R))
    R[np.diag_indices(len(others))] = np.where(size < 1e-18, 1e-18, np.diag(R))
    inverse = np.linalg.solve(R, np.eye(len(others)))
    weights = inverse @ projected
    residual = target - scaled.triangle[:, others] @ weights
    spread = np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
    rest = float(np.linalg.norm(residual))
    rounding = EPSILON * (float(np.linalg.norm(target)) + float(np.abs(weights).sum()))
    noise = max(rest, rounding) / np.sqrt(max(scaled.n_rows - len(others), 1))
    relative = noise * spread / np.maximum(np.abs(weights), 1e-300)
    return (
        {j: float(w / norms[j]) for j, w in zip(others, weights, strict=True)},
        {j: float(e) for j, e in zip(others, relative, strict=True)},
        rest,
    )
