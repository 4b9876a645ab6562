# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915 (numba)
"""Passes over the rows: the Gram matrix of all columns, or explicit residuals, block by block.

Memory does not grow with rows times parameters. Where a target is the sum of the law over several
rows, columns are summed over the rows of each observation before the products; where rows come in
groups, what group offsets explain is taken off.
"""

from typing import NamedTuple

import numpy as np

from alder.kernel.compiled import fast, reordered, strict
from alder.kernel.fill import copy, fill, fill_table
from alder.kernel.interpret import BLOCK, run_block
from alder.kernel.plan import OFFSET


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
def set_lines(plan, theta, work):
    """Write the parameters into the lines that hold them."""
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
    set_lines(plan, theta, work)
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


@strict
def explicit_pass(plan, rows, theta, c, n_lines, work, A, g):
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
    set_lines(plan, theta, work)
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
