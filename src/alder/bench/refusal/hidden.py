"""Truths that follow something no column shows: a state, a clock, an apparatus, earlier rows."""

import numpy as np

from alder.arrays import FloatArray
from alder.bench.refusal.domains import PROTECTED, Columns, Role, Setting
from alder.bench.refusal.family import Truth

# When each role was measured, as parts of the time the whole study took.
_CLOCK: dict[Role, tuple[float, float]] = {
    "fit": (0.0, 0.3),
    "validation": (0.3, 0.4),
    "pool": (0.4, 0.6),
    "admission": (0.6, 0.8),
    "admission-test": (0.6, 0.8),
    "shift": (0.8, 1.0),
    "shift-test": (0.8, 1.0),
}


def hidden_variable(rng: np.random.Generator) -> Truth:
    """Draw a term times a variable that nobody measures, new with every row."""
    power = float(rng.choice([0.0, 1.0, -1.0]))
    return lambda rows, setting: setting.rng.uniform(-1.0, 1.0, len(rows["x"])) * rows["x"] ** power


def hidden_mode(rng: np.random.Generator) -> Truth:
    """Draw a term whose sign switches from time to time, unseen."""
    switching = rng.uniform(0.02, 0.2)

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        switches = setting.rng.random(len(rows["x"])) < switching
        return np.where(np.cumsum(switches) % 2 == 0, 1.0, -1.0) * rows["v"]

    return truth


def drift(rng: np.random.Generator) -> Truth:
    """Draw an instrument whose zero wanders with a clock that is no column."""
    trend, waves, phase = rng.normal(), rng.uniform(0.5, 3.0), rng.uniform(0.0, 6.0)

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        t = np.linspace(*_CLOCK[setting.role], len(rows["x"]))
        return trend * t + np.sin(2.0 * np.pi * waves * t + phase)

    return truth


def other_apparatus(rng: np.random.Generator) -> Truth:
    """Draw a term whose coefficient is another one where protected rows were measured."""
    factor = float(rng.choice([-1.0, 1.0])) * rng.uniform(0.1, 0.6)

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        return rows["x"] * rows["v"] * (1.0 + factor * (setting.role in PROTECTED))

    return truth


def hysteresis(rng: np.random.Generator) -> Truth:
    """Draw a relay: on above one value of u, off below another, as it was in between."""
    half = rng.uniform(0.3, 1.2)

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        state, states = float(setting.rng.choice([-1.0, 1.0])), np.empty(len(rows["u"]))
        for i, u in enumerate(rows["u"]):
            state = 1.0 if u > half else -1.0 if u < -half else state
            states[i] = state
        return states

    return truth


def memory(rng: np.random.Generator) -> Truth:
    r"""Draw a fading sum over the u of this row and all before it: $m_i = q\,m_{i-1} + u_i$."""
    q = rng.uniform(0.3, 0.95)

    def truth(rows: Columns, setting: Setting) -> FloatArray:
        sums = np.empty(len(rows["u"]))
        total = setting.rng.normal()
        for i, u in enumerate(rows["u"]):
            total = q * total + u
            sums[i] = total
        return sums

    return truth
