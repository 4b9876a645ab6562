# pyright: basic, reportArgumentType=false
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915 (numba)
"""One structure over one set of rows, ready to be evaluated again and again.

Columns of the least-squares problem are numbered: terms and offset that depend on nonlinear
parameters, then their derivatives, then terms and offset that do not (evaluated once), then the
target.
"""

from typing import NamedTuple

import numpy as np

from alder.kernel.compiled import fast, strict
from alder.kernel.fill import copy, fill
from alder.kernel.interpret import BLOCK, run_block
from alder.kernel.lower import (
    NONE,
    allot_registers,
    assign_terms,
    find_linear,
    parse_postfix,
)
from alder.kernel.opcodes import CST, PAR, VAR

OFFSET = -2
"""Source of a column that belongs to the offset, whose coefficient is one."""


class Rows(NamedTuple):
    """What is fitted to: columns (variables, n), target (n), square roots of weights (n or 0).

    `group` is one number per row, of size 0 without groups; `sizes` the magnitude of each column
    and, last, of the target. Where a target is the sum of the law over several rows, `starts`
    holds the first row of each such observation and, last, the number of rows; target, weights
    and groups then have one entry per observation. It is of size 0 otherwise.
    """

    columns: np.ndarray
    target: np.ndarray
    root_weight: np.ndarray
    group: np.ndarray
    n_groups: int
    sizes: np.ndarray
    floors: np.ndarray
    starts: np.ndarray


class Plan(NamedTuple):
    """A lowered structure. Lines are its nonlinear parameters, in order of their index."""

    line_parameter: np.ndarray
    linear_parameter: np.ndarray
    program: np.ndarray
    n_instructions: int
    literals: np.ndarray
    masks: np.ndarray
    extra: np.ndarray
    line_register: np.ndarray
    literal_register: np.ndarray
    literal_value: np.ndarray
    n_registers: int
    value_register: np.ndarray
    value_source: np.ndarray
    value_mask: np.ndarray
    pair_value: np.ndarray
    pair_line: np.ndarray
    static: np.ndarray
    linear_column: np.ndarray
    offset_column: int
    n_columns: int


@strict
def _frontier(ssa, smask, count, term, offset, is_front):
    """Mark parameter-free assignments that something with a parameter, or a term, reads."""
    n = 0
    for i in range(count):
        is_front[i] = False
    for i in range(count):
        op = ssa[i, 0]
        if smask[i] == 0 or op == VAR or op == PAR or op == CST:
            continue
        for slot in range(1, 4):
            j = ssa[i, slot]
            if j >= 0 and smask[j] == 0:
                is_front[j] = True
    for p in range(term.size):
        if term[p] >= 0 and smask[term[p]] == 0:
            is_front[term[p]] = True
    if offset >= 0 and smask[offset] == 0:
        is_front[offset] = True
    for i in range(count):
        if is_front[i]:
            op = ssa[i, 0]
            if op == VAR or op == CST:
                is_front[i] = False
            else:
                n += 1
    return n


@strict
def _fill_literals(ssa, imm, count, register, registers):
    for i in range(count):
        if ssa[i, 0] == CST and register[i] >= 0:
            fill(registers[register[i]], imm[i])


@fast
def _evaluate_free(ssa, imm, smask, count, is_front, n_front, column, rows):
    """Evaluate what depends on no parameter on all rows; return the columns kept."""
    n_rows = rows.columns.shape[1]
    extra = np.empty((n_front, n_rows))
    want = np.zeros(count, np.bool_)
    outputs = np.empty(n_front, np.int64)
    k = 0
    for i in range(count):
        op = ssa[i, 0]
        want[i] = smask[i] == 0 and op != VAR and op != CST
        if is_front[i]:
            outputs[k] = i
            k += 1
    program = np.empty((count, 9), np.int64)
    places = np.empty(n_front, np.int64)
    n, n_registers, register = allot_registers(
        ssa, imm, smask, count, want, outputs, column, program, places
    )
    registers = np.empty((max(n_registers, 1), BLOCK))
    tangents = np.empty((1, 1, 1))
    scratch = np.empty((2, BLOCK))
    none = np.int64(0)  # a typed zero: a literal one would compile every callee a second time
    _fill_literals(ssa, imm, count, register, registers)
    for start in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - start)
        run_block(
            program, n, imm, smask, rows.columns, extra, start, size, none, rows.floors, registers,
            tangents, scratch,
        )  # fmt: skip
        for k in range(n_front):
            copy(registers[places[k], :size], extra[k, start : start + size])
    for k in range(n_front):
        column[outputs[k]] = rows.columns.shape[0] + k
    return extra


@strict
def _weigh(target, root_weight):
    if root_weight.size > 0:
        for r in range(target.size):
            target[r] *= root_weight[r]


@strict
def _static_column(i, ssa, imm, column, rows, extra, target):
    """Copy a parameter-free term into place, summed over each observation and weighted."""
    summed = rows.starts.size > 0
    whole = np.empty(rows.columns.shape[1]) if summed else target
    if ssa[i, 0] == CST:
        fill(whole, imm[i])
    elif column[i] < rows.columns.shape[0]:
        copy(rows.columns[column[i]], whole)
    else:
        copy(extra[column[i] - rows.columns.shape[0]], whole)
    if summed:
        for o in range(target.size):
            s = 0.0
            for r in range(rows.starts[o], rows.starts[o + 1]):
                s += whole[r]
            target[o] = s
    _weigh(target, rows.root_weight)


@strict
def build_plan(opcodes, arguments, literals, n_parameters, forced, rows):
    """Lower one structure for these rows; parameters in `forced` are never treated as linear."""
    n = opcodes.size
    child = np.empty((n, 3), np.int64)
    span = np.empty(n, np.int64)
    mask = np.empty(n, np.int64)
    linear = np.empty(n, np.int64)
    side = np.empty(n, np.int64)
    term = np.empty(n_parameters, np.int64)
    root = parse_postfix(opcodes, arguments, child, span, mask)
    linear_mask = find_linear(opcodes, child, mask, forced, linear, side)
    room = 3 * n + 8
    ssa = np.empty((room, 4), np.int64)
    imm = np.empty(room)
    smask = np.empty(room, np.int64)
    count, offset = assign_terms(
        opcodes, arguments, literals, child, span, linear, side, ssa, imm, smask, term
    )
    # Lines: the parameters that are not linear, in order.
    line_of = np.full(n_parameters, NONE, np.int64)
    line_parameter = np.empty(n_parameters, np.int64)
    linear_parameter = np.empty(n_parameters, np.int64)
    n_lines = 0
    n_linear = 0
    for p in range(n_parameters):
        if linear_mask >> p & 1:
            linear_parameter[n_linear] = p
            n_linear += 1
        elif mask[root] >> p & 1:
            line_of[p] = n_lines
            line_parameter[n_lines] = p
            n_lines += 1
    masks = np.zeros(count, np.int64)
    column = np.full(count, NONE, np.int64)
    for i in range(count):
        if ssa[i, 0] == VAR:
            column[i] = ssa[i, 1]
        for p in range(n_parameters):
            if smask[i] >> p & 1:
                masks[i] |= np.int64(1) << line_of[p]
    is_front = np.empty(count, np.bool_)
    n_front = _frontier(ssa, smask, count, term, offset, is_front)
    extra = _evaluate_free(ssa, imm, smask, count, is_front, n_front, column, rows)

    # Terms and offset: first those with nonlinear parameters, then the static ones, then target.
    n_values = 0
    n_static = 0
    n_pairs = 0
    outputs = np.empty(n_linear + 1, np.int64)
    value_source = np.empty(n_linear + 1, np.int64)
    static_source = np.empty(n_linear + 1, np.int64)
    static_place = np.empty(n_linear + 1, np.int64)
    for j in range(n_linear + 1):
        i = offset if j == n_linear else term[linear_parameter[j]]
        if i < 0:
            continue
        source = OFFSET if j == n_linear else j
        if smask[i] == 0:
            static_place[n_static], static_source[n_static] = i, source
            n_static += 1
        else:
            outputs[n_values], value_source[n_values] = i, source
            n_values += 1
            for k in range(n_lines):
                n_pairs += masks[i] >> k & 1
    want = np.zeros(count, np.bool_)
    for i in range(count):
        want[i] = smask[i] != 0
    program = np.empty((count, 9), np.int64)
    value_register = np.empty(n_values, np.int64)
    n_instructions, n_registers, register = allot_registers(
        ssa, imm, smask, count, want, outputs[:n_values], column, program, value_register
    )
    line_register = np.full(n_lines, NONE, np.int64)
    literal_register = np.empty(count, np.int64)
    literal_value = np.empty(count)
    n_literals = 0
    for i in range(count):
        if ssa[i, 0] == PAR:
            line_register[line_of[ssa[i, 1]]] = register[i]
        elif ssa[i, 0] == CST and register[i] >= 0:
            literal_register[n_literals], literal_value[n_literals] = register[i], imm[i]
            n_literals += 1
    value_mask = np.empty(n_values, np.int64)
    pair_value = np.empty(n_pairs, np.int64)
    pair_line = np.empty(n_pairs, np.int64)
    p = 0
    for v in range(n_values):
        value_mask[v] = masks[outputs[v]]
        for k in range(n_lines):
            if value_mask[v] >> k & 1:
                pair_value[p], pair_line[p] = v, k
                p += 1
    n_dynamic = n_values + n_pairs
    static = np.empty((n_static + 1, rows.target.size))
    linear_column = np.full(n_linear, NONE, np.int64)
    offset_column = NONE
    for v in range(n_values):
        if value_source[v] == OFFSET:
            offset_column = v
        else:
            linear_column[value_source[v]] = v
    for s in range(n_static):
        _static_column(static_place[s], ssa, imm, column, rows, extra, static[s])
        if static_source[s] == OFFSET:
            offset_column = n_dynamic + s
        else:
            linear_column[static_source[s]] = n_dynamic + s
    copy(rows.target, static[n_static])
    _weigh(static[n_static], rows.root_weight)
    return Plan(
        line_parameter[:n_lines],
        linear_parameter[:n_linear],
        program,
        n_instructions,
        imm,
        masks,
        extra,
        line_register,
        literal_register[:n_literals],
        literal_value[:n_literals],
        n_registers,
        value_register,
        value_source[:n_values],
        value_mask,
        pair_value,
        pair_line,
        static,
        linear_column,
        offset_column,
        n_dynamic + n_static + 1,
    )
