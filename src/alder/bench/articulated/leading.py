# pyright: basic
r"""Force from motion: the nominal robot is led along a motion of the joint that was seen.

Before every substep the joint is put where it was seen to be. The force on it is the one after
which it moves as fast as it was seen to, found by secants:

$$F_{k+1} = F_k + \frac{\dot q_\text{seen} - \dot q(F_k)}{s}, \qquad
s = \frac{\dot q(F_k) - \dot q(F_{k-1})}{F_k - F_{k-1}}$$

The arm follows its goals as it always does, so that it feels the joint as it did.
"""

from typing import Any

import numpy as np
from numba import njit

from alder.bench.articulated.compiled import prepare, room, step2

# Forces tried in a substep, a miss in m/s or rad/s that needs no other, and the first force tried.
_MOST = 8
_HIT = 1e-10
_FIRST = 0.1


def _lead(machine, goals_at, goals_frame, n_substeps, seen, forces):
    """Fill in the force of each substep; the velocity after the last is not known.

    The columns of `seen` are position and velocity of the joint, one row for each substep.
    """
    work = room()
    joint, dof = machine.places[2], machine.places[3]
    qpos, qvel, warm = machine.qpos.copy(), machine.qvel.copy(), machine.warm.copy()
    force, slope = 0.0, 0.0
    for row in range(len(seen) - 1):
        step = row // n_substeps
        machine.qpos[joint], machine.qvel[dof] = seen[row, 0], seen[row, 1]
        qpos[:], qvel[:], warm[:] = machine.qpos, machine.qvel, machine.warm
        last, missed = 0.0, 0.0
        for attempt in range(_MOST):
            machine.qpos[:], machine.qvel[:], machine.warm[:] = qpos, qvel, warm
            prepare(machine, goals_at[step], goals_frame[step], work)
            machine.applied[dof] = force
            step2(machine.model, machine.data)
            miss = seen[row + 1, 1] - machine.qvel[dof]
            if attempt > 0 and force != last and missed != miss:
                slope = (missed - miss) / (force - last)
            if abs(miss) <= _HIT or attempt == _MOST - 1:
                break
            last, missed = force, miss
            force += miss / slope if slope > 0.0 else np.sign(miss) * _FIRST
        forces[row] = force
    machine.applied[dof] = 0.0


lead: Any = njit(cache=True, error_model="numpy")(_lead)
