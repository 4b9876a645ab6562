"""A robot before a joint: MuJoCo's state and the controller, in one place.

The controller's only state is its goal, a joint position for the grasped handle; everything else is
in MuJoCo. Restoring `mjSTATE_INTEGRATION` therefore repeats a rollout to the last bit.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.bench.articulated.compiled import (
    N_ARM,
    NO_FORCE,
    Force,
    Machine,
    advance,
    constraint_pointer,
    load_library,
)
from alder.bench.articulated.leading import lead
from alder.bench.articulated.packages import load_robots
from alder.bench.articulated.scene import Kind, Scene, compose

N_SUBSTEPS = 25
"""Substeps of 2 ms in a step of the controller: torques at 500 Hz, goals at 20 Hz."""

_GAINS = (400.0, 400.0, 400.0, 300.0, 300.0, 300.0)
# MuJoCo's friction row is soft; with its usual settings dry friction acts like a viscous one.
_FRICTION_SOLREF = (0.004, 1.0)
_FRICTION_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)
_DOWN = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""The grip frame that looks straight down and closes the fingers along y."""


@final
@dataclass(frozen=True, slots=True)
class Joint:
    """What MuJoCo's joint itself does: damping, dry friction and a spring at its lowest position.

    In N s/m, N and N/m for a drawer, in N m s/rad, N m and N m/rad for a door.
    """

    damping: float
    friction: float = 0.0
    stiffness: float = 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """Where the handle is at joint position zero, and how the joint moves it."""

    handle: FloatArray
    anchor: FloatArray
    axis: FloatArray
    is_hinge: bool

    def poses(self, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return grip points (n, 3) and frames (n, 9) that hold the handle at joint positions."""
        points, frames = np.empty((len(positions), 3)), np.empty((len(positions), 9))
        for i, q in enumerate(positions):
            turn = _rotation(self.axis, float(q)) if self.is_hinge else np.eye(3)
            shift = np.zeros(3) if self.is_hinge else q * self.axis
            points[i] = self.anchor + turn @ (self.handle - self.anchor) + shift
            frames[i] = (turn @ _DOWN).ravel()
        return points, frames


def _rotation(axis: FloatArray, angle: float) -> FloatArray:
    """Return the matrix that turns about an axis (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


@final
class Rig:
    """One model with one state, moved by the compiled control loop. Not for two threads at once."""

    def __init__(self, scene: Scene) -> None:
        """Set the arm at rest before the joint; only the fingers and the handle collide."""
        load_library()
        self._mujoco = load_robots("mujoco")
        self.kind: Kind = scene.kind
        self.model = model = scene.model
        self.data = data = self._mujoco.MjData(model)
        joint = model.joint("art_joint")
        self._joint, self._dof, self._qadr = joint.id, int(joint.dofadr[0]), int(joint.qposadr[0])
        self.low, high = (float(end) for end in model.jnt_range[self._joint])
        self.span = high - self.low
        _quieten(model, self._dof)
        arm = [model.joint(f"robot0_joint{i}") for i in range(1, N_ARM + 1)]
        fingers = [model.joint(f"gripper0_right_finger_joint{i}") for i in (1, 2)]
        for part, at in zip((*arm, *fingers), (*scene.rest, *scene.fingers), strict=True):
            data.qpos[part.qposadr[0]] = at
        # Some friction must be on for the constraint forces to exist, and so their address.
        self.set_joint(Joint(1.0, 1.0))
        self._mujoco.mj_forward(model, data)
        self.geometry = self._geometry()
        self._machine = self._addresses(arm, scene.rest)
        self._state_size = self._mujoco.mj_stateSize(model, self._spec)

    @property
    def _spec(self) -> Any:  # noqa: ANN401
        return self._mujoco.mjtState.mjSTATE_INTEGRATION

    @property
    def position(self) -> float:
        """The joint's position, normalised to its range."""
        return (float(self.data.qpos[self._qadr]) - self.low) / self.span

    @property
    def velocity(self) -> float:
        """The joint's velocity in m/s or rad/s."""
        return float(self.data.qvel[self._dof])

    def n_grasp_contacts(self) -> int:
        """Count contacts; only fingers and handle can touch."""
        return int(self.data.ncon)

    def set_joint(self, joint: Joint) -> None:
        """Give the joint these dynamics."""
        self.model.dof_damping[self._dof] = joint.damping
        self.model.dof_frictionloss[self._dof] = joint.friction
        self.model.jnt_stiffness[self._joint] = joint.stiffness

    def save(self) -> FloatArray:
        """Return MuJoCo's whole state."""
        state = np.zeros(self._state_size)
        self._mujoco.mj_getState(self.model, self.data, state, self._spec)
        return state

    def restore(self, state: FloatArray) -> None:
        """Return to a saved state."""
        self._mujoco.mj_setState(self.model, self.data, np.array(state), self._spec)

    def close(self, *, fingers: bool) -> None:
        """Command the fingers shut, or open."""
        ranges = self.model.actuator_ctrlrange[self._machine.fingers].tolist()
        widest = [max(ends, key=abs) for ends in ranges]
        self.data.ctrl[self._machine.fingers] = 0.0 if fingers else widest

    def follow(
        self, goals: FloatArray, pulls: FloatArray, force: Force | None = None, lift: float = 0.0
    ) -> FloatArray:
        """Follow joint goals, one a step; return a row for every substep.

        The columns are position, velocity, force and the distance of the handle from the grip
        point, in SI units. `lift` raises the grip point above the handle.
        """
        points, frames = self.geometry.poses(goals)
        points[:, 2] += lift
        rows = np.empty((len(goals) * N_SUBSTEPS, 4))
        advance(
            self._machine, self._of_this_joint(force or NO_FORCE), points, frames, pulls,
            self._friction_row(), N_SUBSTEPS, rows,
        )  # fmt: skip
        return rows

    def force_along(self, goals: FloatArray, seen: FloatArray) -> FloatArray:
        """Return the force on the joint in each substep of a motion that was seen, but the last.

        The columns of `seen` are position and velocity of the joint, in SI units. Dynamics of the
        joint that were set are part of what moves it: set none to get all of its force.
        """
        points, frames = self.geometry.poses(goals)
        forces = np.zeros(len(seen) - 1)
        lead(self._machine, points, frames, N_SUBSTEPS, seen, forces)
        return forces

    def _of_this_joint(self, force: Force) -> Force:
        """Return the force over positions normalised to the range of this joint."""
        return force._replace(origin=np.array([self.low, self.span]))

    def _friction_row(self) -> int:
        """Return the place of the joint's friction among the constraints, or -1 where it has none.

        There are no equality constraints, so rows of friction come first, in the order of joints.
        """
        loss = self.model.dof_frictionloss
        return int(np.sum(loss[: self._dof] > 0.0)) if loss[self._dof] > 0.0 else -1

    def _geometry(self) -> Geometry:
        hinge = self._mujoco.mjtJoint.mjJNT_HINGE
        return Geometry(
            handle=self.data.geom_xpos[self.model.geom("art_handle").id].copy(),
            anchor=self.data.xanchor[self._joint].copy(),
            axis=self.data.xaxis[self._joint].copy(),
            is_hinge=bool(self.model.jnt_type[self._joint] == hinge),
        )

    def _addresses(self, arm: list[Any], rest: tuple[float, ...]) -> Machine:
        model, data = self.model, self.data
        names = [model.actuator(i).name for i in range(model.nu)]
        own = np.array([i for i, name in enumerate(names) if name.startswith("robot0")])
        fingers = np.array([i for i, name in enumerate(names) if name.startswith("gripper0")])
        places = np.array(
            [
                model.site("gripper0_right_grip_site").id,
                model.geom("art_handle").id,
                self._qadr,
                self._dof,
            ]
        )
        return Machine(
            model=np.uint64(model._address), data=np.uint64(data._address),
            qpos=data.qpos, qvel=data.qvel, ctrl=data.ctrl, applied=data.qfrc_applied,
            passive=data.qfrc_passive, bias=data.qfrc_bias, inertia=data.qM,
            site_at=data.site_xpos, site_frame=data.site_xmat, geom_at=data.geom_xpos,
            constraint=constraint_pointer(data),
            arm_qpos=_indices(part.qposadr[0] for part in arm),
            arm_dofs=_indices(part.dofadr[0] for part in arm),
            arm_ctrl=own, fingers=fingers,
            torque_limits=np.abs(model.actuator_ctrlrange[own]).max(axis=1),
            rest=np.array(rest), gains=np.array(_GAINS), places=places, warm=data.qacc_warmstart,
            full=np.zeros((model.nv, model.nv)), jacobian=np.zeros((6, model.nv)),
        )  # fmt: skip


def _indices(places: Any) -> NDArray[np.int64]:  # noqa: ANN401 (a generator of NumPy integers)
    return np.array([int(place) for place in places], dtype=np.int64)


def _quieten(model: Any, dof: int) -> None:  # noqa: ANN401 (MuJoCo says no types)
    """Leave no force on the joint but its own, the fingers' and gravity's."""
    model.opt.density = model.opt.viscosity = 0.0  # air drag would be part of the passive force
    model.dof_solref[dof] = _FRICTION_SOLREF
    model.dof_solimp[dof] = _FRICTION_SOLIMP
    for i in range(model.ngeom):
        name = model.geom(i).name
        if not (name == "art_handle" or ("finger" in name and model.geom_contype[i])):
            model.geom_contype[i] = model.geom_conaffinity[i] = 0


def make_rig(kind: Kind) -> Rig:
    """Compose a scene and set the robot before it."""
    return Rig(compose(kind))
