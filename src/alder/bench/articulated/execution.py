"""Executing probes: from a reached state, with the dynamics of a world or of a model of it."""

import hashlib
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray, freeze
from alder.bench.articulated.compiled import Force
from alder.bench.articulated.grasp import Reached
from alder.bench.articulated.rig import Joint, Rig
from alder.bench.articulated.rollout import Probe, Rollout

RATE = 0.025
"""How far a pull of one moves the goal in a step of the controller, as a share of the range."""

N_PRELUDE = 4
"""Steps of the controller that a prelude lasts."""

STICKS = {"drawer": 0.01, "door": 0.035}
"""Speeds in m/s and rad/s below which dry friction lies anywhere in its band."""

SAFE_RANGE = (0.02, 0.98)
"""Normalised positions in which the joint is clear of its stops."""

MOST_SLIP = 0.015
"""How far, in m, the handle may move in the grasp."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dynamics:
    """What moves the joint: MuJoCo's own terms, and a force of a law or a network on top."""

    joint: Joint
    force: Force | None = None

    @property
    def digest(self) -> str:
        """A digest of all numbers in it."""
        digest = hashlib.sha256(repr(self.joint).encode())
        for part in self.force or ():
            digest.update(np.ascontiguousarray(part).tobytes() + b"|")
        return digest.hexdigest()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """What an execution showed: rows of substeps, where it ended, and whether the grasp held.

    The columns of `rows` are normalised position, velocity, pull, force and the slip of the handle
    in the grasp, in m.
    """

    rows: FloatArray
    end: float
    held: bool

    def __post_init__(self) -> None:
        """Freeze the rows."""
        object.__setattr__(self, "rows", freeze(self.rows))

    @property
    def extent(self) -> "Extent":
        """How far the motion went."""
        positions = np.append(self.rows[:, 0], self.end)
        slip = float(np.max(self.rows[:, 4])) if self.held else np.inf
        return Extent(self.end, float(positions.min()), float(positions.max()), slip)


@final
@dataclass(frozen=True, slots=True)
class Extent:
    """How far a motion went: its end, its lowest and highest position, and the slip in m.

    The slip is infinite where the grasp was lost.
    """

    end: float
    lowest: float
    highest: float
    slip: float

    @property
    def safe(self) -> bool:
        """Whether the joint stayed clear of its stops and the handle in the grasp."""
        return (
            self.lowest > SAFE_RANGE[0] and self.highest < SAFE_RANGE[1] and self.slip < MOST_SLIP
        )


def execute(rig: Rig, reached: Reached, probe: Probe, dynamics: Dynamics) -> Motion:
    """Restore the state, pull as the probe says, and return what was seen."""
    rig.set_joint(dynamics.joint)
    rig.restore(reached.state)
    pulls = commands(probe)
    goals = _goals(rig, reached, pulls)
    q, v, force, distance = rig.follow(goals, pulls, dynamics.force).T
    columns = (
        (q - rig.low) / rig.span,
        v,
        np.repeat(pulls, len(q) // len(pulls)),
        force,
        np.abs(distance - distance[0]),
    )
    return Motion(np.column_stack(columns), rig.position, rig.n_grasp_contacts() > 0)


def led(
    rig: Rig, reached: Reached, probe: Probe, motion: Motion, damping: float = 0.0
) -> FloatArray:
    """Return the force on the joint in each substep of a motion, but the last, from motion alone.

    The robot's own model is led along it; of the joint it knows its mass, and the `damping` that is
    assumed. MuJoCo damps implicitly, so that a wrong one shows wherever the velocity changes.
    """
    rig.set_joint(Joint(damping))
    rig.restore(reached.state)
    q, v = motion.rows[:, 0], motion.rows[:, 1]
    seen = np.column_stack([rig.low + rig.span * q, v])
    found = rig.force_along(_goals(rig, reached, commands(probe)), seen)
    return found - damping * v[:-1]


def _goals(rig: Rig, reached: Reached, pulls: FloatArray) -> FloatArray:
    return reached.goal + RATE * rig.span * np.cumsum(pulls)


def commands(probe: Probe) -> FloatArray:
    """Return the pull of every step: the prelude, then the pull itself."""
    prelude = [] if probe.prelude is None else [probe.prelude] * N_PRELUDE
    return np.array([*prelude, *([probe.pull] * probe.horizon)], dtype=np.float64)


def observed(motion: Motion, sticks_below: float) -> Rollout:
    """Return what is told of a motion: the rows in which the joint moves, the end, the safety."""
    q, v, u, force, _ = motion.rows[np.abs(motion.rows[:, 1]) > sticks_below].T
    return Rollout(q, v, u, force, motion.end, motion.extent.safe)
