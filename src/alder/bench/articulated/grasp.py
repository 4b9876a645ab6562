"""Reaching states physically: grasp the handle, then pull the joint to four positions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray, freeze
from alder.bench.articulated.rig import Joint, Rig
from alder.bench.articulated.scene import Kind
from alder.errors import AlderError

POSITIONS = (0.2, 0.4, 0.6, 0.8)
"""The normalised positions that are visited."""

NOMINAL: Mapping[Kind, Joint] = {"drawer": Joint(0.5), "door": Joint(0.05)}
"""The joint as its maker describes it; all states are reached with it."""

# Steps of the controller above the handle, at it, and with the fingers closing.
_ABOVE, _AT, _CLOSING = 30, 30, 12
_LIFT = 0.06
# Each step moves the goal by this share of what is left, until the joint is there and at rest.
_SHARE = 0.35
_MOST_STEPS = 60
_NEAR, _STILL = 1e-3, 2e-3


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A state that was reached: MuJoCo's whole state, the controller's goal, and where it is."""

    state: FloatArray
    goal: float
    position: float


def reach_states(rig: Rig) -> tuple[Reached, ...]:
    """Grasp the handle of a nominal joint and visit all positions; raise where the grasp fails."""
    rig.set_joint(NOMINAL[rig.kind])
    for n_steps, lift, fingers in (
        (_ABOVE, _LIFT, False),
        (_AT, 0.0, False),
        (_CLOSING, 0.0, True),
    ):
        rig.close(fingers=fingers)
        rig.follow(np.zeros(n_steps), np.zeros(n_steps), lift=lift)
    if rig.n_grasp_contacts() == 0:
        raise AlderError(f"The fingers closed beside the handle of the {rig.kind}.")
    goal, reached = 0.0, list[Reached]()
    for position in POSITIONS:
        goal = _visit(rig, position, goal)
        reached.append(Reached(freeze(rig.save()), goal, rig.position))
    return tuple(reached)


def _visit(rig: Rig, position: float, goal: float) -> float:
    """Pull the joint to a normalised position and let it rest; return the goal that holds it."""
    for _ in range(_MOST_STEPS):
        goal += _SHARE * rig.span * (position - rig.position)
        rig.follow(np.array([goal]), np.zeros(1))
        if abs(rig.position - position) < _NEAR and abs(rig.velocity) < _STILL:
            return goal
    raise AlderError(f"The {rig.kind} did not come to rest at {position} of its range.")
