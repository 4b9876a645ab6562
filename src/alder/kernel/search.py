# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915, SIM110 (numba)
r"""Fit one structure after another: screen starts, then Levenberg-Marquardt on what is left.

For given nonlinear parameters $\theta$ the linear coefficients $c$ follow from least squares
(variable projection). One pass over the rows gives the Gram matrix $H$ of all columns (terms,
their derivatives, target); everything else happens in that small matrix:

$$E_k = \sum_j c_j \frac{\partial\varphi_j}{\partial\theta_k},\qquad
  (J^TJ)_{kl} = E_k^TE_l - E_k^T\Phi(\Phi^T\Phi)^{-1}\Phi^TE_l,\qquad g_k = E_k^T\rho .$$

(Golub and Pereyra 1973; the Jacobian is Kaufman's.) $\rho$ is the residual. The pass is in
`alder.kernel.passes`, the small matrices are in `alder.kernel.projection`.

A Gram matrix knows a sum of squares only to about 1e-15 of the target's own. Where the fit is
nearly exact, `refine` goes on with explicit residuals, down to rounding.
"""

import numpy as np

from alder.kernel.compiled import entry, strict
from alder.kernel.fill import copy, fill_table
from alder.kernel.interpret import BLOCK, run_block
from alder.kernel.passes import explicit_pass, gram, make_work, set_lines, static_gram
from alder.kernel.plan import build_plan
from alder.kernel.projection import damped_step, make_linear, normal_equations, project
from alder.kernel.solve import backward, factor, forward
from alder.kernel.starts import spread_starts

CONVERGED, STALLED, EXHAUSTED, UNSOLVABLE = 0, 1, 2, 3
NEARLY_EXACT = 1e-9
"""Below this share of the target's own sum of squares the Gram matrix has no digits left."""
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
def probe(plan, rows, theta, lower, upper, sizes, n_rows, trials, linear, work, current):
    """Compass search from theta, in place; return the sum of squares it reached.

    Each parameter in turn is moved both ways; when nothing helps, all steps halve. It sees what a
    derivative does not: a threshold inside a step, a kink, a clipped argument. `sizes` are natural
    sizes, which let a parameter leave zero.
    """
    none = np.int64(0)  # a typed zero: a literal one would compile every callee a second time
    q = theta.size
    step = np.empty(q)
    trial = theta.copy()
    for k in range(q):
        width = upper[k] - lower[k]
        reach = 0.5 * abs(theta[k]) + 1e-3 * sizes[k]
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
    current = explicit_pass(plan, rows, theta, linear.c, q, work, A, g)
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
            sse = explicit_pass(plan, rows, t, c, none, work, A, g)
            if sse < current:
                improved = True
                break
            length *= 0.25
        if not improved:
            break
        gain = (current - sse) / current
        copy(c, linear.c)
        copy(t, theta)
        current = explicit_pass(plan, rows, theta, linear.c, q, work, A, g)
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
        starts, sizes = np.empty((effort.pool, q)), np.ones(q)
        order = np.arange(effort.pool)
        if q > 0:
            spread_starts(code_s, arguments_s, literals_s, lower_s.size, plan.line_parameter, low,
                          high, rows, steps, starts, sizes)  # fmt: skip
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
                    plan, rows, theta, low, high, sizes, n_used, effort.trials, linear, work, sse
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
def evaluate_points(opcodes, arguments, literals, offsets, begins, points, rows, values, slopes):
    """Evaluate structures at points of their parameters, those of structure s from `begins[s]` on.

    Points are (n, parameters); write values (n, rows) and, unless they are empty, the derivatives
    (n, parameters, rows) by all parameters.
    """
    n_parameters = points.shape[1]
    forced = np.int64(-1)
    n_rows = rows.columns.shape[1]
    for s in range(begins.size - 1):
        if begins[s] == begins[s + 1]:
            continue
        code = slice(offsets[s], offsets[s + 1])
        plan = build_plan(
            opcodes[code], arguments[code], literals[code], n_parameters, forced, rows
        )
        work = make_work(plan, rows)
        n_lines = plan.line_parameter.size if slopes.size > 0 else 0
        n_values = plan.value_register.size
        for i in range(begins[s], begins[s + 1]):
            set_lines(plan, pick(points[i], plan.line_parameter), work)
            if slopes.size > 0:
                fill_table(slopes[i], 0.0)
            for start in range(0, n_rows, BLOCK):
                n = min(BLOCK, n_rows - start)
                if n_values == 0:
                    copy(plan.static[0, start : start + n], values[i, start : start + n])
                    continue
                run_block(
                    plan.program, plan.n_instructions, plan.literals, plan.masks, rows.columns,
                    plan.extra, start, n, n_lines, rows.floors, work.registers, work.tangents,
                    work.scratch,
                )  # fmt: skip
                register = plan.value_register[0]
                copy(work.registers[register, :n], values[i, start : start + n])
                for k in range(n_lines):
                    if plan.value_mask[0] >> k & 1:
                        line = plan.line_parameter[k]
                        copy(work.tangents[register, k, :n], slopes[i, line, start : start + n])
