"""What a log cannot tell: columns that never move, and columns that always move together."""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.samples import Samples
from alder.fitting.subsets import least_squares

_STILL = 1e-9  # of a column's size
_SMALL = 1e-3  # of a state's size: a range as small is that of a constant, whatever it does there
_LAGS = 20  # samples up to which noise is asked whether it remembers
_CHANCE = 4.5  # standard errors: by chance once in a hundred thousand comparisons
_TIED = 1e-3  # of its own spread: what is left of a column when the others are taken away


@final
@dataclass(frozen=True, slots=True)
class Unmoved:
    """A column that the log does not excite: constant, or tied to others by `tie`.

    A `quick` one is not smooth, and no noise either: it changes from `low` to `high` between
    samples.
    """

    column: str
    tie: str
    value: float
    low: float
    high: float
    quick: bool = False


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
    columns: tuple[str, ...], values: FloatArray, sigma: FloatArray, samples: Samples
) -> Unmoved | None:
    """Return the first state that moves by no more than its noise, as smoothing tells it.

    What is too quick for smoothing is noise to it too: `samples` say which of the two it is.
    """
    for place in range(len(sigma)):
        x, seen = values[:, place], samples.states[:, place]
        if np.std(x) <= max(sigma[place], _STILL * float(np.abs(x).max(initial=0.0))):
            low, high = float(seen.min()), float(seen.max())
            small = high - low <= _SMALL * max(abs(low), abs(high))
            quick = not small and not _is_noise(samples, place)
            return Unmoved(columns[place], "", float(np.mean(x)), low, high, quick)
    return None


def _is_noise(samples: Samples, place: int) -> bool:
    """Say whether a state is a constant and white Gaussian noise, as far as samples tell.

    Noise does not remember, does not follow what acts, and has no spikes and no two ends.
    """
    x = samples.states[:, place]
    e: FloatArray = (x - x.mean()) / max(float(x.std()), 1e-300)
    others = np.delete(np.concatenate([samples.states, samples.inputs], axis=1), place, axis=1)
    columns: FloatArray = (others - others.mean(axis=0)) / np.maximum(others.std(axis=0), 1e-300)
    segment = samples.segment_of()
    found = [float(np.mean(e**4) - 3.0) / np.sqrt(24.0)]  # the standard error of it, but for n
    counts = [len(e)]
    for lag in range(min(_LAGS, len(e) // 4) + 1):
        late = e[lag:]
        joint = segment[lag:] == segment[: len(e) - lag]
        if not joint.any():  # no trajectory lasts as long
            break
        before = columns if lag == 0 else np.column_stack([e, columns])
        found += np.mean(late[joint, None] * before[: len(e) - lag][joint], axis=0).tolist()
        counts += [int(joint.sum())] * before.shape[1]
    return bool((np.abs(found) * np.sqrt(counts) <= _CHANCE).all())


def _words(c: FloatArray, columns: tuple[str, ...], others: list[int]) -> str:
    parts = [
        f"{value:.3g}*{columns[i]}"
        for value, i in zip(c[1:].tolist(), others, strict=True)
        if abs(value) > 1e-6 * float(np.abs(c[1:]).max())
    ]
    if abs(c[0]) > 1e-9:
        parts.append(f"{float(c[0]):.3g}")
    return " + ".join(parts).replace("+ -", "- ")
