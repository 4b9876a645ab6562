"""Worlds in which no law can be found, and worlds in which a true one is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray

Rows: TypeAlias = dict[str, FloatArray]
Outcome: TypeAlias = Callable[[Rows, np.random.Generator], FloatArray]

VARIABLES = ("x", "v", "u")
TARGET = "y"
N_PUBLIC, N_PROTECTED, N_FINAL = 64, 128, 4096


@final
@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Rows of one world by role; `final` takes no part in anything but the score."""

    kind: str
    public: Rows
    protected: Mapping[str, Rows]
    final: Rows


def _gaussian(rows: Rows, rng: np.random.Generator) -> FloatArray:
    return rng.normal(size=len(rows["x"]))


def _heavy(rows: Rows, rng: np.random.Generator) -> FloatArray:
    return rng.standard_t(5.0, size=len(rows["x"]))


def _skewed(rows: Rows, rng: np.random.Generator) -> FloatArray:
    return rng.exponential(size=len(rows["x"]))


def _hidden(rows: Rows, rng: np.random.Generator) -> FloatArray:
    """The target follows a variable nobody measures."""
    hidden = rng.uniform(-1.0, 1.0, len(rows["x"]))
    return 2.0 * hidden**3 + 0.1 * rng.normal(size=len(hidden))


def _ripple(rows: Rows, rng: np.random.Generator) -> FloatArray:
    """The target oscillates far faster than rows are dense; the grammar has no such frequency."""
    return np.sin(97.0 * rows["x"] + 61.0 * rows["v"] * rows["u"]) + 0.1 * rng.normal(
        size=len(rows["x"])
    )


def _staircase(rows: Rows, rng: np.random.Generator) -> FloatArray:
    """A trend with steps on it: the trend is easy, the steps are outside the grammar."""
    return np.floor(4.0 * rows["x"]) + 0.5 * rows["v"] + 0.05 * rng.normal(size=len(rows["x"]))


NULL: dict[str, Outcome] = {
    "gaussian": _gaussian,
    "heavy": _heavy,
    "skewed": _skewed,
    "hidden": _hidden,
    "ripple": _ripple,
    "staircase": _staircase,
}

TRUE: dict[str, tuple[str, Outcome]] = {
    "power": (
        "k*x^p + b*v",
        lambda rows, rng: 2.0 * rows["x"] ** -1.5 + 0.7 * rows["v"] + _noise(rows, rng, 0.1),
    ),
    "saturating": (
        "k*tanh(q*v) + b*u + c",
        lambda rows, rng: (
            1.5 * np.tanh(1.2 * rows["v"]) + 0.5 * rows["u"] + 1.0 + _noise(rows, rng, 0.3)
        ),
    ),
    "screened": (
        "k*exp(-q*x)/x + b*v*u",
        lambda rows, rng: (
            3.0 * np.exp(-0.8 * rows["x"]) / rows["x"]
            + 0.4 * rows["v"] * rows["u"]
            + _noise(rows, rng, 0.05)
        ),
    ),
    "linear": (
        "a + b*x + c*v",
        lambda rows, rng: 1.0 - 0.8 * rows["x"] + 0.6 * rows["v"] + _noise(rows, rng, 0.4),
    ),
}


def null_world(number: int, rng: np.random.Generator) -> World:
    """Draw a null world; kinds take turns."""
    kind = list(NULL)[number % len(NULL)]
    return _world(kind, NULL[kind], rng)


def true_world(number: int, rng: np.random.Generator) -> tuple[World, str]:
    """Draw a world with the structure of its law; kinds take turns."""
    kind = list(TRUE)[number % len(TRUE)]
    structure, outcome = TRUE[kind]
    return _world(kind, outcome, rng), structure


def _noise(rows: Rows, rng: np.random.Generator, size: float) -> FloatArray:
    return size * rng.normal(size=len(rows["x"]))


def _world(kind: str, outcome: Outcome, rng: np.random.Generator) -> World:
    def rows(n_rows: int, low: float, high: float) -> Rows:
        columns = {
            "x": rng.uniform(low, high, n_rows),
            "v": rng.uniform(-1.5, 1.5, n_rows),
            "u": rng.uniform(-1.5, 1.5, n_rows),
        }
        return {**columns, TARGET: outcome(columns, rng)}

    return World(
        kind,
        public=rows(N_PUBLIC, 0.5, 2.0),
        protected={
            "admission": rows(N_PROTECTED, 0.5, 2.0),
            "shift": rows(N_PROTECTED, 1.5, 2.5),
        },
        final=rows(N_FINAL, 0.5, 2.0),
    )
