"""What a log cannot tell: columns that never move, and columns that always move together."""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.subsets import least_squares

_STILL = 1e-9  # of a column's size
_TIED = 1e-3  # of its own spread: what is left of a column when the others are taken away


@final
@dataclass(frozen=True, slots=True)
class Unmoved:
    """A column that the log does not excite: constant, or tied to others by `tie`."""

    column: str
    tie: str
    value: float
    low: float
    high: float


def unmoved_input(
    columns: tuple[str, ...], n_states: int, table: FloatArray, sigma: FloatArray
) -> Unmoved | None:
    """Return the first input that is constant, or a linear function of states and other inputs.

    `sigma` is the noise of the states: a tie is as exact as the states are known.
    """
    for place in range(n_states, len(columns)):
        u = table[:, place]
        low, high = float(u.min()), float(u.max())
        if high - low <= _STILL * max(abs(low), abs(high), 1e-300):
            return Unmoved(columns[place], "", low, low, high)
        others = [i for i in range(len(columns)) if i != place]
        X = np.column_stack([np.ones(len(u)), table[:, others]])
        scale = np.maximum(np.abs(X).max(axis=0), 1e-300)
        c = least_squares(X / scale, u) / scale
        noise = np.concatenate([sigma, np.zeros(len(columns) - n_states)])[others]
        left = float(np.std(u - X @ c))
        known_to = float(np.linalg.norm(c[1:] * noise))
        if left <= max(_TIED * float(np.std(u)), 1.5 * known_to) and known_to < 0.3 * np.std(u):
            return Unmoved(columns[place], _words(c, columns, others), 0.0, low, high)
    return None


def unmoved_state(
    columns: tuple[str, ...], values: FloatArray, sigma: FloatArray
) -> Unmoved | None:
    """Return the first state that moves by no more than its noise."""
    for place in range(len(sigma)):
        x = values[:, place]
        if np.std(x) <= max(sigma[place], _STILL * float(np.abs(x).max(initial=0.0))):
            low, high = float(x.min()), float(x.max())
            return Unmoved(columns[place], "", float(np.mean(x)), low, high)
    return None


def _words(c: FloatArray, columns: tuple[str, ...], others: list[int]) -> str:
    parts = [
        f"{value:.3g}*{columns[i]}"
        for value, i in zip(c[1:].tolist(), others, strict=True)
        if abs(value) > 1e-6 * float(np.abs(c[1:]).max())
    ]
    if abs(c[0]) > 1e-9:
        parts.append(f"{float(c[0]):.3g}")
    return " + ".join(parts).replace("+ -", "- ")
