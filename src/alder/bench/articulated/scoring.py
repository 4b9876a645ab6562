"""Scores of a model of a joint: prediction of control probes, and control by choosing actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.bench.articulated.grasp import POSITIONS
from alder.bench.articulated.rollout import Probe

SHARES = (0.2, 0.4, 0.6, 0.8)
"""Targets, as shares of the range that control probes of a state reach."""

NEAR = 0.01
"""An executed error, normalised, that counts as success."""


@final
@dataclass(frozen=True, slots=True)
class Target:
    """A normalised position wanted, from one of the reached states."""

    state: int
    position: float


def targets_of(probes: Sequence[Probe], ends: FloatArray) -> tuple[Target, ...]:
    """Return four targets for each state, within the range its control probes reach."""
    found: list[Target] = []
    for state in range(len(POSITIONS)):
        own = ends[_of_state(probes, state)]
        low, high = float(own.min()), float(own.max())
        found += [Target(state, low + share * (high - low)) for share in SHARES]
    return tuple(found)


def rmse(predicted: FloatArray, seen: FloatArray) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean(np.square(predicted - seen))))


def finite_choices(
    targets: Sequence[Target], probes: Sequence[Probe], predicted: FloatArray
) -> tuple[int, ...]:
    """Return, for each target, the control probe whose predicted end is closest."""
    chosen: list[int] = []
    for target in targets:
        own = np.flatnonzero(_of_state(probes, target.state))
        chosen.append(int(own[np.argmin(np.abs(predicted[own] - target.position))]))
    return tuple(chosen)


def relative_successes(
    targets: Sequence[Target], probes: Sequence[Probe], ends: FloatArray, chosen: Sequence[int]
) -> int:
    """Count choices whose executed error is within 0.01 of the best candidate's."""
    n = 0
    for target, choice in zip(targets, chosen, strict=True):
        errors = np.abs(ends[_of_state(probes, target.state)] - target.position)
        n += abs(ends[choice] - target.position) <= errors.min() + NEAR
    return int(n)


def nmse(predicted: FloatArray, seen: FloatArray) -> float:
    """Return the squared error over the spread of what was seen."""
    spread = float(np.sum(np.square(seen - seen.mean())))
    return float(np.sum(np.square(predicted - seen))) / max(spread, 1e-300)


def optional_terms(terms: frozenset[str]) -> frozenset[str]:
    """Leave out the terms every joint begins with."""
    return terms - {"bias", "velocity"}


def by_family(cases: Sequence[str], values: Sequence[float]) -> Mapping[str, float]:
    """Return the mean of each family; a case is named family-number."""
    families: dict[str, list[float]] = {}
    for case, value in zip(cases, values, strict=True):
        families.setdefault(case.rpartition("-")[0], []).append(value)
    return {family: float(np.mean(own)) for family, own in families.items()}


def _of_state(probes: Sequence[Probe], state: int) -> NDArray[np.bool_]:
    return np.array([probe.state == state for probe in probes])
