"""`alder.plan`: from a law, a world and a target to actions."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from alder.control.credible import SIGMAS, Motive, credible_set
from alder.control.forward import Rollout, in_world, pointwise
from alder.control.inverse import invert
from alder.control.plannable import require_plannable, with_verified
from alder.control.problem import EVALUATIONS, TOLERANCE, Forward, Inversion, Predicate
from alder.errors import BadParameter
from alder.ports import Rehearsing
from alder.records.dynamics import Dynamics
from alder.records.experiment import Setting
from alder.records.law import Law
from alder.records.limits import Limits
from alder.records.plan import Ends, Plan

Model: TypeAlias = Motive | Forward
Safe: TypeAlias = Limits | Ends | Predicate


def plan(  # noqa: PLR0913 (a user's whole request in one call)
    law: Model | Sequence[Model],
    world: object,
    target: float | Mapping[str, float],
    *,
    actions: Ends | None = None,
    start: Mapping[str, Setting] | None = None,
    horizons: float | Sequence[float] | None = None,
    moves: int = 1,
    limits: Safe | None = None,
    tolerance: float | Mapping[str, float] = TOLERANCE,
    evaluations: int = EVALUATIONS,
    within_scope: bool = True,
) -> Plan:
    """Choose actions that bring a world to a target, as a law predicts, and safely so.

    Example: `alder.plan(law, world, {"x": 0.52}, actions={"u": (-2, 2)}, start={"x": 0, "v": 0})`

    `law` is a law, equations of motion, or any function of actions (moves, inputs) and a horizon
    that returns an `alder.Prediction`, such as a simulator with the law written into it. In a
    world whose law can be followed (`ODEWorld`, `GymnasiumWorld`, `MuJoCoWorld`) its rollout is
    the prediction; equations of motion are followed by themselves, and a law without such a world
    is asked pointwise: `world` may be None.

    `target` is the value wanted at the end, by column; a number is meant for the law's own target.
    `actions` gives the ends between which each input may be chosen: by default the variables with
    the role "action", or those that `start` does not fix, within the law's scope. `start` holds
    the state and whatever else stays as it is. `horizons` are tried in order; with `moves` above
    one the actions change that often on the way.

    `limits` hold along the whole predicted path, under the law and with its coefficients moved by
    two standard deviations (`Limits.sigmas`) along each axis; where several laws are given, under
    every one of them as they are. So does the scope of the laws, unless `within_scope` is False.

    One action for one column is found by bounded Brent, otherwise by bounded least squares, to the
    `tolerance`, with no more than `evaluations` calls of forward models in all. The plan is
    "reached"; or "closest", the best safe action that was tried; or "refused", with a reason. One
    that goes on for longer than its equations were verified says so, in `Plan.beyond`. Equations
    whose inputs have a dead time are not planned with.
    """
    held = _as_limits(limits)
    laws = _laws(law, held)
    lead = laws[0]
    fixed = dict(start or {})
    wanted = _as_target(target, lead)
    require_plannable(lead, wanted)
    problem = Inversion(
        target=wanted,
        bounds=_bounds(lead, actions, fixed),
        horizons=_horizons(horizons, world),
        moves=moves,
        limits=held,
        tolerance=tolerance,
        evaluations=evaluations,
    )
    for name in problem.inputs:
        fixed.pop(name, None)
    models = [_forward(one, world, problem.inputs, fixed, within_scope) for one in laws]
    return with_verified(invert(models, problem), lead)


def _laws(law: Model | Sequence[Model], limits: Limits | Predicate | None) -> tuple[Model, ...]:
    """Return the leading model and all others that must call an action safe."""
    if isinstance(law, Sequence):
        if not law:
            raise BadParameter("A plan needs a law, or several; got none.")
        return tuple(cast("Sequence[Model]", law))
    if isinstance(law, Law | Dynamics):
        return credible_set(law, limits.sigmas if isinstance(limits, Limits) else SIGMAS)
    return (law,)


def _forward(
    law: Model,
    world: object,
    inputs: tuple[str, ...],
    start: Mapping[str, Setting],
    within_scope: bool,  # noqa: FBT001 (as the user said it)
) -> Forward:
    if not isinstance(law, Law | Dynamics):
        return law
    scope = law.scope.limits if within_scope else None
    if isinstance(law, Law) and isinstance(world, Rehearsing):
        return in_world(law, world, inputs, start, scope)
    numbers = {name: float(v) for name, v in start.items() if not isinstance(v, str)}
    if isinstance(law, Dynamics):
        return Rollout.of(law, inputs, numbers, scope)
    return pointwise(law, inputs, numbers, scope)


def _as_limits(limits: Safe | None) -> Limits | Predicate | None:
    if isinstance(limits, Mapping):
        return Limits(cast("Ends", limits))
    return limits


def _as_target(target: float | Mapping[str, float], law: Model) -> Mapping[str, float]:
    if isinstance(target, Mapping):
        return {name: float(value) for name, value in target.items()}
    if isinstance(law, Law):
        return {law.target.name: float(target)}
    if isinstance(law, Dynamics) and len(law.states) == 1:
        return {law.states[0]: float(target)}
    raise BadParameter(
        'Say which column the target is a value of: target={"x": 0.52}, for example.'
    )


def _horizons(horizons: float | Sequence[float] | None, world: object) -> tuple[float, ...]:
    if horizons is None:
        return (world.own_horizon if isinstance(world, Rehearsing) else 1.0,)
    return tuple(horizons) if isinstance(horizons, Sequence) else (float(horizons),)


def _bounds(law: Model, actions: Ends | None, start: Mapping[str, Setting]) -> Ends:
    """Return what may be chosen, and between which ends."""
    if actions is not None:
        return actions
    if not isinstance(law, Law | Dynamics):
        raise BadParameter('Say what may be chosen: actions={"u": (-2.0, 2.0)}, for example.')
    ranges = _ranges(law)
    if not ranges and isinstance(law, Dynamics):
        raise BadParameter(_no_range(law.inputs[0]))
    if not ranges:
        raise BadParameter("The law has no variables, so there is nothing to choose.")
    free = {name: ends for name, ends in ranges.items() if name not in start}
    if not free:
        raise BadParameter(
            f"Every variable of the law is fixed by the start ({', '.join(start)}); leave out the "
            "one to be chosen, or say between which ends it may be: "
            f"{_as_action(next(iter(ranges)))}."
        )
    return free


def _ranges(law: Motive) -> dict[str, tuple[float, float]]:
    """Return the variables an action may be, with their ranges."""
    laws = [law] if isinstance(law, Law) else list(law.laws.values())
    states = () if isinstance(law, Law) else law.states
    known = {v.name: v for one in laws for v in one.variables if v.name not in states}
    acting = [v for v in known.values() if v.role == "action"] or list(known.values())
    ranges: dict[str, tuple[float, float]] = {}
    for variable in acting:
        ends = law.scope.ranges.get(variable.name, variable.range)
        if ends is None:
            raise BadParameter(_no_range(variable.name))
        ranges[variable.name] = ends
    return ranges


def _no_range(name: str) -> str:
    return (
        f"Between which ends may `{name}` be chosen? The law has no range of it; give "
        f"{_as_action(name)}."
    )


def _as_action(name: str) -> str:
    """Say how ends are given, in Python and on the command line."""
    return f'actions={{"{name}": (low, high)}}, or --action {name}=low:high'
