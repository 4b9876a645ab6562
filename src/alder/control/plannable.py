"""What equations of motion can be planned with, and for how long they were verified."""

from collections.abc import Mapping
from dataclasses import replace

from alder.errors import BadParameter
from alder.records.dynamics import Dynamics
from alder.records.plan import Plan


def require_plannable(law: object, target: Mapping[str, float]) -> None:
    """Refuse equations that nothing can be chosen for, and a target that they say nothing of."""
    if not isinstance(law, Dynamics):
        return
    require_prompt(law)
    if not law.inputs:
        raise BadParameter("These equations have no input, so there is nothing to choose.")
    states = law.states
    for name in target:
        if name not in (*states, *law.inputs):
            raise BadParameter(
                f"The target is a value of `{name}`, which is no state of the equations; "
                f"{', '.join(states)} {'is' if len(states) == 1 else 'are'}."
            )


def require_prompt(dynamics: Dynamics) -> None:
    """Refuse a dead time: what was done before the start would still act, and is not known here."""
    if dynamics.delay > 0.0:
        raise BadParameter(
            f"These equations act {dynamics.delay:.6g} later than their inputs; plans for inputs "
            "with a dead time are not supported yet. In Python, `dynamics.rollout` follows an "
            "input that you intend."
        )


def with_verified(plan: Plan, law: object) -> Plan:
    """Return a plan that says for how long its equations were verified, where that is known."""
    return replace(plan, verified=law.horizon) if isinstance(law, Dynamics) else plan
