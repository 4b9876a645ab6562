r"""Truths without a break that no finite tree of the grammar says exactly.

Special functions, integrals, flows and roots of implicit equations are not elementary (Liouville
1835; Risch 1969); a sine is elementary, but only over complex exponents, and the grammar is real.
"""

from collections.abc import Callable
from importlib import import_module

import numpy as np

from alder.arrays import FloatArray
from alder.bench.refusal.domains import Columns, Setting
from alder.bench.refusal.family import Truth

_HALVINGS = 60
_FLOW_STEPS = 80


def sine(rng: np.random.Generator) -> Truth:
    r"""Draw $\sin(k x + \varphi)$, now and then times v."""
    k, phase, modulated = rng.uniform(2.0, 9.0), rng.uniform(0.0, 6.0), rng.random() < 0.5

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        wave = np.sin(k * rows["x"] + phase)
        return wave * rows["v"] if modulated else wave

    return truth


def special_function(rng: np.random.Generator) -> Truth:
    """Draw a Bessel function, the gamma function or its logarithmic derivative, of x."""
    special = import_module("scipy.special")  # has no types
    k, name = rng.uniform(1.0, 5.0), str(rng.choice(["j0", "j1", "gamma", "psi"]))
    k = k if name in ("j0", "j1") else 0.5 + 0.2 * k

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        return np.asarray(getattr(special, name)(k * rows["x"]), dtype=np.float64)

    return truth


def integral(rng: np.random.Generator) -> Truth:
    """Draw an integral up to x: of a Gaussian, of sin(t)/t, Dawson's, or an elliptic one."""
    special = import_module("scipy.special")  # has no types
    k, name = rng.uniform(0.5, 2.5), str(rng.choice(["erf", "dawsn", "sici", "ellipeinc"]))

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        t = k * (rows["x"] - 1.2)
        match name:
            case "sici":
                value = special.sici(2.0 * t)[0]
            case "ellipeinc":
                value = special.ellipeinc(2.0 * t, 0.9)
            case _:
                value = getattr(special, name)(t)
        return np.asarray(value, dtype=np.float64)

    return truth


def kepler(rng: np.random.Generator) -> Truth:
    r"""Draw the height on an orbit: $\sin E$ where $E - e \sin E = M$ and $M$ grows with x."""
    e, k, phase = rng.uniform(0.3, 0.85), rng.uniform(1.0, 4.0), rng.uniform(0.0, 6.0)

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        return np.sin(eccentric_anomaly(k * rows["x"] + phase, e))

    return truth


def eccentric_anomaly(M: FloatArray, e: float) -> FloatArray:
    """Solve Kepler's equation by halving: its left side rises, and E is within e of M."""
    low, high = M - e, M + e
    for _ in range(_HALVINGS):
        E = 0.5 * (low + high)
        below = E - e * np.sin(E) < M
        low, high = np.where(below, E, low), np.where(below, high, E)
    return 0.5 * (low + high)


def flow(rng: np.random.Generator) -> Truth:
    r"""Draw how fast a forced pendulum is after a while, started at angle x with speed v.

    $$\ddot\theta = -\sin\theta - c\,\dot\theta + u \cos(\omega t)$$
    """
    c, omega, end = rng.uniform(0.05, 0.3), rng.uniform(0.8, 2.0), rng.uniform(3.0, 8.0)
    h = end / _FLOW_STEPS

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        def rate(t: float, z: FloatArray) -> FloatArray:
            pull = -np.sin(z[0]) - c * z[1] + rows["u"] * np.cos(omega * t)
            return np.stack([z[1], pull])

        z = np.stack([rows["x"], rows["v"]])
        for i in range(_FLOW_STEPS):
            z = _runge_kutta(rate, i * h, z, h)
        return z[1]

    return truth


def _runge_kutta(
    rate: Callable[[float, FloatArray], FloatArray], t: float, z: FloatArray, h: float
) -> FloatArray:
    a = rate(t, z)
    b = rate(t + h / 2.0, z + h / 2.0 * a)
    c = rate(t + h / 2.0, z + h / 2.0 * b)
    d = rate(t + h, z + h * c)
    return z + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
