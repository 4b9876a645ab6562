r"""Four regimes with the same inputs, noise, sizes and domains, and a target that differs.

$$y = \sum_{j=1}^{6} c_j \phi_j(d, v, u, m) + g(d, v, u, h) + \varepsilon$$

$\phi$ is the library, $g$ what it lacks: nothing; a smooth term everywhere; a detent, which pushes
on one side of a contact and pulls on the other; or a contact force whose sign is a state $h$ that
nobody observes. The last two act in a small part of the domain. The paper names the regimes and
the library; the forms and numbers of $g$ are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, final, get_args

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray

Regime: TypeAlias = Literal["complete", "missing-smooth", "missing-local", "hidden-local"]
REGIMES: tuple[Regime, ...] = get_args(Regime)

INPUTS = ("distance", "speed", "action", "mass")
TARGET = "acceleration"
NOISE = 0.03
N_ROWS = {"train": 1200, "validation": 400, "shift": 2000}

LIBRARY = (
    "c0 + c1*(distance - 1.5) + c2*speed + c3*action/mass "
    "+ c4*gate((1 - distance)/0.15)*action/mass + c5/(distance*distance)"
)
"""The six terms as a law with parameters."""

_NEAR: Mapping[str, tuple[float, float]] = {
    "distance": (0.6, 2.4), "speed": (-1.0, 1.0), "action": (-1.0, 1.0), "mass": (0.7, 1.6),
}  # fmt: skip
_FAR: Mapping[str, tuple[float, float]] = {
    "distance": (0.5, 2.8), "speed": (-1.4, 1.4), "action": (-1.4, 1.4), "mass": (0.6, 2.0),
}  # fmt: skip
# The local part acts along the distance, where it exceeds so many noise deviations.
_WIDTH = 0.08
ACTS = 4.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Inputs (n, 4), targets with and without noise, and which rows the local part acts on."""

    inputs: FloatArray
    noisy: FloatArray
    clean: FloatArray
    is_local: NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers of one seed; the same in every regime."""

    coefficients: tuple[float, ...]
    smooth: float
    rate: float
    local: float
    middle: float


def draw(regime: Regime, seed: int, number: int) -> dict[str, Rows]:
    """Draw the rows of one seed by role; inputs and noise are those of every other regime."""
    numbers = _numbers(np.random.default_rng([seed, number, 0]))
    drawn: dict[str, Rows] = {}
    for i, (role, n_rows) in enumerate(N_ROWS.items()):
        rng = np.random.default_rng([seed, number, 1 + i])
        box = _FAR if role == "shift" else _NEAR
        inputs = np.stack([rng.uniform(*box[name], n_rows) for name in INPUTS], axis=1)
        noise = NOISE * rng.normal(size=n_rows)
        state = np.where(rng.random(n_rows) < 0.5, -1.0, 1.0)
        clean = library(inputs) @ np.array(numbers.coefficients)
        clean = clean + _lacking(regime, inputs, state, numbers)
        is_local = _is_local(regime, inputs, numbers)
        drawn[role] = Rows(inputs, clean + noise, clean, is_local)
    return drawn


def library(inputs: FloatArray) -> FloatArray:
    """Return the six terms, (n, 6)."""
    d, v, u, m = inputs.T
    gate = 1.0 / (1.0 + np.exp(-(1.0 - d) / 0.15))
    return np.stack([np.ones_like(d), d - 1.5, v, u / m, gate * u / m, 1.0 / (d * d)], axis=1)


def _numbers(rng: np.random.Generator) -> _Numbers:
    signs = rng.choice((-1.0, 1.0), size=6)
    return _Numbers(
        coefficients=tuple(float(c) for c in signs * rng.uniform(0.3, 0.7, 6)),
        smooth=float(rng.uniform(0.5, 0.7)),
        rate=float(rng.uniform(2.2, 2.8)),
        local=float(rng.uniform(0.8, 1.0)),
        middle=float(rng.uniform(1.3, 1.7)),
    )


def _lacking(
    regime: Regime, inputs: FloatArray, state: FloatArray, numbers: _Numbers
) -> FloatArray:
    """Return what the library lacks."""
    d, v = inputs[:, 0], inputs[:, 1]
    z = (d - numbers.middle) / _WIDTH
    match regime:
        case "complete":
            return np.zeros_like(d)
        case "missing-smooth":
            return numbers.smooth * np.sin(numbers.rate * v) * d
        case "missing-local":
            return numbers.local * _detent(z)
        case "hidden-local":
            return state * numbers.local * _bump(z)


def _is_local(regime: Regime, inputs: FloatArray, numbers: _Numbers) -> NDArray[np.bool_]:
    """Say where the local part exceeds four noise deviations; a detent's middle is inside."""
    z = np.abs(inputs[:, 0] - numbers.middle) / _WIDTH
    shape = _detent(np.maximum(z, 1.0)) if regime == "missing-local" else _bump(z)
    return numbers.local * shape > ACTS * NOISE


def _bump(z: FloatArray) -> FloatArray:
    return np.exp(-0.5 * np.square(z))


def _detent(z: FloatArray) -> FloatArray:
    """Return the slope of a bump, largest at one width from the middle, where it is one."""
    return z * np.exp(0.5 * (1.0 - np.square(z)))
