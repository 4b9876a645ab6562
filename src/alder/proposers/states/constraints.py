r"""What the user knows of a system: quantities that stay, and signs that may be turned.

A quantity $H(x)$ is conserved where $\sum_i \partial_i H\, f_i = 0$ at every state. A system is
mirrored in some columns where it stays the same when their signs are turned: rates of these
states are odd under it, the others even.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate, gradient, jacobian
from alder.expr.nodes import Expr
from alder.fitting.constrained import Constraint
from alder.fitting.flows import Flow
from alder.proposers.states.model import Problem
from alder.proposers.summands.terms import Library

_POINTS = 60  # at which a quantity is asked to stay
_WEIGHT = 100.0  # of a relative change, in units of noise: one in a hundred is a sure refusal
_SAME = 1e-9


def allowed(problem: Problem, library: Library) -> NDArray[np.bool_]:
    """Say which terms each rate may have, (states, terms)."""
    n_states = len(problem.states)
    if not problem.mirrored:
        return np.ones((n_states, len(library.terms)), dtype=np.bool_)
    table = _table(problem)
    turned = table * np.array([-1.0 if n in problem.mirrored else 1.0 for n in problem.columns])
    here, there = library.values(table), library.values(turned)
    size = _SAME * np.maximum(np.abs(here).max(axis=0), 1e-300)
    even = np.abs(there - here).max(axis=0) <= size
    odd = np.abs(there + here).max(axis=0) <= size
    return np.stack([odd if state in problem.mirrored else even for state in problem.states])


def kept_rows(problem: Problem, library: Library, mix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rows of a regression, all states' coefficients together, that ask for what stays."""
    if not problem.conserved:
        return np.zeros((0, mix.size)), np.zeros(0)
    points = _points(problem)
    rows = _rows(problem, points)
    values = library.values(points)
    known = np.zeros((len(points), len(problem.states)))
    for i, rate in problem.known.items():
        known[:, i] = evaluate(rate, rows, {})
    found: list[FloatArray] = []
    sides: list[FloatArray] = []
    for quantity in problem.conserved:
        _, slopes = gradient(quantity, rows, {}, problem.states)
        scale = _WEIGHT / _size(slopes * (values @ mix.T + known))
        found.append(scale * (slopes[:, :, None] * values[:, None, :]).reshape(len(points), -1))
        sides.append(-scale * (slopes * known).sum(axis=1))
    return np.concatenate(found), np.concatenate(sides)


def keeping(problem: Problem, rates: Sequence[Expr], flow: Flow) -> Constraint:
    """Return how far conserved quantities change, in shares of what moves them."""
    points = _points(problem)
    rows = _rows(problem, points)
    slopes = [gradient(one, rows, {}, problem.states)[1] for one in problem.conserved]

    def change(p: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = dict(zip(flow.parameters, p.tolist(), strict=True))
        parts = [jacobian(rate, rows, values, flow.parameters) for rate in rates]
        f = np.stack([np.broadcast_to(value, (len(points),)) for value, _ in parts], axis=1)
        J = np.stack(
            [np.broadcast_to(one, (len(points), len(p))) for _, one in parts], axis=1
        )  # (points, states, numbers)
        sizes = [_size(each * f) for each in slopes]
        changes = [(each * f).sum(axis=1) / s for each, s in zip(slopes, sizes, strict=True)]
        by_p = [
            (each[:, :, None] * J).sum(axis=1) / s for each, s in zip(slopes, sizes, strict=True)
        ]
        return np.concatenate(changes), np.concatenate(by_p)

    return change


def _size(parts: FloatArray) -> float:
    """Return how much states move a quantity, before their parts cancel."""
    totals: FloatArray = np.abs(parts).sum(axis=1)
    return max(float(np.sqrt(np.mean(totals**2))), 1e-300)


def _table(problem: Problem) -> FloatArray:
    return np.concatenate([problem.near, problem.samples.inputs], axis=1)


def _points(problem: Problem) -> FloatArray:
    table = _table(problem)
    return table[np.unique(np.linspace(0, len(table) - 1, _POINTS).astype(np.int64))]


def _rows(problem: Problem, points: FloatArray) -> dict[str, FloatArray]:
    return {name: points[:, i] for i, name in enumerate(problem.columns)}
