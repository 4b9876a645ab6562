# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915 (numba)
r"""Fit one structure after another: screen starts, then Levenberg-Marquardt on what is left.

For given nonlinear parameters $\theta$ the linear coefficients $c$ follow from least squares
(variable projection). One pass over the rows gives the Gram matrix $H$ of all columns (terms,
their derivatives, target); everything else happens in that small matrix:

$$E_k = \sum_j c_j \frac{\partial\varphi_j}{\partial\theta_k},\qquad
  (J^TJ)_{kl} = E_k^TE_l - E_k^T\Phi(\Phi^T\Phi)^{-1}\Phi^TE_l,\qquad g_k = E_k^T\rho .$$

(Golub and Pereyra 1973; the Jacobian is Kaufman's.) $\rho$ is the residual. Rows are read in
blocks, so memory does not grow with rows times parameters.

A Gram matrix knows a sum of squares only to about 1e-15 of the target's own. Where the fit is
nearly exact, `refine` goes on with explicit residuals, down to rounding.
"""

from typing import NamedTuple

import numpy as np

from alder.kernel.compiled import fast, reordered, strict
from alder.kernel.interpret import BLOCK, run_block
from alder.kernel.lower import parse_postfix
from alder.kernel.plan import OFFSET, build_plan
from alder.kernel.solve import backward, bounded_least_squares, factor, forward
from alder.kernel.starts import natural_sizes, place

CONVERGED, STALLED, EXHAUSTED, UNSOLVABLE = 0, 1, 2, 3
NEARLY_EXACT = 1e-9
"""Below this share of the target's own sum of squares the Gram matrix has no digits left."""
EXACT = 1e-30
"""A residual of a few roundings a row: no start can do better."""
PATIENCE = 5
"""Steps in a row that may fail before a start is given up."""


class Effort(NamedTuple):
    """How hard to try, in numbers that do not depend on the machine."""

    pool: int
    starts: int
    iterations: int
    tolerance: float
    screen_rows: int


class Work(NamedTuple):
    """Scratch memory of one structure."""

    registers: np.ndarray
    tangents: np.ndarray
    scratch: np.ndarray
    out: np.ndarray
    H: np.ndarray
    sums: np.ndarray


@reordered
def _dot(a, b):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@strict
def make_work(plan, rows):
    """Allocate scratch memory, and fill what stays the same in every pass."""
    n_lines = plan.line_parameter.size
    n_registers = max(plan.n_registers, 1)
    registers = np.empty((n_registers, BLOCK))
    tangents = np.empty((n_registers, max(n_lines, 1), BLOCK))
    for k in range(plan.literal_register.size):
        registers[plan.literal_register[k], :] = plan.literal_value[k]
    for k in range(n_lines):
        if plan.line_register[k] >= 0:
            tangents[plan.line_register[k], k, :] = 1.0
    n_dynamic = plan.value_register.size + plan.pair_value.size
    return Work(
        registers,
        tangents,
        np.empty((2, BLOCK)),
        np.empty((max(n_dynamic, 1), BLOCK)),
        np.zeros((plan.n_columns, plan.n_columns)),
        np.zeros((rows.n_groups + 1, plan.n_columns)),
    )


@strict
def _set_lines(plan, theta, work):
    for k in range(theta.size):
        if plan.line_register[k] >= 0:
            work.registers[plan.line_register[k], :] = theta[k]


@fast
def _copy_block(plan, rows, start, n, with_tangents, work):
    """Copy the dynamic columns of a block side by side, weighted."""
    n_values = plan.value_register.size
    weighted = rows.root_weight.size > 0
    n_columns = n_values + (plan.pair_value.size if with_tangents else 0)
    for d in range(n_columns):
        out = work.out[d, :n]
        if d < n_values:
            source = work.registers[plan.value_register[d], :n]
        else:
            pair = d - n_values
            register = plan.value_register[plan.pair_value[pair]]
            source = work.tangents[register, plan.pair_line[pair], :n]
        if weighted:
            weight = rows.root_weight[start : start + n]
            for i in range(n):
                out[i] = source[i] * weight[i]
        else:
            for i in range(n):
                out[i] = source[i]
    return n_columns


@strict
def static_gram(plan, n_rows, H):
    """Write the products of columns that no parameter moves."""
    n_static = plan.static.shape[0]
    first = plan.n_columns - n_static
    for s in range(n_static):
        for t in range(s + 1):
            value = _dot(plan.static[s, :n_rows], plan.static[t, :n_rows])
            H[first + s, first + t] = value
            H[first + t, first + s] = value


@strict
def gram(plan, rows, theta, n_rows, with_tangents, work):
    """Fill the Gram matrix of all columns over the first rows, at these nonlinear parameters."""
    H = work.H
    n_values = plan.value_register.size
    n_dynamic = n_values + plan.pair_value.size
    n_live = n_dynamic if with_tangents else n_values
    n_static = plan.static.shape[0]
    n_lines = theta.size if with_tangents else 0
    _set_lines(plan, theta, work)
    for d in range(n_live):
        for e in range(plan.n_columns):
            H[d, e] = 0.0
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        run_block(
            plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns, plan.extra,
            start, n, n_lines, rows.floors, work.registers, work.tangents, work.scratch,
        )  # fmt: skip
        _copy_block(plan, rows, start, n, with_tangents, work)
        for d in range(n_live):
            out = work.out[d, :n]
            for e in range(d + 1):
                H[d, e] += _dot(out, work.out[e, :n])
            for s in range(n_static):
                H[d, n_dynamic + s] += _dot(out, plan.static[s, start : start + n])
    for d in range(n_live):
        for e in range(d):
            H[e, d] = H[d, e]
        for s in range(n_static):
            H[n_dynamic + s, d] = H[d, n_dynamic + s]
    if rows.n_groups > 0:
        remove_group_offsets(plan, rows, theta, n_rows, with_tangents, work)


@strict
def remove_group_offsets(plan, rows, theta, n_rows, with_tangents, work):
    r"""Project out one offset per group, offsets that sum to zero over the rows.

    The projection of a column onto such offsets is its group mean minus its grand mean, so
    $H \leftarrow H - \sum_g S_g S_g^T / W_g + S S^T / W$ with $S_g$ the weighted sums in group g.
    """
    n_values = plan.value_register.size
    n_dynamic = n_values + plan.pair_value.size
    n_live = n_dynamic if with_tangents else n_values
    n_lines = theta.size if with_tangents else 0
    sums = work.sums
    sums[:, :] = 0.0
    weights = np.zeros(rows.n_groups + 1)
    weighted = rows.root_weight.size > 0
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        run_block(
            plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns, plan.extra,
            start, n, n_lines, rows.floors, work.registers, work.tangents, work.scratch,
        )  # fmt: skip
        _copy_block(plan, rows, start, n, with_tangents, work)
        for i in range(n):
            g = rows.group[start + i]
            w = rows.root_weight[start + i] if weighted else 1.0
            weights[g] += w * w
            for d in range(n_live):
                sums[g, d] += w * work.out[d, i]
            for s in range(plan.static.shape[0]):
                sums[g, n_dynamic + s] += w * plan.static[s, start + i]
    for g in range(rows.n_groups):
        weights[rows.n_groups] += weights[g]
        for d in range(plan.n_columns):
            sums[rows.n_groups, d] += sums[g, d]
    static_gram(plan, n_rows, work.H)
    for d in range(plan.n_columns):
        for e in range(plan.n_columns):
            s = 0.0
            for g in range(rows.n_groups):
                if weights[g] > 0.0:
                    s -= sums[g, d] * sums[g, e] / weights[g]
            s += sums[rows.n_groups, d] * sums[rows.n_groups, e] / weights[rows.n_groups]
            work.H[d, e] += s


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
    if o >= 0:
        sse += H[o, o] - 2.0 * H[o, y]
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += linear.G[i, j] * linear.c[j]
        sse += linear.c[i] * (s - 2.0 * linear.b[i])
    if not sse < np.inf:
        return np.inf
    return max(sse, 0.0)


@strict
def normal_equations(plan, H, linear, EH, JJ, g):
    """Write the reduced normal equations of the nonlinear parameters."""
    q = g.size
    n = plan.linear_parameter.size
    n_values = plan.value_register.size
    y = plan.n_columns - 1
    o = plan.offset_column
    EH[:, :] = 0.0
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


@strict
def descend(plan, rows, theta, lower, upper, iterations, tolerance, linear, work):
    """Levenberg-Marquardt from theta, in place; return (sum of squares, code, passes)."""
    q = theta.size
    trial = theta.copy()
    EH = np.empty((q, plan.n_columns))
    JJ = np.empty((q, q))
    A = np.empty((q, q))
    g = np.empty(q)
    step = np.zeros(q)
    y = plan.n_columns - 1
    n_rows = rows.target.size
    damping = 1e-2
    current = np.inf
    fails = 0
    code = EXHAUSTED
    passes = 0
    for iteration in range(iterations):
        gram(plan, rows, trial, n_rows, True, work)
        passes += 1
        sse = project(plan, work.H, linear)
        if sse < current:
            gain = (current - sse) / max(sse, 1e-300)
            current = sse
            fails = 0
            theta[:] = trial
            if current <= EXACT * work.H[y, y] or (iteration > 0 and gain < tolerance):
                code = CONVERGED
                break
            damping = max(damping * 0.2, 1e-9)
            normal_equations(plan, work.H, linear, EH, JJ, g)
        else:
            if current == np.inf:
                code = UNSOLVABLE
                break
            fails += 1
            damping *= 8.0
            # A step that changes nothing in the last digits has arrived rather than stalled.
            if fails > PATIENCE:
                code = CONVERGED if current < NEARLY_EXACT * work.H[y, y] else STALLED
                break
        while not damped_step(JJ, g, damping, theta, lower, upper, step, A):
            damping = damping * 8.0 + 1e-8
            if not damping < 1e12:
                return current, STALLED, passes
        moved = 0.0
        for k in range(q):
            trial[k] = min(max(theta[k] + step[k], lower[k]), upper[k])
            moved = max(moved, abs(trial[k] - theta[k]) / (abs(theta[k]) + 1e-300))
        if moved < 1e-15:
            code = CONVERGED
            break
    return current, code, passes


@strict
def _residual_block(plan, rows, theta, c, start, n, with_tangents, work, residual, J):
    """Write residuals of a block and, where asked, derivatives by linear then nonlinear."""
    n_values = plan.value_register.size
    n_linear = c.size
    n_dynamic = n_values + plan.pair_value.size
    run_block(
        plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns, plan.extra,
        start, n, theta.size if with_tangents else 0, rows.floors, work.registers, work.tangents,
        work.scratch,
    )  # fmt: skip
    _copy_block(plan, rows, start, n, with_tangents, work)
    n_static = plan.static.shape[0]
    residual[:n] = plan.static[n_static - 1, start : start + n]
    for j in range(n_linear + 1):
        column = plan.offset_column if j == n_linear else plan.linear_column[j]
        if column < 0:
            continue
        a = 1.0 if j == n_linear else c[j]
        if column < n_values:
            source = work.out[column, :n]
        else:
            source = plan.static[column - n_dynamic, start : start + n]
        for i in range(n):
            residual[i] -= a * source[i]
        if with_tangents and j < n_linear:
            J[j, :n] = source
    if with_tangents:
        J[n_linear:, :n] = 0.0
        for p in range(plan.pair_value.size):
            source = plan.value_source[plan.pair_value[p]]
            a = 1.0 if source == OFFSET else c[source]
            row = J[n_linear + plan.pair_line[p]]
            tangent = work.out[n_values + p]
            for i in range(n):
                row[i] += a * tangent[i]


@strict
def _explicit_pass(plan, rows, theta, c, with_tangents, work, A, g):
    """Return the explicit sum of squares; fill J'J and J'r where asked."""
    n_rows = rows.target.size
    p = c.size + theta.size
    residual = np.empty(BLOCK)
    J = np.empty((p, BLOCK))
    _set_lines(plan, theta, work)
    sse = 0.0
    if with_tangents:
        A[:, :] = 0.0
        g[:] = 0.0
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        _residual_block(plan, rows, theta, c, start, n, with_tangents, work, residual, J)
        sse += _dot(residual[:n], residual[:n])
        if with_tangents:
            for a in range(p):
                g[a] += _dot(J[a, :n], residual[:n])
                for b in range(a + 1):
                    A[a, b] += _dot(J[a, :n], J[b, :n])
    for a in range(p):
        for b in range(a):
            A[b, a] = A[a, b]
    return sse


@strict
def refine(plan, rows, theta, lower, upper, linear, work, iterations):
    """Gauss-Newton on all parameters with explicit residuals, in place; return the new sum.

    The gradient comes from residuals, not from differences of sums of squares, so the digits the
    Gram matrix lost come back; its errors only slow the convergence.
    """
    n_linear = linear.c.size
    q = theta.size
    p = n_linear + q
    A = np.empty((p, p))
    S = np.empty((p, p))
    g = np.empty(p)
    step = np.empty(p)
    scale = np.empty(p)
    c = linear.c.copy()
    t = theta.copy()
    current = _explicit_pass(plan, rows, theta, linear.c, True, work, A, g)
    for _ in range(iterations):
        if not current > 0.0:
            break
        for a in range(p):
            x = linear.c[a] if a < n_linear else theta[a - n_linear]
            low = linear.lower[a] if a < n_linear else lower[a - n_linear]
            high = linear.upper[a] if a < n_linear else upper[a - n_linear]
            pushed = (x <= low and g[a] < 0.0) or (x >= high and g[a] > 0.0)
            usable = A[a, a] > 0.0 and A[a, a] < np.inf and not pushed
            scale[a] = 1.0 / np.sqrt(A[a, a]) if usable else 0.0
        for a in range(p):
            for b in range(p):
                S[a, b] = A[a, b] * scale[a] * scale[b]
            S[a, a] = 1.0 + 1e-14
            step[a] = g[a] * scale[a]
        if not factor(S, p):
            break
        forward(S, step, p)
        backward(S, step, p)
        improved = False
        length = 1.0
        for _ in range(4):
            for j in range(n_linear):
                c[j] = min(
                    max(linear.c[j] + length * step[j] * scale[j], linear.lower[j]), linear.upper[j]
                )
            for k in range(q):
                move = length * step[n_linear + k] * scale[n_linear + k]
                t[k] = min(max(theta[k] + move, lower[k]), upper[k])
            sse = _explicit_pass(plan, rows, t, c, False, work, A, g)
            if sse < current:
                improved = True
                break
            length *= 0.25
        if not improved:
            break
        gain = (current - sse) / current
        linear.c[:] = c
        theta[:] = t
        current = _explicit_pass(plan, rows, theta, linear.c, True, work, A, g)
        if gain < 1e-6:
            break
    return current


@strict
def fit_structure(
    opcodes, arguments, literals, forced, lower, upper, rows, effort, steps, values, report
):  # fmt: skip
    """Fit one structure; write all parameters to `values`.

    `report` receives the sum of squares, the code, passes over the rows, and whether residuals
    were refined. Bounds are indexed by parameter.
    """
    n_parameters = lower.size
    plan = build_plan(opcodes, arguments, literals, n_parameters, forced, rows)
    work = make_work(plan, rows)
    linear = make_linear(plan, lower, upper)
    q = plan.line_parameter.size
    n_linear = plan.linear_parameter.size
    n_rows = rows.target.size
    low, high, sizes = np.empty(q), np.empty(q), np.empty(n_parameters)
    starts = np.empty((max(effort.pool, 1), q))
    if q > 0:
        n = opcodes.size
        child = np.empty((n, 3), np.int64)
        span = np.empty(n, np.int64)
        mask = np.empty(n, np.int64)
        parse_postfix(opcodes, arguments, child, span, mask)
        natural_sizes(opcodes, arguments, literals, child, mask, rows.sizes, rows.sizes[-1], sizes)
    for k in range(q):
        p = plan.line_parameter[k]
        low[k], high[k] = lower[p], upper[p]
        for s in range(effort.pool):
            u = (0.5 + s * steps[q, k]) % 1.0
            starts[s, k] = place(u, low[k], high[k], sizes[p])
    order = np.arange(effort.pool)
    n_descents = min(effort.starts, effort.pool) if q > 0 else 1
    passes = 0.0
    if q > 0 and effort.pool > effort.starts:
        n_screen = min(n_rows, effort.screen_rows)
        score = np.empty(effort.pool)
        static_gram(plan, n_screen, work.H)
        for s in range(effort.pool):
            gram(plan, rows, starts[s], n_screen, False, work)
            score[s] = project(plan, work.H, linear)
        passes += effort.pool * n_screen / n_rows
        order = np.argsort(score)
    static_gram(plan, n_rows, work.H)
    best = np.inf
    code = UNSOLVABLE
    theta_best = np.zeros(q)
    c_best = np.zeros(n_linear)
    iterations = effort.iterations if q > 0 else 1
    for d in range(n_descents):
        theta = starts[order[d]].copy()
        sse, how, n = descend(
            plan, rows, theta, low, high, iterations, effort.tolerance, linear, work
        )
        passes += n
        if q == 0 and how == EXHAUSTED:
            how = CONVERGED
        if sse < best:
            # The last pass may have been a failed step: solve once more where the best one was.
            best, code = sse, how
            theta_best[:] = theta
            if best <= EXACT * work.H[plan.n_columns - 1, plan.n_columns - 1]:
                break
    refined = 0.0
    if best < np.inf:
        gram(plan, rows, theta_best, n_rows, False, work)
        best = project(plan, work.H, linear)
        total = work.H[plan.n_columns - 1, plan.n_columns - 1]
        if best < NEARLY_EXACT * total and rows.n_groups == 0:
            best = refine(plan, rows, theta_best, low, high, linear, work, 12)
            refined = 1.0
            code = CONVERGED
        c_best[:] = linear.c
    for j in range(n_linear):
        values[plan.linear_parameter[j]] = c_best[j]
    for k in range(q):
        values[plan.line_parameter[k]] = theta_best[k]
    report[0], report[1], report[2], report[3] = best, code, passes, refined
    report[4] = q


@strict
def fit_batch(
    opcodes, arguments, literals, offsets, forced, lower, upper, parameter_offsets, rows, effort,
    steps, values, reports,
):  # fmt: skip
    """Fit structures one after another; bounds and values lie end to end."""
    for s in range(offsets.size - 1):
        a, b = offsets[s], offsets[s + 1]
        p, q = parameter_offsets[s], parameter_offsets[s + 1]
        fit_structure(
            opcodes[a:b], arguments[a:b], literals[a:b], forced, lower[p:q], upper[p:q], rows,
            effort, steps, values[p:q], reports[s],
        )  # fmt: skip


@strict
def evaluate_structure(opcodes, arguments, literals, parameters, rows, values, jacobian):
    """Write values (n) and, unless it is empty, the Jacobian (parameters, n) by all parameters."""
    n_parameters = parameters.size
    forced = np.int64(-1)
    plan = build_plan(opcodes, arguments, literals, n_parameters, forced, rows)
    work = make_work(plan, rows)
    _set_lines(plan, parameters[plan.line_parameter], work)
    n_lines = plan.line_parameter.size if jacobian.size > 0 else 0
    jacobian[:, :] = 0.0
    n_values = plan.value_register.size
    for start in range(0, rows.target.size, BLOCK):
        n = min(BLOCK, rows.target.size - start)
        if n_values == 0:
            values[start : start + n] = plan.static[0, start : start + n]
            continue
        run_block(
            plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns, plan.extra,
            start, n, n_lines, rows.floors, work.registers, work.tangents, work.scratch,
        )  # fmt: skip
        register = plan.value_register[0]
        values[start : start + n] = work.registers[register, :n]
        for k in range(n_lines):
            if plan.value_mask[0] >> k & 1:
                line = plan.line_parameter[k]
                jacobian[line, start : start + n] = work.tangents[register, k, :n]
