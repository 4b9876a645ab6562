# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913 (numba)
r"""Variable projection in the Gram matrix: linear coefficients, normal equations, damped steps.

For given nonlinear parameters the linear coefficients follow from least squares; what is left is a
small problem in the nonlinear ones. The equations stand in `alder.kernel.search`.
"""

from typing import NamedTuple

import numpy as np

from alder.kernel.compiled import strict
from alder.kernel.fill import fill_table
from alder.kernel.plan import OFFSET
from alder.kernel.solve import backward, bounded_least_squares, factor, forward

RESOLUTION = 1e-15
"""What a Gram matrix can resolve of the parts a sum of squares is made of."""


class Linear(NamedTuple):
    """Linear coefficients at the current nonlinear parameters, and their factored system."""

    c: np.ndarray
    free: np.ndarray
    scale: np.ndarray
    L: np.ndarray
    G: np.ndarray
    b: np.ndarray
    rhs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@strict
def make_linear(plan, lower, upper):
    """Allocate for the linear coefficients of a plan."""
    n = plan.linear_parameter.size
    linear = Linear(
        np.zeros(n), np.ones(n, np.bool_), np.ones(n), np.empty((n, n)), np.empty((n, n)),
        np.empty(n), np.empty(n), np.empty(n), np.empty(n),
    )  # fmt: skip
    for j in range(n):
        linear.lower[j] = lower[plan.linear_parameter[j]]
        linear.upper[j] = upper[plan.linear_parameter[j]]
    return linear


@strict
def project(plan, H, linear):
    """Solve for the linear coefficients; return the sum of squares, infinite where none."""
    n = plan.linear_parameter.size
    y = plan.n_columns - 1
    o = plan.offset_column
    for i in range(n):
        a = plan.linear_column[i]
        for j in range(n):
            linear.G[i, j] = H[a, plan.linear_column[j]]
        linear.b[i] = H[a, y] - (H[a, o] if o >= 0 else 0.0)
    m = bounded_least_squares(
        linear.G, linear.b, linear.lower, linear.upper, n, linear.c, linear.free, linear.scale,
        linear.L, linear.rhs,
    )  # fmt: skip
    if m < 0:
        return np.inf
    sse = H[y, y]
    parts = H[y, y]
    if o >= 0:
        sse += H[o, o] - 2.0 * H[o, y]
        parts += H[o, o]
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += linear.G[i, j] * linear.c[j]
        sse += linear.c[i] * (s - 2.0 * linear.b[i])
        parts += abs(linear.c[i] * s)
    if not parts < np.inf:
        return np.inf
    # Large parts that cancel leave rounding, which must not pass for an exact fit.
    return max(sse, RESOLUTION * parts)


@strict
def normal_equations(plan, H, linear, EH, JJ, g):
    """Write the reduced normal equations of the nonlinear parameters."""
    q = g.size
    n = plan.linear_parameter.size
    n_values = plan.value_register.size
    y = plan.n_columns - 1
    o = plan.offset_column
    fill_table(EH, 0.0)
    for p in range(plan.pair_value.size):
        source = plan.value_source[plan.pair_value[p]]
        a = 1.0 if source == OFFSET else linear.c[source]
        k = plan.pair_line[p]
        for d in range(plan.n_columns):
            EH[k, d] += a * H[n_values + p, d]
    for k in range(q):
        for m in range(q):
            JJ[k, m] = 0.0
        s = EH[k, y] - (EH[k, o] if o >= 0 else 0.0)
        for j in range(n):
            s -= linear.c[j] * EH[k, plan.linear_column[j]]
        g[k] = s
    for p in range(plan.pair_value.size):
        source = plan.value_source[plan.pair_value[p]]
        a = 1.0 if source == OFFSET else linear.c[source]
        for k in range(q):
            JJ[k, plan.pair_line[p]] += a * EH[k, n_values + p]
    # Project out the free linear columns, in the scaled system that is already factored.
    Z = np.empty((q, n))
    m = 0
    for j in range(n):
        if linear.free[j]:
            m += 1
    for k in range(q):
        i = 0
        for j in range(n):
            if linear.free[j]:
                Z[k, i] = EH[k, plan.linear_column[j]] * linear.scale[j]
                i += 1
        forward(linear.L, Z[k], m)
    for k in range(q):
        for h in range(q):
            s = 0.0
            for i in range(m):
                s += Z[k, i] * Z[h, i]
            JJ[k, h] -= s


@strict
def damped_step(JJ, g, damping, theta, lower, upper, step, A):
    """Solve for a step that leaves parameters pushed against a bound where they are."""
    q = g.size
    for k in range(q):
        for m in range(q):
            A[k, m] = JJ[k, m]
        A[k, k] += damping * JJ[k, k] + 1e-300
        step[k] = g[k]
    for k in range(q):
        pushed = (theta[k] <= lower[k] and g[k] < 0.0) or (theta[k] >= upper[k] and g[k] > 0.0)
        if pushed or not A[k, k] > 1e-290:
            for m in range(q):
                A[k, m] = 0.0
                A[m, k] = 0.0
            A[k, k] = 1.0
            step[k] = 0.0
    if not factor(A, q):
        return False
    forward(A, step, q)
    backward(A, step, q)
    return True
