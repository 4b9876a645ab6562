r"""Regression rows without derivatives: a law's columns integrated against test functions.

For $\dot x = \sum_j c_j \theta_j(x)$ and a test function $\varphi$ that vanishes at the ends,

$$-\int \dot\varphi\, x \, dt = \sum_j c_j \int \varphi\, \theta_j(x)\, dt .$$

$\varphi$ is a smooth bump made constant between samples. Then the left-hand side is
$\sum_k \varphi_k (x_{k+1} - x_k)$ exactly, however irregular the samples, and noise
of variance $\sigma^2$ on each sample gives rows of covariance $\sigma^2 \Phi D D^\top \Phi^\top$,
where $D$ takes differences. Only the right-hand side needs states between samples.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.samples import Samples
from alder.fitting.smoothing import Smooth

Library: TypeAlias = Callable[[FloatArray], FloatArray]
"""From states and inputs, (n, states + inputs), to columns, (n, columns)."""

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_POWER = 2  # bumps (1 - s^2)^2 vanish with their slope
_ROUNDING = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class WeakRows:
    """White rows: `sides` (rows, states) = `columns` (rows, columns) times coefficients.

    Noise of the left-hand sides is independent with the `sigma` of each state.
    """

    columns: FloatArray
    sides: FloatArray
    segments: FloatArray


def bumps(times: FloatArray, widths: tuple[float, ...]) -> FloatArray:
    """Return test functions on the intervals between times, (functions, intervals).

    Each width is a share of the whole; neighbours overlap by three quarters.
    """
    first, last = float(times[0]), float(times[-1])
    middle = (times[:-1] + times[1:]) / 2.0
    found = [np.ones((1, len(middle)))]
    for width in widths:
        half = width * (last - first) / 2.0
        centres = np.arange(first + half, last - half + half * 1e-6, half / 2.0)
        s = (middle[None, :] - centres[:, None]) / half
        found.append(np.maximum(1.0 - np.square(s), 0.0) ** _POWER)
    return np.concatenate(found)


def integrals(samples: Samples, smooth: Smooth, library: Library) -> FloatArray:
    """Integrate the columns from each sample to the next: (intervals, columns)."""
    found: list[FloatArray] = []
    for s in range(samples.n_segments):
        t = samples.times[samples.rows_of(s)]
        half = np.diff(t) / 2.0
        nodes = (t[:-1] + half)[:, None] + half[:, None] * _POINTS
        states = smooth.at(s, nodes.ravel())
        inputs = np.repeat(samples.inputs[samples.rows_of(s)][:-1], len(_POINTS), axis=0)
        values = library(np.concatenate([states, inputs], axis=1))
        shaped = values.reshape(len(half), len(_POINTS), -1)
        found.append(np.einsum("k,g,kgj->kj", half, _WEIGHTS, shaped))
    return np.concatenate(found)


def weak_rows(
    samples: Samples,
    smooth: Smooth,
    library: Library,
    widths: tuple[float, ...] = (0.6, 0.3, 0.15),
) -> WeakRows:
    """Return white regression rows of all segments.

    The functions of one segment are not independent; directions that the others already hold are
    left out.
    """
    inside = integrals(samples, smooth, library)
    columns: list[FloatArray] = []
    sides: list[FloatArray] = []
    numbers: list[FloatArray] = []
    first = 0
    for s in range(samples.n_segments):
        part = samples.rows_of(s)
        steps = np.diff(samples.states[part], axis=0)
        whiten = _whitening(bumps(samples.times[part], widths))
        columns.append(whiten @ inside[first : first + len(steps)])
        sides.append(whiten @ steps)
        numbers.append(np.full(len(whiten), float(s)))
        first += len(steps)
    return WeakRows(np.concatenate(columns), np.concatenate(sides), np.concatenate(numbers))


def _whitening(tests: FloatArray) -> FloatArray:
    """Combine test functions so that noise of one unit on each sample gives white rows."""
    on_samples = np.diff(tests, axis=1, prepend=0.0, append=0.0)
    _, sizes, mixed = np.linalg.svd(on_samples, full_matrices=False)
    kept = mixed[sizes > _ROUNDING * sizes[0]]
    # A row w on samples is the function g with w = -diff(g); summing w gives g back.
    return -np.cumsum(kept, axis=1)[:, :-1]
