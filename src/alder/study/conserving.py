r"""Do equations of motion keep what their user says is conserved?

$$\dot H = \sum_i \frac{\partial H}{\partial x_i} f_i = 0$$
"""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadParameter
from alder.expr.evaluate import gradient
from alder.expr.nodes import Expr, parameters, variables
from alder.expr.text import parse
from alder.records.dynamics import Dynamics
from alder.spelling import listed

_ROUNDING = 1e-6  # of the parts of a change, before they cancel
_NORMAL = 4.5  # standard errors: by chance once in a hundred thousand states


def quantity(text: str, states: Sequence[str]) -> Expr:
    """Read a conserved quantity; raise `BadParameter` where it is no formula of states."""
    expr = parse(text, states)
    stranger = next(iter(parameters(expr)), None)
    if stranger is not None:
        raise BadParameter(
            f"The conserved quantity `{text}` uses `{stranger}`, which is no state; "
            f"{listed(states)}."
        )
    if not variables(expr):
        raise BadParameter(
            f"The conserved quantity `{text}` has no state in it; the states are "
            f"{', '.join(states)}."
        )
    return expr


def changed(
    dynamics: Dynamics, conserved: Mapping[str, Expr], rows: Mapping[str, FloatArray]
) -> str:
    """Return the first quantity that changes by more than coefficients leave open, or nothing."""
    states = dynamics.states
    f = np.stack([dynamics.rates(rows)[state] for state in states], axis=1)
    error = np.zeros_like(f)
    for i, state in enumerate(states):
        if state in dynamics.laws:
            error[:, i] = np.nan_to_num(dynamics.laws[state].standard_error(rows), posinf=1e300)
    for text, expr in conserved.items():
        _, slopes = gradient(expr, rows, {}, states)
        change = np.abs((slopes * f).sum(axis=1))
        rounding = _ROUNDING * np.abs(slopes * f).sum(axis=1)
        open_by = _NORMAL * np.sqrt(np.square(slopes * error).sum(axis=1))
        if (change > rounding + open_by).any():
            return text
    return ""
