"""A numerical stand-in for a grasped joint: a mass, a hand that pulls it, and a hidden force.

It exists so that discovery can be tested where no robot simulator is installed. The hand is a
spring and a damper between the joint and a goal that moves with the pull; the joint resists with a
passive force and dry friction, which holds it where nothing overcomes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.bench.articulated.rollout import Probe, Rollout

SUBSTEP, SUBSTEPS = 0.002, 25
"""Seconds between rows, and rows of one step of the controller."""
STATES = (0.2, 0.4, 0.6, 0.8)
HORIZONS = (7, 11, 17)
PRELUDE_STEPS = 4
FAMILIES = ("viscous", "coulomb", "spring", "mixed")


@final
@dataclass(frozen=True, slots=True)
class Joint:
    """What a kind of joint shares: its range, inertia, hand, pulls, and coefficients drawn."""

    range: float
    mass: float
    stiffness: float
    hand_damping: float
    pulls: tuple[float, ...]
    stiction: float
    damping: tuple[float, float]
    friction: tuple[float, float]
    spring: tuple[float, float]


DRAWER = Joint(0.20, 4.0, 1500.0, 120.0, (0.06, 0.09, 0.12, 0.15), 0.01, (8, 40), (2, 12), (10, 60))
DOOR = Joint(
    0.70, 1.5, 300.0, 25.0, (0.2, 0.3, 0.4, 0.5), 0.035, (0.8, 4.0), (0.4, 2.0), (0.8, 5.0)
)
JOINTS = {"drawer": DRAWER, "door": DOOR}


@final
@dataclass(frozen=True, slots=True)
class Force:
    """The hidden force -b v - c sign(v) - k (q - q0), `k` per normalised range."""

    b: float = 0.0
    c: float = 0.0
    k: float = 0.0
    q0: float = 0.0

    @property
    def terms(self) -> frozenset[str]:
        """The terms it has, friction by one name."""
        present = {"velocity": self.b, "friction": self.c, "position": self.k}
        present["bias"] = self.k * self.q0
        return frozenset(name for name, value in present.items() if value != 0.0)

    def smooth(self, q: float, v: float) -> float:
        """Return all of it but friction."""
        return -self.b * v - self.k * (q - self.q0)


def draw(family: str, joint: Joint, rng: np.random.Generator) -> Force:
    """Draw coefficients of a family."""
    b, c = rng.uniform(*joint.damping), rng.uniform(*joint.friction)
    k, q0 = rng.uniform(*joint.spring), rng.uniform(0.1, 0.5)
    match family:
        case "viscous":
            return Force(b=b)
        case "coulomb":
            return Force(c=c)
        case "spring":
            return Force(k=k, q0=q0)
        case _:
            return Force(b, c, k, q0)


def roll(joint: Joint, force: Force, probe: Probe) -> Rollout:
    """Execute one probe; rows of the prelude are left out."""
    x, v = STATES[probe.state] * joint.range, 0.0
    goal = x
    if probe.prelude is not None:
        x, v, goal, _ = _move(joint, force, (x, v, goal), probe.prelude, PRELUDE_STEPS)
    x, _, _, rows = _move(joint, force, (x, v, goal), probe.pull, probe.horizon)
    moving = np.abs(rows[:, 1]) >= joint.stiction
    q, v_, u, f = rows[moving].T
    end = x / joint.range
    return Rollout(q, v_, u, f, end, bool(0.0 <= end <= 1.0))


def _move(
    joint: Joint, force: Force, start: tuple[float, float, float], pull: float, n_steps: int
) -> tuple[float, float, float, np.ndarray]:
    x, v, goal = start
    goal = x + 0.5 * (goal - x)
    n = n_steps * SUBSTEPS
    rows = np.empty((n, 4))
    for i in range(n):
        goal += pull * SUBSTEP
        q = x / joint.range
        hand = joint.stiffness * (goal - x) + joint.hand_damping * (pull - v)
        smooth = force.smooth(q, v)
        free = v + SUBSTEP * (hand + smooth) / joint.mass
        # Dry friction takes off at most the whole velocity: then the joint sticks.
        most = force.c * SUBSTEP / joint.mass
        taken = min(max(free, -most), most)
        rows[i] = q, v, pull, smooth - taken * joint.mass / SUBSTEP
        v = free - taken
        x += SUBSTEP * v
    return x, v, goal, rows


def passive_probes(joint: Joint) -> list[Probe]:
    """Two narrow trajectories, both opening: they cannot tell friction from a constant."""
    return [Probe(1, joint.pulls[1], h, None, "passive") for h in (7, 11)]


def pool_probes(joint: Joint, n: int, rng: np.random.Generator, role: str) -> list[Probe]:
    """Draw distinct probes over states, signed pulls, horizons and preludes."""
    every = [
        Probe(state, sign * pull, horizon, None if before is None else before * pull, role)
        for state in range(len(STATES))
        for pull in joint.pulls
        for sign in (-1.0, 1.0)
        for horizon in HORIZONS
        for before in (None, -sign)
        if 0.02 < STATES[state] + sign * pull * horizon * 0.05 / joint.range < 0.98
    ]
    return [every[int(i)] for i in rng.choice(len(every), n, replace=False)]


@final
@dataclass(frozen=True, slots=True, eq=False)
class World:
    """One hidden joint with its evidence."""

    joint: Joint
    force: Force
    passive: list[Rollout]
    pool: list[Probe]
    nominal: list[Rollout]
    admission: list[Rollout]
    control: list[Rollout]
    query: Callable[[Probe], Rollout]


def world(kind: str, family: str, seed: int) -> World:
    """Draw a world: pool, admission and control probes never overlap."""
    joint = JOINTS[kind]
    rng = np.random.default_rng([seed, FAMILIES.index(family), list(JOINTS).index(kind)])
    force = draw(family, joint, rng)
    probes = pool_probes(joint, 84, rng, "pool")
    pool, admission, control = probes[:45], probes[45:64], probes[64:]
    return World(
        joint,
        force,
        [roll(joint, force, probe) for probe in passive_probes(joint)],
        pool,
        [roll(joint, Force(), probe) for probe in pool],
        [roll(joint, force, probe) for probe in admission],
        [roll(joint, force, probe) for probe in control],
        lambda probe: roll(joint, force, probe),
    )
