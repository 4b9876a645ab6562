# pyright: basic
# ruff: noqa: C901, PLR0912 (numba: loops over flat arrays)
r"""The control loop in compiled code: torques at 500 Hz between two halves of MuJoCo's step.

Operational-space control of the grip point, with the goal as its only state:

$$\tau = J^\top \Lambda (k_p e - k_d J \dot q) + (1 - J^\top \bar J^\top) M
(k_0 (q_0 - q) - 2\sqrt{k_0}\, \dot q) + h, \qquad
\Lambda = (J M^{-1} J^\top)^{-1}, \quad \bar J = M^{-1} J^\top \Lambda$$

$e$ is the error of position and orientation, $J$ the Jacobian of the grip point, $M$ the inertia of
the arm, $h$ the bias forces, $q_0$ the posture the arm prefers where the goal leaves it free.
MuJoCo's functions are called by their symbols, so that no step passes through Python.
"""

import ctypes
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from alder.bench.articulated.packages import load_robots
from alder.expr.operators import Floors
from alder.kernel.pointwise import values_at
from alder.kernel.solve import backward, factor, forward

N_ARM, N_TASK = 7, 6
_POSTURE = 10.0

_step1 = types.ExternalFunction("mj_step1", types.void(types.uintp, types.uintp))
step2 = types.ExternalFunction("mj_step2", types.void(types.uintp, types.uintp))
_jacobian = types.ExternalFunction(
    "mj_jacSite", types.void(types.uintp, types.uintp, types.uintp, types.uintp, types.int32)
)
_full_inertia = types.ExternalFunction(
    "mj_fullM", types.void(types.uintp, types.uintp, types.uintp)
)


class Machine(NamedTuple):
    """Addresses of a model and its state, views of their arrays, and which entries are whose."""

    model: Any
    data: Any
    qpos: Any
    qvel: Any
    ctrl: Any
    applied: Any
    passive: Any
    bias: Any
    inertia: Any
    site_at: Any
    site_frame: Any
    geom_at: Any
    constraint: Any  # where the address of the constraint forces stands; MuJoCo moves them
    arm_qpos: Any
    arm_dofs: Any
    arm_ctrl: Any
    fingers: Any
    torque_limits: Any
    rest: Any
    gains: Any
    places: Any  # grip site, handle, joint in qpos, joint in qvel
    warm: Any  # accelerations that the solver begins with
    full: Any
    jacobian: Any


class Force(NamedTuple):
    """A force on the joint beyond MuJoCo's own: bytecode of a law, then a network of two layers."""

    opcodes: Any
    arguments: Any
    literals: Any
    values: Any
    floors: Any
    first: Any
    second: Any
    last: Any
    scales: Any  # rows: centre of inputs, spread of inputs; then offset and spread of the force
    origin: Any  # lowest position and range of the joint


NO_FORCE = Force(
    opcodes=np.zeros(0, dtype=np.int64), arguments=np.zeros(0, dtype=np.int64),
    literals=np.zeros(0), values=np.zeros(0),
    floors=np.array([getattr(Floors(), name) for name in Floors.__dataclass_fields__]),
    first=np.zeros((4, 1)), second=np.zeros((2, 1)), last=np.zeros(1),
    scales=np.zeros((3, 3)), origin=np.array([0.0, 1.0]),
)  # fmt: skip
"""A force that is zero."""

_UNDERIVED = np.zeros(1, dtype=np.int64)  # lines of derivatives of one program


def load_library() -> None:
    """Make MuJoCo's symbols known to compiled code; needed before it is compiled or loaded."""
    mujoco = load_robots("mujoco")
    found = sorted(Path(mujoco.__file__).parent.glob("libmujoco*"))
    llvmlite.binding.load_library_permanently(str(found[0]))


def constraint_pointer(data: Any) -> Any:  # noqa: ANN401
    """Return a view of the word in MuJoCo's state that holds the address of constraint forces.

    The forces move within MuJoCo's arena from step to step, and no function returns their address,
    so the word is searched once, by the address it holds now.
    """
    wanted = data.efc_force.ctypes.data
    words = (ctypes.c_uint64 * _MOST_WORDS).from_address(data._address)
    view = np.ctypeslib.as_array(words)
    place = int(np.argmax(view == wanted))
    assert view[place] == wanted, "the address of the constraint forces was not found"
    return view[place : place + 1]


# The state of MuJoCo 3.3 has its pointers behind 160 kB of solver statistics.
_MOST_WORDS = 40_000


def _read_number(context, address, place):
    """Read one float64 at an address."""
    signature = types.float64(types.uint64, types.intp)

    def generate(target, builder, signature, values):
        pointer = builder.inttoptr(values[0], ir.DoubleType().as_pointer())
        return builder.load(builder.gep(pointer, [values[1]]))

    return signature, generate


_number_at: Any = intrinsic(_read_number)


@njit(error_model="numpy")
def _solve(L, b, n):
    """Solve with a Cholesky factor, in place."""
    forward(L, b, n)
    backward(L, b, n)


@njit(error_model="numpy")
def _errors(at, frame, goal_at, goal_frame, error):
    """Set the error of the pose: position, and half the sum of cross products of the axes."""
    for i in range(3):
        error[i] = goal_at[i] - at[i]
        error[3 + i] = 0.0
    for k in range(3):
        a0, a1, a2 = frame[k], frame[3 + k], frame[6 + k]
        b0, b1, b2 = goal_frame[k], goal_frame[3 + k], goal_frame[6 + k]
        error[3] += 0.5 * (a1 * b2 - a2 * b1)
        error[4] += 0.5 * (a2 * b0 - a0 * b2)
        error[5] += 0.5 * (a0 * b1 - a1 * b0)


@njit(error_model="numpy")
def _torques(machine, goal_at, goal_frame, work):
    """Write the torques of this substep to the controls of the arm."""
    M, J, MiJ, L, twist, posture, rate = work
    site = machine.places[0]
    for i in range(N_ARM):
        rate[i] = machine.qvel[machine.arm_dofs[i]]
        for j in range(N_ARM):
            M[i, j] = machine.full[machine.arm_dofs[i], machine.arm_dofs[j]]
        for k in range(N_TASK):
            J[k, i] = machine.jacobian[k, machine.arm_dofs[i]]
    for i in range(N_ARM):  # before M is overwritten by its factor
        s = 0.0
        for j in range(N_ARM):
            away = machine.rest[j] - machine.qpos[machine.arm_qpos[j]]
            s += M[i, j] * (_POSTURE * away - 2.0 * np.sqrt(_POSTURE) * rate[j])
        posture[i] = s
    factor(M, N_ARM)
    for k in range(N_TASK):
        for i in range(N_ARM):
            MiJ[k, i] = J[k, i]
        _solve(M, MiJ[k], N_ARM)
    for k in range(N_TASK):
        for j in range(k + 1):
            s = 0.0
            for i in range(N_ARM):
                s += J[k, i] * MiJ[j, i]
            L[k, j] = s
    factor(L, N_TASK)
    _errors(machine.site_at[site], machine.site_frame[site], goal_at, goal_frame, twist)
    for k in range(N_TASK):
        speed = 0.0
        free = 0.0  # the part of the posture's acceleration that would move the grip point
        for i in range(N_ARM):
            speed += J[k, i] * rate[i]
            free += MiJ[k, i] * posture[i]
        gain = machine.gains[k]
        twist[k] = gain * twist[k] - 2.0 * np.sqrt(gain) * speed - free
    _solve(L, twist, N_TASK)
    for i in range(N_ARM):
        s = posture[i] + machine.bias[machine.arm_dofs[i]]
        for k in range(N_TASK):
            s += J[k, i] * twist[k]
        limit = machine.torque_limits[i]
        machine.ctrl[machine.arm_ctrl[i]] = min(max(s, -limit), limit)


@njit(error_model="numpy")
def _network(force, x, hidden):
    """Return what the network says; every layer has its offsets in its last row."""
    width = force.first.shape[1]
    for j in range(width):
        s = force.first[3, j]
        for i in range(3):
            s += force.first[i, j] * (x[i] - force.scales[0, i]) / force.scales[1, i]
        hidden[0, j] = np.tanh(s)
    for j in range(width):
        s = force.second[width, j]
        for i in range(width):
            s += force.second[i, j] * hidden[0, i]
        hidden[1, j] = np.tanh(s)
    s = force.last[width]
    for i in range(width):
        s += force.last[i] * hidden[1, i]
    return force.scales[2, 0] + force.scales[2, 1] * s


@njit(error_model="numpy")
def _applied(force, x, work):
    """Return the force of the law, of the network, or none."""
    stack, nothing, offsets, value, hidden = work
    if offsets[1] > 0:
        values_at(
            force.opcodes, force.arguments, force.literals, offsets, offsets, _UNDERIVED, x,
            force.values, force.floors, stack, nothing, value, nothing,
        )  # fmt: skip
        return value[0]
    if len(force.last) > 1:
        return _network(force, x, hidden)
    return 0.0


@njit(error_model="numpy")
def prepare(machine, goal_at, goal_frame, work):
    """Do the first half of a substep, and set the torques of the arm."""
    rotations = machine.jacobian[3:]
    _step1(machine.model, machine.data)
    _jacobian(
        machine.model, machine.data, machine.jacobian.ctypes.data, rotations.ctypes.data,
        np.int32(machine.places[0]),
    )  # fmt: skip
    _full_inertia(machine.model, machine.full.ctypes.data, machine.inertia.ctypes.data)
    _torques(machine, goal_at, goal_frame, work)


@njit(error_model="numpy")
def room():
    """Return arrays for the torques."""
    return (
        np.zeros((N_ARM, N_ARM)), np.zeros((N_TASK, N_ARM)), np.zeros((N_TASK, N_ARM)),
        np.zeros((N_TASK, N_TASK)), np.zeros(N_TASK), np.zeros(N_ARM), np.zeros(N_ARM),
    )  # fmt: skip


def _advance(  # noqa: PLR0913 (compiled code takes flat arrays)
    machine, force, goals_at, goals_frame, pulls, friction_row, n_substeps, rows
):
    """Follow the goals, one for each step of the controller; fill a row for every substep.

    A row is the joint's position, its velocity, its force, and how far the handle is from the grip
    point. `friction_row` is the place of the joint's dry friction among the constraints, or -1.
    """
    work = room()
    spare = (
        np.zeros(len(force.opcodes) + 1), np.zeros((0, 0)), np.array([0, len(force.opcodes)]),
        np.zeros(1), np.zeros((2, max(force.first.shape[1], 1))),
    )  # fmt: skip
    x = np.zeros(3)
    site, handle, joint, dof = machine.places
    row = 0
    for step in range(len(goals_at)):
        x[2] = pulls[step]
        for _ in range(n_substeps):
            prepare(machine, goals_at[step], goals_frame[step], work)
            x[0] = (machine.qpos[joint] - force.origin[0]) / force.origin[1]
            x[1] = machine.qvel[dof]
            machine.applied[dof] = _applied(force, x, spare)
            away = 0.0
            for i in range(3):
                away += (machine.site_at[site, i] - machine.geom_at[handle, i]) ** 2
            rows[row, 0] = machine.qpos[joint]
            rows[row, 1] = machine.qvel[dof]
            rows[row, 3] = np.sqrt(away)
            step2(machine.model, machine.data)
            felt = machine.passive[dof]
            if friction_row >= 0:
                felt += _number_at(machine.constraint[0], friction_row)
            rows[row, 2] = felt
            row += 1


advance: Any = njit(cache=True, error_model="numpy")(_advance)
