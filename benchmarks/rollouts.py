"""How much faster the compiled control loop is than the same controller in Python.

Run in the environment of robots: .venv-robots/bin/python benchmarks/rollouts.py
"""

import time
from collections.abc import Callable

import mujoco
import numpy as np

from alder.arrays import FloatArray
from alder.bench.articulated.execution import RATE, Dynamics, commands, execute
from alder.bench.articulated.grasp import NOMINAL, Reached, reach_states
from alder.bench.articulated.rig import N_SUBSTEPS, Rig
from alder.bench.articulated.rollout import Probe
from alder.bench.articulated.scene import KINDS, Kind, compose

PROBES = [Probe(1, pull, horizon, None, "speed") for pull in (-0.5, 0.8) for horizon in (7, 17)]


class PlainLoop:
    """The controller as one would write it in Python, with NumPy's linear algebra."""

    def __init__(self, rig: Rig) -> None:
        """Look up what is needed of the rig."""
        self.rig, self.machine = rig, rig._machine
        model = rig.model
        self.full = np.zeros((model.nv, model.nv))
        self.jp, self.jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))

    def substep(self, point: FloatArray, frame: FloatArray) -> tuple[float, float, float]:
        """Advance by one substep; return position, velocity and force of the joint."""
        model, data, machine = self.rig.model, self.rig.data, self.machine
        site, _, joint, dof = machine.places
        arm = machine.arm_dofs
        mujoco.mj_step1(model, data)
        mujoco.mj_jacSite(model, data, self.jp, self.jr, site)
        mujoco.mj_fullM(model, self.full, data.qM)
        J = np.vstack([self.jp, self.jr])[:, arm]
        M = self.full[np.ix_(arm, arm)]
        inverse = np.linalg.inv(M)
        Lambda = np.linalg.inv(J @ inverse @ J.T)
        R, goal = data.site_xmat[site].reshape(3, 3), frame.reshape(3, 3)
        turn = 0.5 * sum(np.cross(R[:, k], goal[:, k]) for k in range(3))
        error = np.concatenate([point - data.site_xpos[site], turn])
        rate = data.qvel[arm]
        gains = machine.gains
        wrench = Lambda @ (gains * error - 2.0 * np.sqrt(gains) * (J @ rate))
        away = machine.rest - data.qpos[machine.arm_qpos]
        posture = M @ (10.0 * away - 2.0 * np.sqrt(10.0) * rate)
        free = posture - J.T @ (Lambda @ (J @ (inverse @ posture)))
        torques = J.T @ wrench + free + data.qfrc_bias[arm]
        limits = machine.torque_limits
        data.ctrl[machine.arm_ctrl] = np.clip(torques, -limits, limits)
        seen = float(data.qpos[joint]), float(data.qvel[dof])
        mujoco.mj_step2(model, data)
        rows = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF) & (data.efc_id == dof)
        return (*seen, float(data.qfrc_passive[dof] + data.efc_force[rows].sum()))

    def execute(self, reached: Reached, probe: Probe, dynamics: Dynamics) -> float:
        """Execute a probe; return where it ends."""
        rig = self.rig
        rig.set_joint(dynamics.joint)
        rig.restore(reached.state)
        goals = reached.goal + RATE * rig.span * np.cumsum(commands(probe))
        for point, frame in zip(*rig.geometry.poses(goals), strict=True):
            for _ in range(N_SUBSTEPS):
                self.substep(point, frame)
        return rig.position


def cpu_seconds(run: Callable[[Probe], object]) -> float:
    """Return the least CPU seconds of three runs of all probes."""
    spent: list[float] = []
    for _ in range(3):
        begin = time.process_time()
        for probe in PROBES:
            run(probe)
        spent.append(time.process_time() - begin)
    return min(spent)


def compare(kind: Kind) -> str:
    """Return CPU times of both loops, and how far their ends differ."""
    rig = Rig(compose(kind))
    reached = reach_states(rig)[1]
    plain, dynamics = PlainLoop(rig), Dynamics(NOMINAL[kind])

    def fast(probe: Probe) -> float:
        return execute(rig, reached, probe, dynamics).end

    def slow(probe: Probe) -> float:
        return plain.execute(reached, probe, dynamics)

    apart = max(abs(fast(probe) - slow(probe)) for probe in PROBES)
    compiled_s, plain_s = cpu_seconds(fast), cpu_seconds(slow)
    n_substeps = sum(probe.horizon for probe in PROBES) * N_SUBSTEPS
    return (
        f"{kind}: compiled {1e3 * compiled_s / len(PROBES):.1f} ms a rollout, "
        f"{1e6 * compiled_s / n_substeps:.0f} us a substep; Python "
        f"{1e3 * plain_s / len(PROBES):.1f} ms, {1e6 * plain_s / n_substeps:.0f} us; "
        f"{plain_s / compiled_s:.1f} times as fast; ends differ by at most {apart:.1e}"
    )


if __name__ == "__main__":
    for kind in KINDS:
        print(compare(kind))
