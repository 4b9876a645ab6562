"""The worlds: one joint, four families of hidden dynamics, ten seeds of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from alder.bench.articulated.grasp import NOMINAL
from alder.bench.articulated.rig import Joint
from alder.bench.articulated.scene import KINDS, Kind

Family: TypeAlias = Literal["viscous", "coulomb", "spring", "mixed"]
FAMILIES: tuple[Family, ...] = ("viscous", "coulomb", "spring", "mixed")
N_SEEDS = 10

Range: TypeAlias = tuple[float, float]

# Damping, dry friction and stiffness; None leaves the nominal joint's. The ranges make the nominal
# model's error on control probes about the paper's, 0.007 of the range; no learner was looked at.
_RANGES: Mapping[Kind, Mapping[Family, tuple[Range | None, Range | None, Range | None]]] = {
    "drawer": {
        "viscous": ((36.0, 72.0), None, None),
        "coulomb": (None, (1.5, 4.0), None),
        "spring": (None, None, (15.0, 35.0)),
        "mixed": ((15.0, 30.0), (0.75, 2.0), (8.0, 18.0)),
    },
    "door": {
        "viscous": ((3.3, 6.9), None, None),
        "coulomb": (None, (0.6, 1.5), None),
        "spring": (None, None, (1.8, 3.9)),
        "mixed": ((1.7, 3.4), (0.25, 0.7), (0.9, 2.1)),
    },
}

TERMS: Mapping[Family, frozenset[str]] = {
    "viscous": frozenset(),
    "coulomb": frozenset({"friction"}),
    "spring": frozenset({"position"}),
    "mixed": frozenset({"friction", "position"}),
}
"""What the true law has beside a bias and velocity."""


@final
@dataclass(frozen=True, slots=True)
class HiddenWorld:
    """One world: what its joint does, which only this benchmark knows."""

    name: str
    kind: Kind
    family: Family
    number: int
    joint: Joint

    @property
    def terms(self) -> frozenset[str]:
        """The terms of the true law beside a bias and velocity."""
        return TERMS[self.family]


def case_names() -> tuple[str, ...]:
    """Name all worlds, the four families of a seed together."""
    return tuple(f"{family}-{n:02}" for n in range(1, N_SEEDS + 1) for family in FAMILIES)


def draw_world(name: str, kind: Kind, seed: int) -> HiddenWorld:
    """Draw the hidden dynamics of one case."""
    family: Family = next(family for family in FAMILIES if name.startswith(family))
    number = int(name.rpartition("-")[2])
    rng = np.random.default_rng([seed, KINDS.index(kind), FAMILIES.index(family), number])
    nominal = NOMINAL[kind]
    usual = (nominal.damping, nominal.friction, nominal.stiffness)
    drawn = [
        usual[i] if ends is None else round(float(rng.uniform(*ends)), 4)
        for i, ends in enumerate(_RANGES[kind][family])
    ]
    return HiddenWorld(name, kind, family, number, Joint(*drawn))
