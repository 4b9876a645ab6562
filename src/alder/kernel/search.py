# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915, SIM110 (numba)
r"""Fit one structure after another: screen starts, then Levenberg-Marquardt on what is left.

For given nonlinear parameters $\theta$ the linear coefficients $c$ follow from least squares
(variable projection). One pass over the rows gives the Gram matrix $H$ of all columns (terms,
their derivatives, target); everything else happens in that small matrix:

$$E_k = \sum_j c_j \frac{\partial\varphi_j}{\partial\theta_k},\qquad
  (J^TJ)_{kl} = E_k^TE_l - E_k^T\Phi(\Phi^T\Phi)^{-1}\Phi^TE_l,\qquad g_k = E_k^T\rho .$$

(Golub and Pereyra 1973; the Jacobian is Kaufman's.) $\rho$ is the residual. Rows are read in
blocks, so memory does not grow with rows times parameters. Where a target is the sum of the law
over several rows, columns are summed over the rows of each observation before the products.

A Gram matrix knows a sum of squares only to about 1e-15 of the target's own. Where the fit is
nearly exact, `refine` goes on with explicit residuals, down to rounding.
"""

from typing import NamedTuple

import numpy as np

from alder.kernel.compiled import entry, fast, reordered, strict
from alder.kernel.fill import copy, fill, fill_table
from alder.kernel.interpret import BLOCK, run_block
from alder.kernel.plan import OFFSET, build_plan
from alder.kernel.solve import backward, bounded_least_squares, factor, forward
from alder.kernel.starts import spread_starts

CONVERGED, STALLED, EXHAUSTED, UNSOLVABLE = 0, 1, 2, 3
NEARLY_EXACT = 1e-9
"""Below this share of the target's own sum of squares the Gram matrix has no digits left."""
RESOLUTION = 1e-15
"""What a Gram matrix can resolve of the parts a sum of squares is made of."""
EXACT = 1e-14
"""At this share of the target's own sum of squares a start has found the law; `refine` follows."""
FLAT = 1e-6
"""A full step that promises less than this share of the sum of squares has nowhere to go."""
REFINEMENTS = 12
"""Gauss-Newton converges quadratically near an exact fit; a dozen steps reach rounding."""
SAME_BASIN = 0.05
"""Parameters this close to a known optimum, relatively, at a similar error, lead to it."""
SIMILAR = 1.5
SLOW = 1e-2
"""A search without derivatives must gain this much to be worth another descent."""
WIDEST_TO_FINEST = 64
"""Rounds of a compass search: enough to go from the width of the bounds to rounding."""
DESCENT_ROWS = 8192
"""Starts are followed on at most this many rows, a fair sample; the best one then on all."""
PATIENCE = 5
"""Steps in a row that may fail before a start is given up."""


class Work(NamedTuple):
    """Scratch memory of one structure."""

    registers: np.ndarray
    tangents: np.ndarray
    scratch: np.ndarray
    out: np.ndarray
    H: np.ndarray
    sums: np.ndarray
    summed: np.ndarray


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
        fill(registers[plan.literal_register[k]], plan.literal_value[k])
    for k in range(n_lines):
        if plan.line_register[k] >= 0:
            fill(tangents[plan.line_register[k], k], 1.0)
    n_dynamic = plan.value_register.size + plan.pair_value.size
    return Work(
        registers,
        tangents,
        np.empty((2, BLOCK)),
        np.empty((max(n_dynamic, 1), BLOCK)),
        np.zeros((plan.n_columns, plan.n_columns)),
        np.zeros((rows.n_groups + 1, plan.n_columns + 1)),
        np.empty((max(n_dynamic, 1), rows.target.size if rows.starts.size > 0 else 1)),
    )


@strict
def _set_lines(plan, theta, work):
    for k in range(theta.size):
        if plan.line_register[k] >= 0:
            fill(work.registers[plan.line_register[k]], theta[k])


@fast
def _copy_block(plan, rows, start, n, n_live, work):
    """Copy the dynamic columns of a block side by side, weighted unless they are summed first."""
    n_values = plan.value_register.size
    weighted = rows.root_weight.size > 0 and rows.starts.size == 0
    for d in range(n_live):
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


@fast
def _add_block(rows, start, n, n_live, at, work):
    """Add the rows of a block to their observations, the first of which is `at`; return the last.

    The columns of one observation may lie in several blocks.
    """
    last = at
    for d in range(n_live):
        last = at
        for i in range(n):
            while start + i >= rows.starts[last + 1]:
                last += 1
            work.summed[d, last] += work.out[d, i]
    return last


@strict
def _sum_columns(plan, rows, n_observations, n_lines, n_live, work):
    """Sum the dynamic columns over the rows of each of the first observations, weighted."""
    for d in range(n_live):
        fill(work.summed[d, :n_observations], 0.0)
    n_rows = rows.starts[n_observations]
    at = np.int64(0)
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        run_block(
            plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns, plan.extra,
            start, n, n_lines, rows.floors, work.registers, work.tangents, work.scratch,
        )  # fmt: skip
        _copy_block(plan, rows, start, n, n_live, work)
        at = _add_block(rows, start, n, n_live, at, work)
    if rows.root_weight.size > 0:
        for d in range(n_live):
            for o in range(n_observations):
                work.summed[d, o] *= rows.root_weight[o]


@strict
def _add_products(plan, out, start, n, n_live, work):
    """Add to the Gram matrix the products of columns that lie side by side from row `start`."""
    n_dynamic = plan.value_register.size + plan.pair_value.size
    for d in range(n_live):
        column = out[d, :n]
        for e in range(d + 1):
            work.H[d, e] += _dot(column, out[e, :n])
        for s in range(plan.static.shape[0]):
            work.H[d, n_dynamic + s] += _dot(column, plan.static[s, start : start + n])


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
def gram(plan, rows, theta, n_rows, n_lines, work):
    """Fill the Gram matrix of all columns over the first rows, at these nonlinear parameters.

    Derivatives are among the columns where `n_lines` is not zero. `n_rows` counts observations
    where rows are summed.
    """
    H = work.H
    n_values = plan.value_register.size
    n_dynamic = n_values + plan.pair_value.size
    n_live = n_dynamic if n_lines > 0 else n_values
    n_static = plan.static.shape[0]
    _set_lines(plan, theta, work)
    for d in range(n_live):
        for e in range(plan.n_columns):
            H[d, e] = 0.0
    if rows.n_groups > 0:
        fill_table(work.sums, 0.0)
    none = np.int64(0)  # a typed zero: a literal one would compile every callee a second time
    if rows.starts.size > 0:
        _sum_columns(plan, rows, n_rows, n_lines, n_live, work)
        _add_products(plan, work.summed, none, n_rows, n_live, work)
        if rows.n_groups > 0:
            _sum_groups(plan, rows, work.summed, none, n_rows, n_live, work)
    for start in range(0, n_rows if rows.starts.size == 0 else 0, BLOCK):
        n = min(BLOCK, n_rows - start)
        run_block(
            plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns, plan.extra,
            start, n, n_lines, rows.floors, work.registers, work.tangents, work.scratch,
        )  # fmt: skip
        _copy_block(plan, rows, start, n, n_live, work)
        _add_products(plan, work.out, start, n, n_live, work)
        if rows.n_groups > 0:
            _sum_groups(plan, rows, work.out, start, n, n_live, work)
    for d in range(n_live):
        for e in range(d):
            H[e, d] = H[d, e]
        for s in range(n_static):
            H[n_dynamic + s, d] = H[d, n_dynamic + s]
    if rows.n_groups > 0:
        static_gram(plan, n_rows, H)
        _remove_group_offsets(plan.n_columns, rows.n_groups, work)


@strict
def _sum_groups(plan, rows, out, start, n, n_live, work):
    """Add a block to the weighted sums of each group; the last column holds the weights."""
    n_dynamic = plan.value_register.size + plan.pair_value.size
    weighted = rows.root_weight.size > 0
    for i in range(n):
        w = rows.root_weight[start + i] if weighted else 1.0
        for g in (rows.group[start + i], rows.n_groups):
            work.sums[g, plan.n_columns] += w * w
            for d in range(n_live):
                work.sums[g, d] += w * out[d, i]
            for s in range(plan.static.shape[0]):
                work.sums[g, n_dynamic + s] += w * plan.static[s, start + i]


@strict
def _remove_group_offsets(n_columns, n_groups, work):
    r"""Project out one offset per group, offsets that sum to zero over the rows.

    The projection of a column onto such offsets is its group mean minus its grand mean, so
    $H \leftarrow H - \sum_g S_g S_g^T / W_g + S S^T / W$ with $S_g$ the weighted sums in group g.
    """
    sums = work.sums
    for d in range(n_columns):
        for e in range(n_columns):
            s = sums[n_groups, d] * sums[n_groups, e] / sums[n_groups, n_columns]
            for g in range(n_groups):
                if sums[g, n_columns] > 0.0:
                    s -= sums[g, d] * sums[g, e] / sums[g, n_columns]
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


@strict
def _beside(theta, known):
    for k in range(theta.size):
        if abs(theta[k] - known[k]) > SAME_BASIN * abs(known[k]):
            return False
    return True


@strict
def descend(plan, rows, theta, lower, upper, n_rows, effort, linear, work, known, best):
    """Levenberg-Marquardt on the first rows, in place; return (sum of squares, code, passes).

    `known` is where the best start so far ended, with sum of squares `best`: a descent that has
    slowed down beside it is going there too, and ends. Leaves the coefficients of the point it
    returns in `linear`.
    """
    q = theta.size
    trial = theta.copy()
    EH = np.empty((q, plan.n_columns))
    JJ = np.empty((q, q))
    A = np.empty((q, q))
    g = np.empty(q)
    step = np.zeros(q)
    c = np.empty(linear.c.size)
    y = plan.n_columns - 1
    damping = 1e-2
    current = np.inf
    fails = 0
    code = EXHAUSTED
    passes = 0
    for iteration in range(effort.iterations if q > 0 else 1):
        gram(plan, rows, trial, n_rows, q, work)
        passes += 1
        sse = project(plan, work.H, linear)
        if sse < current:
            gain = (current - sse) / max(sse, 1e-300)
            current = sse
            fails = 0
            copy(trial, theta)
            copy(linear.c, c)
            if best < np.inf and current < best * SIMILAR and _beside(theta, known):
                code = CONVERGED
                break
            if current <= EXACT * work.H[y, y] or (iteration > 0 and gain < effort.tolerance):
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
            if fails > PATIENCE:
                promised = 0.0
                if damped_step(JJ, g, 1e-8, theta, lower, upper, step, A):
                    for k in range(q):
                        promised += g[k] * step[k]
                arrived = promised <= FLAT * current or current < NEARLY_EXACT * work.H[y, y]
                code = CONVERGED if arrived else STALLED
                break
        while not damped_step(JJ, g, damping, theta, lower, upper, step, A):
            damping = damping * 8.0 + 1e-8
            if not damping < 1e12:
                copy(c, linear.c)
                return current, STALLED, passes
        moved = 0.0
        for k in range(q):
            trial[k] = min(max(theta[k] + step[k], lower[k]), upper[k])
            moved = max(moved, abs(trial[k] - theta[k]) / (abs(theta[k]) + 1e-300))
        if moved < 1e-15:
            code = CONVERGED
            break
    if current < np.inf:
        copy(c, linear.c)
    return current, code, passes


@strict
def probe(plan, rows, theta, lower, upper, n_rows, trials, linear, work, current):
    """Compass search from theta, in place; return the sum of squares it reached.

    Each parameter in turn is moved both ways; when nothing helps, all steps halve. It sees what a
    derivative does not: a threshold inside a step, a kink, a clipped argument.
    """
    none = np.int64(0)  # a typed zero: a literal one would compile every callee a second time
    q = theta.size
    step = np.empty(q)
    trial = theta.copy()
    for k in range(q):
        width = upper[k] - lower[k]
        reach = 0.5 * abs(theta[k]) + 1e-3
        step[k] = min(0.25 * width, reach) if width < np.inf else reach
    left = trials
    for _ in range(WIDEST_TO_FINEST):
        improved = False
        for k in range(q):
            for sign in (-1.0, 1.0):
                trial[k] = min(max(theta[k] + sign * step[k], lower[k]), upper[k])
                gram(plan, rows, trial, n_rows, none, work)
                sse = project(plan, work.H, linear)
                left -= 1
                if sse < current:
                    current = sse
                    theta[k] = trial[k]
                    improved = True
                trial[k] = theta[k]
        if not improved:
            for k in range(q):
                step[k] *= 0.5
        if left < 2 * q:
            break
    return current


@strict
def _explicit_pass(plan, rows, theta, c, n_lines, work, A, g):
    """Return the explicit sum of squares; fill J'J and J'r, linear parameters first, if asked."""
    n_linear = c.size
    n_values = plan.value_register.size
    n_dynamic = n_values + plan.pair_value.size
    n_live = n_dynamic if n_lines > 0 else n_values
    n_static = plan.static.shape[0]
    n_rows = rows.target.size
    summed = rows.starts.size > 0
    out = work.summed if summed else work.out
    p = n_linear + theta.size
    residual = np.empty(BLOCK)
    J = np.empty((p, BLOCK))
    _set_lines(plan, theta, work)
    sse = 0.0
    if n_lines > 0 or theta.size == 0:
        fill_table(A, 0.0)
        fill(g, 0.0)
    if summed:
        _sum_columns(plan, rows, n_rows, n_lines, n_live, work)
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        first = start if summed else 0
        if not summed:
            run_block(
                plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns,
                plan.extra, start, n, n_lines, rows.floors, work.registers, work.tangents,
                work.scratch,
            )  # fmt: skip
            _copy_block(plan, rows, start, n, n_live, work)
        fill(residual[:n], 0.0)
        for j in range(n_linear + 1):
            column = plan.offset_column if j == n_linear else plan.linear_column[j]
            if column < 0:
                continue
            a = 1.0 if j == n_linear else c[j]
            if column < n_values:
                source = out[column, first : first + n]
            else:
                source = plan.static[column - n_dynamic, start : start + n]
            for i in range(n):
                residual[i] += a * source[i]
            if j < n_linear:
                copy(source, J[j, :n])
        observed = plan.static[n_static - 1, start : start + n]
        for i in range(n):  # the model first: its large parts cancel among themselves
            residual[i] = observed[i] - residual[i]
        sse += _dot(residual[:n], residual[:n])
        if n_lines == 0 and theta.size > 0:
            continue
        fill_table(J[n_linear:], 0.0)
        for pair in range(plan.pair_value.size):
            owner = plan.value_source[plan.pair_value[pair]]
            a = 1.0 if owner == OFFSET else c[owner]
            row = J[n_linear + plan.pair_line[pair]]
            tangent = out[n_values + pair, first : first + n]
            for i in range(n):
                row[i] += a * tangent[i]
        for a_ in range(p):
            g[a_] += _dot(J[a_, :n], residual[:n])
            for b_ in range(a_ + 1):
                A[a_, b_] += _dot(J[a_, :n], J[b_, :n])
    for a_ in range(p):
        for b_ in range(a_):
            A[b_, a_] = A[a_, b_]
    return sse


@strict
def refine(plan, rows, theta, lower, upper, linear, work):
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
    none = np.int64(0)  # a typed zero: a literal one would compile every callee a second time
    current = _explicit_pass(plan, rows, theta, linear.c, q, work, A, g)
    for _ in range(REFINEMENTS):
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
            sse = _explicit_pass(plan, rows, t, c, none, work, A, g)
            if sse < current:
                improved = True
                break
            length *= 0.25
        if not improved:
            break
        gain = (current - sse) / current
        copy(c, linear.c)
        copy(t, theta)
        current = _explicit_pass(plan, rows, theta, linear.c, q, work, A, g)
        if gain < 1e-6:
            break
    return current


@strict
def pick(values, indices):
    """Return the values at these indices."""
    picked = np.empty(indices.size)
    for k in range(indices.size):
        picked[k] = values[indices[k]]
    return picked


@strict
def _order(score, order):
    """Sort indices by score, best first: insertion, since there are few."""
    for s in range(score.size):
        t = s
        while t > 0 and score[order[t - 1]] > score[s]:
            order[t] = order[t - 1]
            t -= 1
        order[t] = s


@strict
def begin_near(known, chosen, low, high, starts):
    """Make what is known of the chosen parameters the first start, where all of it is finite."""
    for k in range(chosen.size):
        if not np.isfinite(known[chosen[k]]):
            return
    for k in range(chosen.size):
        starts[0, k] = min(max(known[chosen[k]], low[k]), high[k])


@entry
def fit_batch(
    opcodes, arguments, literals, offsets, forced, lower, upper, parameter_offsets, rows, effort,
    steps, values, reports,
):  # fmt: skip
    """Fit structures one after another; bounds and values lie end to end.

    Values that come in finite are where to look first; NaN says that nothing is known. A report
    receives the sum of squares, the code, passes over the rows, whether residuals were refined,
    and the number of nonlinear parameters. Where rows are summed, `n_rows` counts observations.
    """
    n_rows = rows.target.size
    n_screen = min(n_rows, effort.screen_rows)
    none = np.int64(0)  # a typed zero: a literal one would compile every callee a second time
    for s in range(offsets.size - 1):
        code_s = opcodes[offsets[s] : offsets[s + 1]]
        arguments_s = arguments[offsets[s] : offsets[s + 1]]
        literals_s = literals[offsets[s] : offsets[s + 1]]
        lower_s = lower[parameter_offsets[s] : parameter_offsets[s + 1]]
        upper_s = upper[parameter_offsets[s] : parameter_offsets[s + 1]]
        plan = build_plan(code_s, arguments_s, literals_s, lower_s.size, forced, rows)
        work = make_work(plan, rows)
        linear = make_linear(plan, lower_s, upper_s)
        q = plan.line_parameter.size
        low, high = pick(lower_s, plan.line_parameter), pick(upper_s, plan.line_parameter)
        starts = np.empty((effort.pool, q))
        order = np.arange(effort.pool)
        if q > 0:
            spread_starts(code_s, arguments_s, literals_s, plan.line_parameter, low, high,
                          rows.sizes, steps, starts)  # fmt: skip
            begin_near(values[parameter_offsets[s] : parameter_offsets[s + 1]],
                       plan.line_parameter, low, high, starts)  # fmt: skip
        passes = 0.0
        if q > 0 and effort.pool > effort.starts:
            score = np.empty(effort.pool)
            static_gram(plan, n_screen, work.H)
            for k in range(effort.pool):
                gram(plan, rows, starts[k], n_screen, none, work)
                score[k] = project(plan, work.H, linear)
            passes += effort.pool * n_screen / n_rows
            _order(score, order)
        n_used = min(n_rows, DESCENT_ROWS) if q > 0 else n_rows
        static_gram(plan, n_used, work.H)
        y = plan.n_columns - 1
        best = np.inf
        code = UNSOLVABLE
        theta_best, c_best = starts[order[0]].copy(), np.zeros(linear.c.size)
        for j in range(linear.c.size):
            c_best[j] = min(max(0.0, linear.lower[j]), linear.upper[j])
        for d in range(min(effort.starts, effort.pool) if q > 0 else 1):
            theta = starts[order[d]].copy()
            for _ in range(2):
                sse, how, n = descend(
                    plan, rows, theta, low, high, n_used, effort, linear, work, theta_best, best
                )
                passes += n * n_used / n_rows
                if sse < best:
                    best = sse
                    code = CONVERGED if q == 0 else how
                    copy(theta, theta_best)
                    copy(linear.c, c_best)
                if effort.trials == 0 or q == 0 or not sse > EXACT * work.H[y, y]:
                    break
                reached = probe(
                    plan, rows, theta, low, high, n_used, effort.trials, linear, work, sse
                )
                passes += effort.trials * n_used / n_rows
                if not reached < sse * (1.0 - SLOW):
                    break
            if best <= EXACT * work.H[y, y]:
                break
        if n_used < n_rows and best < np.inf:
            static_gram(plan, n_rows, work.H)
            best, code, n = descend(
                plan, rows, theta_best, low, high, n_rows, effort, linear, work, theta_best, np.inf
            )
            passes += n
            copy(linear.c, c_best)
        refined = 0.0
        copy(c_best, linear.c)
        if best < NEARLY_EXACT * work.H[y, y] and rows.n_groups == 0:
            best = refine(plan, rows, theta_best, low, high, linear, work)
            refined = 1.0
            code = CONVERGED
        found = values[parameter_offsets[s] : parameter_offsets[s + 1]]
        for j in range(linear.c.size):
            found[plan.linear_parameter[j]] = linear.c[j]
        for k in range(q):
            found[plan.line_parameter[k]] = theta_best[k]
        reports[s, 0], reports[s, 1], reports[s, 2] = best, code, passes
        reports[s, 3], reports[s, 4] = refined, q


@entry
def evaluate_structure(opcodes, arguments, literals, parameters, rows, values, jacobian):
    """Write values (n) and, unless it is empty, the Jacobian (parameters, n) by all parameters."""
    n_parameters = parameters.size
    forced = np.int64(-1)
    plan = build_plan(opcodes, arguments, literals, n_parameters, forced, rows)
    work = make_work(plan, rows)
    _set_lines(plan, pick(parameters, plan.line_parameter), work)
    n_lines = plan.line_parameter.size if jacobian.size > 0 else 0
    fill_table(jacobian, 0.0)
    n_values = plan.value_register.size
    n_rows = rows.columns.shape[1]
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        if n_values == 0:
            copy(plan.static[0, start : start + n], values[start : start + n])
            continue
        run_block(
            plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns, plan.extra,
            start, n, n_lines, rows.floors, work.registers, work.tangents, work.scratch,
        )  # fmt: skip
        register = plan.value_register[0]
        copy(work.registers[register, :n], values[start : start + n])
        for k in range(n_lines):
            if plan.value_mask[0] >> k & 1:
                line = plan.line_parameter[k]
                copy(work.tangents[register, k, :n], jacobian[line, start : start + n])
