"""Truths with a jump, a kink or a broken third derivative: laws of the grammar have none."""

from importlib import import_module

import numpy as np

from alder.arrays import FloatArray
from alder.bench.refusal.domains import RANGES, Columns, Setting
from alder.bench.refusal.family import Truth

_KNOTS = 9


def absolute(rng: np.random.Generator) -> Truth:
    """Draw the distance of v from a place that may move with x: a kink."""
    place, slope = rng.uniform(-0.8, 0.8), float(rng.choice([0.0, 0.4]))
    return lambda rows, setting: np.abs(rows["v"] - place - slope * (rows["x"] - 1.5))


def floor(rng: np.random.Generator) -> Truth:
    """Draw a staircase along x, now and then askew."""
    k, slope = rng.uniform(1.0, 4.0), float(rng.choice([0.0, 0.7]))
    return lambda rows, setting: np.floor(k * rows["x"] + slope * rows["v"])


def step(rng: np.random.Generator) -> Truth:
    """Draw a jump across a plane in all three variables; v or nothing lies behind it."""
    a, b, place, plain = rng.normal(), rng.normal(), rng.uniform(0.8, 1.8), rng.random() < 0.5

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        beyond = rows["x"] + 0.5 * a * rows["v"] + 0.5 * b * rows["u"] > place
        return np.where(beyond, 1.0 if plain else rows["v"], 0.0)

    return truth


def regime_change(rng: np.random.Generator) -> Truth:
    """Draw a term that begins beyond the public range of x: slowly, or at once."""
    place, at_once = rng.uniform(2.05, 2.9), rng.random() < 0.5

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        beyond = rows["x"] - place
        return np.where(beyond > 0.0, 1.0 + beyond if at_once else 3.0 * beyond, 0.0)

    return truth


def lookup_table(rng: np.random.Generator) -> Truth:
    """Draw a table of random values along x, read by straight lines between its entries."""
    knots, values = _knots(), rng.normal(size=_KNOTS)
    return lambda rows, setting: np.interp(rows["x"], knots, values)


def spline(rng: np.random.Generator) -> Truth:
    """Draw a cubic spline through random values along x: two derivatives hold, the third breaks."""
    interpolate = import_module("scipy.interpolate")  # has no types
    curve = interpolate.CubicSpline(_knots(), rng.normal(size=_KNOTS))
    return lambda rows, setting: np.asarray(curve(rows["x"]), dtype=np.float64)


def _knots() -> FloatArray:
    return np.linspace(RANGES["admission"]["x"][0], RANGES["shift"]["x"][1], _KNOTS)
