"""One number in two rates: what one state loses another may gain."""

from dataclasses import replace
from typing import Any, cast

from alder.expr.text import to_text
from alder.proposers.states.model import Model, Pick, Problem
from alder.proposers.states.search import polish
from alder.proposers.summands.terms import Library

_BY_CHANCE = 0.01  # share of true equalities that are taken for two numbers
_ALIKE = 0.2  # of the larger coefficient: beyond, two are not tried as one


def share(model: Model, problem: Problem, library: Library) -> Model:
    """Let the same term of two rates have one number, up to its sign, where that is shorter."""
    best = model
    for number, pick in enumerate(model.picks):
        for earlier, other in enumerate(model.picks[:number], start=1):
            taken = best.picks[number].tied or best.picks[earlier - 1].tied
            if taken or not _is_alike(pick, other):
                continue
            factor = 1.0 if pick.coefficient * other.coefficient > 0.0 else -1.0
            trial = list(best.picks)
            trial[number] = replace(pick, term=other.term, tied=earlier, factor=factor)
            found = polish(trial, problem, library, best.shot, best.length)
            if found.length < best.length and _is_as_likely(found, best):
                best = found
    return best


def _is_as_likely(found: Model, best: Model) -> bool:
    """Say whether chance explains by how much the samples are followed worse with fewer numbers."""
    if found.shot is None or best.shot is None:
        return False
    fewer = len(best.shot.values) - len(found.shot.values)
    return found.shot.chi2 - best.shot.chi2 <= _likely(fewer)


def _likely(n: int) -> float:
    from scipy.stats import chi2  # pyright: ignore[reportMissingTypeStubs]

    return float(cast("Any", chi2).isf(_BY_CHANCE, max(n, 1)))


def _is_alike(pick: Pick, other: Pick) -> bool:
    """Say whether two summands of different rates may be one, but for the sign."""
    sizes = sorted([abs(pick.coefficient), abs(other.coefficient)])
    return (
        pick.state != other.state
        and pick.term.expr == other.term.expr
        and sizes[1] - sizes[0] <= _ALIKE * sizes[1]
    )


def shared_numbers(model: Model, targets: tuple[str, ...]) -> tuple[str, ...]:
    """Say in words which summands share their number."""
    found: list[str] = []
    for pick in model.picks:
        if pick.tied is not None:
            other = model.picks[pick.tied - 1]
            sign = "" if pick.factor > 0.0 else ", with opposite signs"
            found.append(
                f"The coefficient of {to_text(pick.term.literal())} is one number in "
                f"{targets[other.state]} and {targets[pick.state]}{sign}."
            )
    return tuple(found)
