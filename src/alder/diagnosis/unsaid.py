"""A missing operator or term: what the best law leaves over is foreseen by the inputs."""

import numpy as np

from alder.diagnosis.operators import suggest
from alder.diagnosis.signs import SHOWN, Sign, count
from alder.diagnosis.view import View
from alder.expr.nodes import size
from alder.fitting.residuals import STRUCTURE
from alder.records.nextstep import NextStep
from alder.records.outcome import Cause

_CAUSE: Cause = "missing-operator"
# A term of its own takes about this many nodes: a product, an operator, a sum, and their numbers.
_NODES_OF_A_TERM = 8


def unsaid(view: View) -> Sign:
    """Find a pattern that the grammar did not say, and what would say it."""
    best = view.best
    if best is None:
        return Sign(_CAUSE, "No law was fitted, so nothing is left over.", is_made=False)
    if view.left is None:
        return _coarse(view)
    pattern = view.left.pattern
    if pattern.share < SHOWN:
        n = count(len(view.names), "input")
        return Sign(
            _CAUSE,
            f"The best law leaves no structure along {n}: of what is left over, "
            f"{100 * pattern.share:.0f} % is foreseen by the inputs; {100 * SHOWN:.0f} % would be "
            "more than chance.",
        )
    region = _region(view)
    where = _where(view, region)
    operators = suggest(view, pattern.along)
    nodes = _nodes(view, operators)
    step = NextStep(
        "allow", operators=operators, variables=pattern.along, ranges=region, settings=nodes
    )
    return Sign(
        _CAUSE,
        f"The best law leaves structure along {' and '.join(pattern.along)}: {where}; "
        f"{100 * pattern.share:.0f} % of what is left over is foreseen by the inputs.",
        _advice(step),
        step,
    )


def _coarse(view: View) -> Sign:
    """Judge by means of parts of the rows, where nothing finer can be had."""
    assert view.best is not None
    if not view.best.misfits:
        n = count(len(view.names), "input")
        return Sign(_CAUSE, f"The best law leaves no structure along {n}.")
    worst = view.best.misfits[0]
    if worst.strength < STRUCTURE:
        return Sign(
            _CAUSE,
            f"The most structure the best law leaves, along {worst.along}, is "
            f"{worst.strength:.1f} standard errors; {STRUCTURE:.0f} would be more than chance.",
        )
    step = NextStep("allow", variables=(worst.along,), settings=_nodes(view, ()))
    return Sign(
        _CAUSE,
        f"The best law leaves structure along {worst.along}: {worst.where}, by "
        f"{worst.strength:.0f} standard errors.",
        f"Allow more operators or nodes for {worst.along}, or check it in that region.",
        step,
    )


def _where(view: View, region: dict[str, tuple[float, float]]) -> str:
    """Say where, as the coarse test has it; a pattern it does not see is located by its size."""
    assert view.best is not None
    for misfit in view.best.misfits:
        if misfit.along in region:
            return misfit.where
    name, (low, high) = next(iter(region.items()))
    return f"most where {name} is {low:.4g} to {high:.4g}"


def _region(view: View) -> dict[str, tuple[float, float]]:
    """Return, by variable, the interval that holds the rows the pattern moves most."""
    assert view.left is not None
    pattern = view.left.pattern
    moved = np.abs(pattern.foreseen - np.median(pattern.foreseen))
    most = moved >= np.quantile(moved, 0.75)
    found: dict[str, tuple[float, float]] = {}
    for name in pattern.along:
        column = view.left.columns[name][most]
        found[name] = (float(np.quantile(column, 0.05)), float(np.quantile(column, 0.95)))
    return found


def _nodes(view: View, operators: tuple[str, ...]) -> dict[str, float | str]:
    """Return a larger limit on nodes where another term would not fit below the present one."""
    grammar, best = view.evidence.grammar, view.best
    used = 0 if best is None or best.fit is None else size(best.fit.structure)
    if operators and used + _NODES_OF_A_TERM <= grammar.max_nodes:
        return {}
    return {"max_nodes": grammar.max_nodes + 2 * _NODES_OF_A_TERM}


def _advice(step: NextStep) -> str:
    along = " and ".join(step.variables)
    nodes = step.settings.get("max_nodes")
    if not step.operators:
        return (
            f"Allow more operators or nodes for {along}, {nodes} nodes say, or check it in that "
            "region."
        )
    named = f"Allow {' or '.join(step.operators)} for {along}"
    return (
        f"{named}, or check it in that region." if nodes is None else f"{named}, and {nodes} nodes."
    )
