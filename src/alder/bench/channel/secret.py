"""Protected rows that hold planted bits: whether each outcome lies above or below a known law."""

from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray

Rows: TypeAlias = dict[str, FloatArray]

VARIABLE, TARGET = "x", "y"
N_ROWS = 128
N_SHIFT = 32

EDGE = 1.0
"""Admission rows lie below this input, shifted rows above."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Secret:
    r"""The rows $y_j = x_j + a s_j$ of both roles, with a fair coin $s_j = \pm 1$ each.

    The inputs are a grid that everybody knows, as they are where protected rows are repeats.
    """

    protected: dict[str, Rows]
    signs: FloatArray
    size: float


def plant(rng: np.random.Generator, size: float, n_rows: int = N_ROWS) -> Secret:
    """Draw the bits of a trial; `size` is the distance $a$ of every outcome from the known law."""
    places = {"admission": grid(n_rows), "shift": EDGE + grid(N_SHIFT)}
    signs = {role: rng.choice([-1.0, 1.0], len(x)) for role, x in places.items()}
    protected = {role: {VARIABLE: x, TARGET: x + size * signs[role]} for role, x in places.items()}
    return Secret(protected, signs["admission"], size)


def grid(n_rows: int) -> FloatArray:
    """Return evenly spaced inputs between 0 and 1."""
    return (np.arange(n_rows) + 0.5) / n_rows
