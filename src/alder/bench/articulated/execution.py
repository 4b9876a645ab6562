"""Executing probes: from a reached state, with the dynamics of a world or of a model of it."""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.articulated.compiled import Force
from alder.bench.articulated.grasp import Reached
from alder.bench.articulated.rig import Joint, Rig
from alder.bench.articulated.rollout import Probe, Rollout
from alder.bench.articulated.scene import Kind

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


def execute(rig: Rig, reached: Reached, probe: Probe, dynamics: Dynamics) -> Rollout:
    """Restore the state, pull as the probe says, and return what was seen."""
    rig.set_joint(dynamics.joint)
    rig.restore(reached.state)
    pulls = commands(probe)
    goals = reached.goal + RATE * rig.span * np.cumsum(pulls)
    rows = rig.follow(goals, pulls, dynamics.force)
    return _observed(rig, rows, pulls)


def commands(probe: Probe) -> FloatArray:
    """Return the pull of every step: the prelude, then the pull itself."""
    prelude = [] if probe.prelude is None else [probe.prelude] * N_PRELUDE
    return np.array([*prelude, *([probe.pull] * probe.horizon)], dtype=np.float64)


def _observed(rig: Rig, rows: FloatArray, pulls: FloatArray) -> Rollout:
    q, v, force, distance = rows.T
    position = (q - rig.low) / rig.span
    low, high = SAFE_RANGE
    everywhere = np.append(position, rig.position)
    slip = float(np.max(np.abs(distance - distance[0])))
    inside = bool(np.all((everywhere > low) & (everywhere < high)))
    moves = np.abs(v) > STICKS[rig.kind]
    u = np.repeat(pulls, len(q) // len(pulls))
    return Rollout(
        position[moves], v[moves], u[moves], force[moves], rig.position,
        safe=inside and slip < MOST_SLIP and rig.n_grasp_contacts() > 0,
    )  # fmt: skip


def predicted_end(rig: Rig, reached: Reached, probe: Probe, dynamics: Dynamics) -> Rollout:
    """Return what a model of the joint says the probe would show: the same execution."""
    return execute(rig, reached, probe, dynamics)


def sticks_below(kind: Kind) -> float:
    """Return the speed below which rows of this joint are left out."""
    return STICKS[kind]
