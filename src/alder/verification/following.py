r"""Do equations of motion, followed together in time, go where protected trajectories went?

Rows held out of a trajectory that was seen verify nothing: neighbours in time are nearly copies.
So whole protected trajectories are followed, from their first row alone.
"""

from collections.abc import Mapping

import numpy as np

from alder.arrays import FloatArray
from alder.records.dynamics import Dynamics
from alder.records.verdict import Category
from alder.verification.rollout import trajectories

# States beyond this have diverged.
_DIVERGED = 1e99
# Trajectories followed for each role, taken evenly: a bound on the work.
_MOST = 24


def followed(
    dynamics: Dynamics, rows: Mapping[str, FloatArray], time: str, limit: float
) -> Category:
    r"""Return "accept", "unstable" where a solution diverges, or "inaccurate".

    $$\frac{\sum_t (x_t - \hat x_t)^2}{\sum_t (x_t - \bar x)^2} \le \text{limit}$$

    for every state over all trajectories of the rows together; $\bar x$ is their mean.
    """
    runs = list(trajectories(rows[time], None))
    evenly = np.linspace(0, len(runs) - 1, min(_MOST, len(runs)))
    errors = dict.fromkeys(dynamics.states, 0.0)
    spreads = dict.fromkeys(dynamics.states, 0.0)
    for run in (runs[int(place)] for place in evenly):
        start = {state: float(rows[state][run[0]]) for state in dynamics.states}
        inputs = {name: rows[name][run] for name in dynamics.inputs}
        path = dynamics.rollout(start, rows[time][run], inputs)
        for state, values in path.items():
            if np.abs(values).max() > _DIVERGED:
                return "unstable"
            x = rows[state][run]
            errors[state] += float(np.sum(np.square(x - values)))
            spreads[state] += float(np.sum(np.square(x - rows[state].mean())))
    holds = all(
        errors[state] <= limit * max(spreads[state], 1e-24 * float(np.sum(np.square(rows[state]))))
        for state in dynamics.states
    )
    return "accept" if holds else "inaccurate"
