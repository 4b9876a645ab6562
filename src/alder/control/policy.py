"""A receding-horizon policy: plan from every observation, do the first move, plan again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.control.credible import SIGMAS, Motive, credible_set
from alder.control.forward import Rollout, in_world
from alder.control.inverse import invert
from alder.control.plannable import require_plannable, with_verified
from alder.control.problem import EVALUATIONS, Forward, Inversion, Predicate
from alder.errors import BadParameter
from alder.ports import Rehearsing
from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.limits import Limits
from alder.records.plan import Ends, Plan, nothing_planned

Reading: TypeAlias = Sequence[str] | Callable[[npt.NDArray[Any]], Mapping[str, float]]


@final
@dataclass(slots=True)
class MPCPolicy:
    """Chooses an action from an observation, as a law predicts what it leads to.

    Example: `while (action := policy(observation)) is not None: ... environment.step(action)`

    `law` is equations of motion, or a law with the `world` that can follow it. `columns` names the
    numbers of an observation, or is a function from it to named numbers. Each call plans `moves`
    actions over the `horizon` so that the columns of `target` are near their values after every
    move, in units of `tolerance`, within `limits` and the law's scope under the law and its
    credible neighbours, with at most `evaluations` calls of forward models; it returns the first
    action, an array in the order of `actions`. Between calls it keeps its last plan, moved on by a
    move, as the place to begin.

    It returns None where it must stop, and `stopped` says why: the observation lies outside the
    scope of the law, or no action is safe. `restart` forgets plan and stop. Equations whose inputs
    have a dead time are refused.
    """

    law: Motive | Sequence[Motive]
    columns: Reading = field(kw_only=True)
    target: Mapping[str, float] = field(kw_only=True)
    actions: Ends = field(kw_only=True)
    horizon: float = field(kw_only=True)
    moves: int = field(default=4, kw_only=True)
    tolerance: float | Mapping[str, float] = field(default=1e-2, kw_only=True)
    limits: Limits | Predicate | None = field(default=None, kw_only=True)
    evaluations: int = field(default=2 * EVALUATIONS, kw_only=True)
    world: object = field(default=None, kw_only=True)
    plan: Plan | None = field(default=None, init=False, repr=False)
    stopped: str = field(default="", init=False)

    def __post_init__(self) -> None:
        """Refuse a law that cannot be followed in time, and what it cannot be asked."""
        laws = self._laws()
        for law in laws:
            require_plannable(law, self.target)
        if any(isinstance(law, Law) for law in laws) and not isinstance(self.world, Rehearsing):
            raise BadParameter(
                "A law of one rate is followed in a world; give `world`, or equations of motion "
                "(alder.Dynamics) as the law."
            )

    def __call__(self, observation: npt.ArrayLike) -> FloatArray | None:
        """Return the action for an observation, or None with the reason in `stopped`."""
        if self.stopped:
            return None
        self.plan = self.decide(observation, self.plan)
        if self.plan.refused:
            self.stopped = self.plan.reason
            return None
        return np.array(self.plan.actions[0])

    def restart(self) -> None:
        """Forget the last plan and why execution was stopped."""
        self.plan, self.stopped = None, ""

    def decide(self, observation: npt.ArrayLike, before: Plan | None = None) -> Plan:
        """Return the plan for an observation; nothing is remembered."""
        read = self.read(observation)
        laws = self._laws()
        problem = Inversion(
            target=self.target,
            bounds=self.actions,
            horizons=(self.horizon,),
            moves=self.moves,
            limits=self.limits,
            tolerance=self.tolerance,
            evaluations=self.evaluations,
            along=True,
            begin=_moved_on(before),
        )
        outside = _outside(laws[0], read)
        if outside:
            return nothing_planned(problem.inputs, problem.target, outside, 0)
        return with_verified(invert([self._forward(law, read) for law in laws], problem), laws[0])

    def read(self, observation: npt.ArrayLike) -> dict[str, float]:
        """Return an observation as named numbers."""
        seen: npt.NDArray[Any] = np.asarray(observation)
        if callable(self.columns):
            return {name: float(value) for name, value in self.columns(seen).items()}
        values = np.asarray(seen, dtype=np.float64).ravel()
        if len(values) != len(self.columns):
            raise BadParameter(
                f"An observation has {len(values)} numbers and columns names {len(self.columns)}."
            )
        return dict(zip(self.columns, values.tolist(), strict=True))

    def _laws(self) -> tuple[Motive, ...]:
        if isinstance(self.law, Sequence):
            return tuple(self.law)
        sigmas = self.limits.sigmas if isinstance(self.limits, Limits) else SIGMAS
        return credible_set(self.law, sigmas)

    def _forward(self, law: Motive, read: Mapping[str, float]) -> Forward:
        scope, inputs = law.scope.limits, tuple(self.actions)
        if isinstance(law, Dynamics):
            return Rollout.of(law, inputs, read, scope)
        return in_world(law, cast("Rehearsing", self.world), inputs, read, scope)


def _moved_on(plan: Plan | None) -> FloatArray | None:
    """Return the moves that are left of a plan, the last one repeated."""
    if plan is None or plan.refused:
        return None
    return np.vstack([plan.actions[1:], plan.actions[-1:]])


def _outside(law: Motive, read: Mapping[str, float]) -> str:
    """Say where an observation lies outside the scope of a law; nothing where it does not."""
    for name, (low, high) in law.scope.limits.items():
        if name in read and not low <= read[name] <= high:
            return (
                f"Outside the law's scope: {name} is {read[name]:.4g}, and the law was fitted on "
                f"{low:.4g} to {high:.4g}."
            )
    return ""
