"""Score what a method ended with: three trajectories, the field itself, and each equation."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.bench.benchmark import Row
from alder.bench.odes.systems import OdeSystem
from alder.expr.canonical import complexity
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, walk
from alder.expr.symbolic import to_sympy
from alder.expr.valued import with_values
from alder.integration import SATURATION
from alder.records.dynamics import Dynamics
from alder.records.law import Law

FUNCTIONAL = 1e-6
"""Trajectory NMSE in all three settings at which a system is recovered."""
NO_NUMBER = 1e30
EXACT = 1e-9
_STATES = 1000
_SETTINGS = ("reconstruction", "generalization", "future")

Follow: TypeAlias = Callable[[Sequence[float], FloatArray], FloatArray]
"""States at each time from a start, (times, states)."""


def follow_dynamics(dynamics: Dynamics, names: Sequence[str]) -> Follow:
    """Return how equations of motion are followed."""

    def follow(start: Sequence[float], times: FloatArray) -> FloatArray:
        path = dynamics.rollout(dict(zip(names, start, strict=True)), times)
        return np.column_stack([path[name] for name in names])

    return follow


def trajectory_errors(system: OdeSystem, follow: Follow | None) -> dict[str, float]:
    """Return the NMSE of the three settings; 1e30 where a solution is no number."""
    window = np.linspace(0.0, 1.0, 100)
    future = np.concatenate([[0.0], np.linspace(1.0, 10.0, 151)[1:]])
    asked = {
        "reconstruction": (system.starts[0], window, 0),
        "generalization": (system.starts[1], window, 0),
        "future": (system.starts[0], future, 1),
    }
    truth = follow_dynamics(system.truth, system.truth.states)
    errors: dict[str, float] = {}
    for setting, (start, times, first) in asked.items():
        errors[setting] = NO_NUMBER
        if follow is None:
            continue
        y, said = truth(start, times)[first:], follow(start, times)[first:]
        there = (np.abs(y) < SATURATION).all(axis=1)
        if there.any() and (np.abs(said[there]) < SATURATION).all():
            above = float(np.sum(np.square(y[there] - said[there])))
            errors[setting] = min(
                above / max(float(np.sum(np.square(y[there]))), 1e-300), NO_NUMBER
            )
    return errors


def score(system: OdeSystem, follow: Follow | None, *, admitted: bool | None) -> Row:
    """Return the trajectory errors and what they mean; None asks nothing of admission."""
    errors = trajectory_errors(system, follow)
    good = all(error <= FUNCTIONAL for error in errors.values())
    return {
        "system": system.name,
        "dim": len(system.truth.states),
        "replaced": system.replaced,
        "admitted": bool(admitted) if admitted is not None else good,
        "functional": good and admitted is not False,
        "wrong_admitted": admitted is True and not good,
        **{f"nmse_{name}": errors[name] for name in _SETTINGS},
    }


def score_dynamics(system: OdeSystem, dynamics: Dynamics | None, *, admitted: bool) -> Row:
    """Score equations of motion: as trajectories, as a field, and each by itself."""
    names = system.truth.states
    row = score(
        system,
        None if dynamics is None else follow_dynamics(dynamics, names),
        admitted=admitted,
    )
    truth_nodes = sum(complexity(law.structure) for law in system.truth.laws.values())
    row |= {"complexity_truth": truth_nodes / len(names), "complexity": None, "law": None}
    exact = dict.fromkeys(names, False)
    if dynamics is not None:
        exact = {
            name: is_exact(system, dynamics.laws[name], system.truth.laws[name]) for name in names
        }
        row |= {
            "complexity": dynamics.complexity / len(names),
            "law": str(dynamics),
            "field_nmse": field_error(system, dynamics),
        }
    return row | {"exact": [exact[name] and admitted for name in names]}


def random_states(system: OdeSystem) -> dict[str, FloatArray]:
    """Draw states over twice the box."""
    rng = np.random.default_rng(0)
    low, high = np.array(system.box).T
    middle, half = (low + high) / 2.0, high - low
    X = middle + half * (2.0 * rng.random((_STATES, len(low))) - 1.0)
    return {name: X[:, i] for i, name in enumerate(system.truth.states)}


def field_error(system: OdeSystem, dynamics: Dynamics) -> float:
    """Return the NMSE of the field on states over twice the box, where the truth is defined."""
    states = random_states(system)
    there = np.all([is_defined(law, states) for law in system.truth.laws.values()], axis=0)
    y, said = system.truth.rates(states), dynamics.rates(states)
    above = sum(float(np.sum(np.square(y[s] - said[s])[there])) for s in y)
    return min(
        above / max(sum(float(np.sum(np.square(y[s])[there])) for s in y), 1e-300), NO_NUMBER
    )


def is_exact(system: OdeSystem, law: Law, truth: Law) -> bool:
    """Say whether a law is the true one: the same numbers, or the same terms.

    The same numbers: a relative difference of at most 1e-9 on 1,000 random states over twice the
    box, where the truth is defined. The same terms: equal skeletons as a ratio of expanded sums.
    """
    states = random_states(system)
    there = is_defined(truth, states)
    y, said = truth.predict(states)[there], law.predict(states)[there]
    if len(y) and bool((np.abs(y - said) <= EXACT * (np.abs(y) + np.median(np.abs(y)))).all()):
        return True
    return skeleton_of(law) == skeleton_of(truth)


def is_defined(law: Law, states: Mapping[str, FloatArray]) -> Any:  # noqa: ANN401 (a mask)
    """Say on which states mathematics gives a law a value: logarithms and roots have a domain."""
    defined = np.ones(len(next(iter(states.values()))), dtype=np.bool_)
    for node in walk(law.structure):
        if isinstance(node, Apply) and _is_bounded(node):
            inner = evaluate(node.arguments[0], states, law.values, law.floors)
            defined &= np.broadcast_to(inner > 0.0, defined.shape)
    return defined


def _is_bounded(node: Apply) -> bool:
    name, last = node.operator.name, node.arguments[-1]
    if name == "pow" and isinstance(last, Const):
        return not float(last.value).is_integer()
    return name in ("log", "sqrt")


def skeleton_of(law: Law) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms above and below of the law as one ratio, without their coefficients."""
    sympy: Any = import_module("sympy")  # has no types
    tree: Expr = with_values(law.structure, law.values)
    above, below = sympy.fraction(sympy.together(to_sympy(tree)))
    return _terms(sympy.expand(above)), _terms(sympy.expand(below))


def _terms(expr: Any) -> frozenset[str]:  # noqa: ANN401 (sympy has no types)
    return frozenset(str(term.as_coeff_Mul()[1]) for term in expr.as_ordered_terms())
