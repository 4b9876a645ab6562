"""The probes of a joint: drawn once, screened in the nominal world, the same in all worlds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import final

import numpy as np

from alder.bench.articulated.execution import Dynamics, Extent
from alder.bench.articulated.grasp import NOMINAL, POSITIONS
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.rollout import Probe
from alder.bench.articulated.scene import KINDS, Kind
from alder.errors import AlderError

HORIZONS = (11, 17, 7)
"""How many steps a pull may last; the planner tries them in this order."""

N_QUERIES = 6
N_POOL: Mapping[Kind, int] = {"drawer": 45, "door": 46}
N_ADMISSION: Mapping[Kind, int] = {"drawer": 19, "door": 24}
N_CONTROL = 20

CLEAR_RANGE = (0.07, 0.93)
"""Where a legal probe stays in the nominal world: farther from the stops than safety asks for,
since hidden dynamics move the joint elsewhere."""

_MOST_DRAWS = 4000
_SLOWEST, _FASTEST = 0.25, 1.0
_PRELUDES = 1.0 / 3.0


@final
@dataclass(frozen=True, slots=True)
class Probes:
    """All probes of a joint by role."""

    passive: tuple[Probe, ...]
    pool: tuple[Probe, ...]
    admission: tuple[Probe, ...]
    control: tuple[Probe, ...]


def choose_probes(lab: Lab, seed: int) -> Probes:
    """Draw probes, and keep those that are legal in the nominal world, until every role is full."""
    nominal = Dynamics(NOMINAL[lab.kind])

    def is_legal(probe: Probe) -> bool:
        return _is_clear(lab.extent(probe, nominal))

    rng = np.random.default_rng([seed, KINDS.index(lab.kind), 77])
    passive = tuple(Probe(state, pull, 11, None, "passive") for state, pull in ((1, 0.4), (2, 0.5)))
    if not all(map(is_legal, passive)):
        raise AlderError(f"The passive trajectories of the {lab.kind} come too near its stops.")
    pool = _fill(_varied(rng, "query"), is_legal, N_POOL[lab.kind])
    admission = _fill(_varied(rng, "admission"), is_legal, N_ADMISSION[lab.kind])
    per_state = N_CONTROL // len(POSITIONS)
    control = tuple(
        probe
        for state in range(len(POSITIONS))
        for probe in _fill(_actions(rng, state, per_state), is_legal, per_state)
    )
    return Probes(passive, pool, admission, control)


def _is_clear(extent: Extent) -> bool:
    low, high = CLEAR_RANGE
    return extent.safe and extent.lowest > low and extent.highest < high


def _fill(drawn: Iterator[Probe], is_legal: Callable[[Probe], bool], n: int) -> tuple[Probe, ...]:
    """Return the first so many legal probes."""
    found: list[Probe] = []
    for _ in range(_MOST_DRAWS):
        probe = next(drawn)
        if is_legal(probe):
            found.append(probe)
        if len(found) == n:
            return tuple(found)
    raise AlderError(f"Only {len(found)} of {n} probes are legal in the nominal world.")


def _varied(rng: np.random.Generator, role: str) -> Iterator[Probe]:
    """Draw probes over states, signed pulls and horizons, some with a prelude against the pull."""
    for state in cycle(range(len(POSITIONS))):
        sign = float(rng.choice([-1.0, 1.0]))
        pull = sign * _rounded(rng.uniform(_SLOWEST, _FASTEST))
        horizon = int(rng.choice(HORIZONS))
        against = -sign * _rounded(rng.uniform(_SLOWEST, _FASTEST))
        prelude = against if rng.random() < _PRELUDES else None
        yield Probe(state, pull, horizon, prelude, role)


def _actions(rng: np.random.Generator, state: int, n: int) -> Iterator[Probe]:
    """Draw plain pulls of one state, in turn from equal parts of all pulls: actions to choose from.

    A part whose draw is not legal is drawn again in its turn, at another horizon.
    """
    for part in cycle(range(n)):
        low = -_FASTEST + 2.0 * _FASTEST * part / n
        pull = _rounded(rng.uniform(low, low + 2.0 * _FASTEST / n))
        yield Probe(state, pull, int(rng.choice(HORIZONS)), None, "control")


def _rounded(pull: float) -> float:
    """Keep three decimals, so that a probe reads well."""
    return round(float(pull), 3)
