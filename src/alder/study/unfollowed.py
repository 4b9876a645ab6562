"""Why a system found in a log is refused, and what to record instead."""

from collections.abc import Sequence
from dataclasses import replace

from alder.proposers.states.excitation import Unmoved
from alder.proposers.states.finding import Found
from alder.records.nextstep import NextStep
from alder.records.outcome import Refusal

_EXPLAINED = 1.5  # chi2 per free number of public samples up to which noise may explain them


_NOTHING = Refusal(
    "missing-operator",
    "No sum of the terms that the operators allow has solutions near the samples.",
    "Allow other operators, or name a state or an input that is missing.",
    step=NextStep("allow"),
)
_IMITATED = ": they imitate the motion and are not its law."
_OTHER_RANGE = (
    "Allow other operators, or record over a smaller range, where the law may be another."
)
_NOT_TERMS = {"unexplained", "missed", "patterned"}  # findings that other things cause as well
_LATE = (
    "Or an input acts at other times than the log says (a dead time that is no multiple of the "
    "sampling interval, a ramp between samples), or a state is missing: check these first."
)
_MISSING = "Or a state or an input is missing."
_REFUSALS = {
    "unexplained": Refusal(
        "missing-operator",
        "The samples it was fitted to are missed by more than noise explains, or what is left of "
        f"them has a pattern in time, which noise has not{_IMITATED}",
        _OTHER_RANGE,
        step=NextStep("allow"),
    ),
    "diverges": Refusal(
        "missing-operator",
        "From where held-back samples begin the equations run away, and the samples do not: the "
        "system is unstable where the data are not.",
        "Record trajectories over more of the states, or allow other operators.",
        step=NextStep("allow"),
    ),
    "differs": Refusal(
        "missing-variable",
        "Held-back samples are missed by more than noise explains, on all of them or on one "
        "trajectory; the public samples are not.",
        "Look for what differs between trajectories, and record it as a state or an input; or "
        "record more of them.",
        step=NextStep("measure"),
    ),
    "missed": Refusal(
        "missing-operator",
        f"Held-back samples are missed by more than noise explains{_IMITATED}",
        _OTHER_RANGE,
        step=NextStep("allow"),
    ),
    "patterned": Refusal(
        "missing-operator",
        "What the equations leave of held-back samples is small but has a pattern in time, which "
        f"noise has not{_IMITATED}",
        _OTHER_RANGE,
        step=NextStep("allow"),
    ),
    "changes": Refusal(
        "missing-operator",
        "No sum of the terms that follows the samples keeps what is said to be conserved.",
        "Allow the operators that stand in the conserved quantity.",
        step=NextStep("allow"),
    ),
    "undetermined": Refusal(
        "excitation",
        "The coefficients are so uncertain that the equations could go many ways along held-back "
        "samples: to follow them would prove nothing.",
        "Record more trajectories, or ones that move further.",
        step=NextStep("explore"),
    ),
    "unseen": Refusal(
        "excitation",
        "One of the terms has hardly an effect on held-back samples, so that nothing has verified "
        "it: it rests on a few of the samples it was fitted to.",
        "Record more trajectories that cover the same states and inputs, and look for samples that "
        "are not what they seem, such as a time that is wrong.",
        step=NextStep("explore"),
    ),
    "noisy": Refusal(
        "noise",
        "Held-back samples are followed to no better than a tenth of their spread; the noise is as "
        "large.",
        "Record more trajectories, or less noisy ones.",
        step=NextStep("repeat", settings={"repeats": 4}),
    ),
}


def not_followed(finding: str, found: Found) -> Refusal:
    """Say why a system is not admitted."""
    if finding == "missed" and found.chi2 <= _EXPLAINED:
        finding = "differs"
    refusal = _REFUSALS.get(finding, _NOTHING)
    if finding in _NOT_TERMS:
        has_inputs = found.problem.samples.inputs.shape[1] > 0
        other = _LATE if has_inputs else _MISSING
        refusal = replace(refusal, advice=f"{refusal.advice} {other}")
    if found.problem.conserved and finding != "undetermined":
        asked = "Or what is said to be conserved is not: leave it out and compare."
        return replace(refusal, advice=f"{refusal.advice} {asked}")
    return refusal


def not_excited(still: Unmoved, inputs: Sequence[str]) -> Refusal:
    """Say which column did not move, and the experiment that would move it."""
    name = still.column
    if still.tie:
        reason = (
            f"The input `{name}` is a function of the others in the whole log, "
            f"{name} = {still.tie}: its effect cannot be told from theirs."
        )
        reach = max(abs(still.low), abs(still.high)) or 1.0
        advice = (
            f"Add a test signal of its own to `{name}`, such as a square wave of "
            f"±{0.3 * reach:.2g} whose period changes, or record a run with other gains."
        )
        return Refusal("excitation", reason, advice, step=NextStep("explore", variables=(name,)))
    if still.quick:
        reason = (
            f"`{name}` changes as much from one sample to the next as in the whole log "
            f"({still.low:.3g} to {still.high:.3g})."
        )
        advice = "Sample faster, or look for spikes: samples that are not what they seem."
        return Refusal("excitation", reason, advice, step=NextStep("explore", variables=(name,)))
    is_input = name in inputs
    kind = "input" if is_input else "state"
    reason = f"The {kind} `{name}` is {still.value:.4g} in the whole log" + (
        ": nothing says what it does." if is_input else " but for noise: nothing moves it."
    )
    reach = abs(still.value) or 1.0
    advice = (
        f"Record a run in which `{name}` steps between {still.value - 0.5 * reach:.3g} and "
        f"{still.value + 0.5 * reach:.3g}, holding each value for a while."
        if is_input
        else f"Record a run that starts away from {name} = {still.value:.3g}, or leave it out of "
        "the states."
    )
    ends = (still.value - 0.5 * reach, still.value + 0.5 * reach)
    return Refusal(
        "excitation",
        reason,
        advice,
        step=NextStep("explore", variables=(name,), ranges={name: ends}),
    )
