"""From a model of the joint to the pull that puts it where it is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.articulated.execution import MOST_SLIP, Dynamics
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.probes import HORIZONS
from alder.bench.articulated.rollout import Probe
from alder.control.inverse import invert
from alder.control.problem import Forward, Inversion
from alder.records.limits import Limits
from alder.records.plan import Plan, Prediction

PULLS = (-1.0, 1.0)
PLANNED_RANGE = (0.05, 0.95)
"""Where a plan must stay: farther from the stops than what counts as unsafe."""
EVALUATIONS = 48
TOLERANCE = 1e-4


@final
@dataclass(frozen=True, slots=True)
class Reach:
    """What became of one target: how near the joint came, whether safely, and how it was planned.

    A refused plan has no error; nothing was executed.
    """

    error: float | None
    safe: bool
    status: str
    evaluations: int
    pull: float | None
    horizon: int


def plan_pull(lab: Lab, model: Dynamics, state: int, target: float) -> Plan:
    """Invert a model: bounded Brent over pulls, horizon after horizon, predicted safety kept."""
    problem = Inversion(
        {"q": target},
        {"pull": PULLS},
        horizons=tuple(map(float, HORIZONS)),
        limits=Limits({"q": PLANNED_RANGE, "slip": (-np.inf, MOST_SLIP)}),
        tolerance=TOLERANCE,
        evaluations=EVALUATIONS,
    )
    return invert([forward_model(lab, model, state)], problem)


def forward_model(lab: Lab, model: Dynamics, state: int) -> Forward:
    """Return what a model says a pull from a state leads to."""

    def forward(actions: FloatArray, horizon: float) -> Prediction:
        extent = lab.extent(plain_pull(state, float(actions[0, 0]), round(horizon)), model)
        path = {
            "q": np.array([extent.lowest, extent.highest, extent.end]),
            "slip": np.full(3, extent.slip),
        }
        return Prediction(path)

    return forward


def plain_pull(state: int, pull: float, horizon: int) -> Probe:
    """Return a pull without a prelude."""
    return Probe(state, pull, horizon, None, "control")


def reach(lab: Lab, model: Dynamics, world: Dynamics, state: int, target: float) -> Reach:
    """Plan with the model, execute in the world; the outcome is seen after the choice."""
    plan = plan_pull(lab, model, state, target)
    if plan.refused:
        return Reach(
            None, safe=True, status=plan.status, evaluations=plan.evaluations, pull=None, horizon=0
        )
    pull, horizon = plan.first["pull"], round(plan.horizon)
    extent = lab.extent(plain_pull(state, pull, horizon), world)
    error = abs(extent.end - target)
    return Reach(error, extent.safe, plan.status, plan.evaluations, pull, horizon)


def predicted_ends(lab: Lab, model: Dynamics, probes: Sequence[Probe]) -> FloatArray:
    """Return where a model says probes end."""
    return np.array([lab.extent(probe, model).end for probe in probes])
