r"""States and their rates from noisy samples: penalised splines, smoothness by likelihood.

Each state of each segment is a spline of degree five whose roughness $\int \dddot x^2$ is a priori
of the size $\sigma^2/\lambda$; quadratics are free. One $\lambda$ and one $\sigma$ serve all
segments of a state; both maximise the restricted likelihood (Wahba 1985; Wood 2011). Standard
errors are those of the posterior, so that they hold the bias of smoothing too.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.samples import Samples

_DEGREE = 5
_ORDER = 3  # of the derivative that is penalised
_MOST_PIECES = 60  # knots are many enough to follow any smooth state; the penalty does the rest
_GRID = np.linspace(-14.0, 6.0, 121)  # of log10(lambda), in units of the segment's own scale


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    r"""One segment: quadratics, which cost nothing, and modes of decreasing smoothness.

    $x(t) = q(t)\alpha + g(t)\gamma$ with $\gamma \sim N(0, \sigma^2/\lambda)$. Both sets are
    orthogonal on the samples; `weights` are the lengths of the modes there.
    """

    first: float
    span: float
    knots: FloatArray
    free: FloatArray  # (3, 3): quadratics orthonormal on the samples
    modes: FloatArray  # (basis, modes)
    against: FloatArray  # (3, modes): what the modes would have of the quadratics
    weights: FloatArray  # (modes,)
    to_free: FloatArray  # (3, rows)
    to_modes: FloatArray  # (modes, rows)

    def at(self, times: FloatArray, derivative: int) -> tuple[FloatArray, FloatArray]:
        """Return quadratics (times, 3) and modes (times, modes), or derivatives of them."""
        quadratic = _quadratics((times - self.first) / self.span, derivative) @ self.free
        quadratic = quadratic / self.span**derivative
        design = _design(self.knots, times, derivative) @ self.modes
        return quadratic, design - quadratic @ self.against


@final
@dataclass(frozen=True, slots=True, eq=False)
class Smooth:
    """Smoothed states of all segments: values, rates, and the noise of each state."""

    samples: Samples
    sigma: FloatArray
    log_lambda: FloatArray
    pieces: tuple[_Pieces, ...]

    def at(self, segment: int, times: FloatArray, derivative: int = 0) -> FloatArray:
        """Return the states of a segment, or a derivative of them, at any times: (n, states)."""
        piece = self.pieces[segment]
        y = self.samples.states[self.samples.rows_of(segment)]
        q, g = piece.at(times, derivative)
        weight = piece.weights[:, None]
        gamma = piece.to_modes @ y * weight / (weight**2 + 10.0**self.log_lambda)
        return q @ (piece.to_free @ y) + g @ gamma

    def errors(self, segment: int, times: FloatArray, derivative: int = 0) -> FloatArray:
        """Return the standard errors that belong to `at`."""
        piece = self.pieces[segment]
        q, g = piece.at(times, derivative)
        shrunk = 1.0 / (piece.weights[:, None] ** 2 + 10.0**self.log_lambda)
        variance = np.square(q).sum(axis=1)[:, None] + np.square(g) @ shrunk
        return self.sigma * np.sqrt(variance)

    def values(self) -> FloatArray:
        """Return the smoothed states at the samples."""
        return self._stack(0, errors=False) if self.pieces else self.samples.states

    def slopes(self) -> FloatArray:
        """Return the rates of the states at the samples."""
        return self._stack(1, errors=False)

    def slope_errors(self) -> FloatArray:
        """Return the standard errors of the rates at the samples."""
        return self._stack(1, errors=True)

    def _stack(self, derivative: int, *, errors: bool) -> FloatArray:
        read = self.errors if errors else self.at
        return np.concatenate(
            [
                read(s, self.samples.times[self.samples.rows_of(s)], derivative)
                for s in range(self.samples.n_segments)
            ]
        )


def smooth(samples: Samples) -> Smooth:
    """Smooth every state; noise and smoothness are estimated from all segments together."""
    pieces = tuple(_pieces(samples.times[samples.rows_of(s)]) for s in range(samples.n_segments))
    found = [_likeliest(samples, pieces, state) for state in range(samples.n_states)]
    return Smooth(
        samples,
        np.array([sigma for _, sigma in found]),
        np.array([log for log, _ in found]),
        pieces,
    )


def as_measured(samples: Samples) -> Smooth:
    """Return the samples as they are, for systems that jump from one to the next."""
    n_states = samples.n_states
    return Smooth(samples, np.zeros(n_states), np.full(n_states, -np.inf), ())


def _likeliest(samples: Samples, pieces: tuple[_Pieces, ...], state: int) -> tuple[float, float]:
    """Return log10(lambda) and sigma of one state, by restricted likelihood."""
    deviance = np.zeros(len(_GRID))
    squares = np.zeros(len(_GRID))
    n_free = 0
    for segment, piece in enumerate(pieces):
        y = samples.states[samples.rows_of(segment), state]
        y = y - piece.to_free.T @ (piece.to_free @ y)
        z = piece.to_modes @ y
        ratio = np.square(piece.weights)[None, :] / 10.0 ** _GRID[:, None]
        squares += max(float(np.square(y - piece.to_modes.T @ z).sum()), 0.0)
        squares += (np.square(z) / (1.0 + ratio)).sum(axis=1)
        deviance += np.log1p(ratio).sum(axis=1)
        n_free += len(y) - len(piece.to_free)
    size = float(np.mean(np.square(samples.states[:, state]))) or 1.0
    variance = np.maximum(squares / max(n_free, 1), 1e-28 * size)
    best = int(np.argmin(n_free * np.log(variance) + deviance))
    return float(_GRID[best]), float(np.sqrt(variance[best]))


def _pieces(times: FloatArray) -> _Pieces:
    """Find the modes of one segment: what a unit of roughness can do on the samples."""
    first, last = float(times[0]), float(times[-1])
    span = last - first
    n_pieces = int(np.clip(len(times) // 2, 1, _MOST_PIECES))
    inner = np.linspace(first, last, n_pieces + 1)
    knots = np.concatenate([np.full(_DEGREE, first), inner, np.full(_DEGREE, last)])
    plain = _quadratics((times - first) / span, 0)[:, : len(times)]
    Q, R = np.linalg.qr(plain)
    free = np.zeros((_ORDER, Q.shape[1]))
    free[: len(R)] = np.linalg.inv(R)
    nodes, weights = _quadrature(inner)
    rough = _design(knots, nodes, _ORDER) * (span ** (_ORDER - 0.5) * np.sqrt(weights)[:, None])
    _, sizes, directions = np.linalg.svd(rough, full_matrices=False)
    kept = sizes > 1e-10 * sizes[0]  # the others are the quadratics
    unit = directions[kept].T / sizes[kept]
    X = _design(knots, times, 0) @ unit
    _, lengths, turned = np.linalg.svd(X - Q @ (Q.T @ X), full_matrices=True)
    modes = unit @ turned.T
    on_samples = _design(knots, times, 0) @ modes
    against = Q.T @ on_samples
    on_samples = on_samples - Q @ against
    weights = np.zeros(modes.shape[1])
    weights[: len(lengths)] = lengths
    there = weights > 1e-12 * max(float(weights.max(initial=0.0)), 1e-300)
    to_modes = np.where(there, on_samples / np.where(there, weights, 1.0), 0.0).T
    return _Pieces(first, span, knots, free, modes, against, weights, Q.T, to_modes)


def _quadratics(s: FloatArray, derivative: int) -> FloatArray:
    """Return 1, s and s^2, or a derivative of them."""
    zero = np.zeros_like(s)
    rows = [[zero + 1.0, s, s**2], [zero, zero + 1.0, 2.0 * s], [zero, zero, zero + 2.0]]
    return np.stack(rows[derivative] if derivative < _ORDER else [zero] * 3, axis=1)


def _quadrature(inner: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Gauss points and weights over every piece."""
    points, weights = np.polynomial.legendre.leggauss(4)
    half = np.diff(inner) / 2.0
    middle = (inner[:-1] + inner[1:]) / 2.0
    return (
        (middle[:, None] + half[:, None] * points).ravel(),
        (half[:, None] * weights).ravel(),
    )


def _design(knots: FloatArray, times: FloatArray, derivative: int) -> FloatArray:
    """Return the basis, or a derivative of it, at some times: (times, basis)."""
    from scipy.interpolate import BSpline  # pyright: ignore[reportMissingTypeStubs]

    n_basis = len(knots) - _DEGREE - 1
    spline = BSpline(knots, np.eye(n_basis), _DEGREE)
    inside = np.clip(times, knots[0], knots[-1])
    return np.asarray(spline(inside, nu=derivative), dtype=np.float64)
