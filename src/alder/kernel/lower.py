# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915 (numba: long functions, many arrays, no objects)
r"""Bytecode to a register program, in compiled code, for every fit anew.

Three steps. First the tree is split where coefficients enter linearly,

$$f = \varphi_0(x; \theta) + \sum_j c_j \, \varphi_j(x; \theta),$$

by pushing factors, quotients and branches down to the coefficients. Then the terms are written as
single assignments with equal subexpressions merged. Last, what depends on no parameter is set
apart, to be evaluated once, and registers are allotted so that a block of rows stays in the cache.
"""

import numpy as np

from alder.kernel.compiled import strict
from alder.kernel.opcodes import (
    ADD,
    ARITIES,
    CST,
    DIV,
    MUL,
    NEG,
    PAR,
    POW,
    SUB,
    VAR,
    WHERE,
)

_ARITY = np.array(ARITIES, dtype=np.int64)
NONE = -1


@strict
def parse_postfix(opcodes, arguments, child, span, mask):
    """Fill children (n, 3), subtree sizes and parameter masks; return the root."""
    stack = np.empty(opcodes.size, np.int64)
    top = 0
    for i in range(opcodes.size):
        arity = _ARITY[opcodes[i]]
        span[i] = 1
        mask[i] = np.int64(1) << arguments[i] if opcodes[i] == PAR else np.int64(0)
        for slot in range(3):
            child[i, slot] = NONE
        for slot in range(arity - 1, -1, -1):
            top -= 1
            j = stack[top]
            child[i, slot] = j
            span[i] += span[j]
            mask[i] |= mask[j]
        stack[top] = i
        top += 1
    return opcodes.size - 1


@strict
def _count_bits(mask):
    n = 0
    while mask != 0:
        mask &= mask - 1
        n += 1
    return n


@strict
def find_linear(opcodes, child, mask, forced, linear, side):
    """Return the mask of parameters in which the tree is jointly affine.

    `linear[i]` is that mask for each subtree. A product is affine in the parameters of one factor
    only: `side[i]` says which. A parameter that also stands elsewhere is not linear at all.
    """
    n = opcodes.size
    inside = np.empty(n, np.int64)
    while True:
        for i in range(n):
            op = opcodes[i]
            a, b, c = child[i, 0], child[i, 1], child[i, 2]
            side[i] = 0
            if op == PAR:
                linear[i] = mask[i] & ~forced
                inside[i] = mask[i] & forced
            elif op == ADD or op == SUB:
                linear[i] = linear[a] | linear[b]
                inside[i] = inside[a] | inside[b]
            elif op == NEG:
                linear[i] = linear[a]
                inside[i] = inside[a]
            elif op == MUL:
                if _count_bits(linear[b]) > _count_bits(linear[a]):
                    side[i] = 1
                    linear[i] = linear[b]
                    inside[i] = inside[b] | mask[a]
                else:
                    linear[i] = linear[a]
                    inside[i] = inside[a] | mask[b]
            elif op == DIV:
                linear[i] = linear[a]
                inside[i] = inside[a] | mask[b]
            elif op == WHERE:
                linear[i] = linear[b] | linear[c]
                inside[i] = inside[b] | inside[c] | mask[a]
            else:
                linear[i] = 0
                inside[i] = mask[i]
        clash = linear[n - 1] & inside[n - 1]
        if clash == 0:
            return linear[n - 1]
        forced |= clash


@strict
def _assign(ssa, imm, smask, count, op, a, b, c, literal, own_mask):
    """Return the index of this assignment, an old one where there is an equal one."""
    if (op == ADD or op == MUL) and b < a:
        a, b = b, a
    for i in range(count):
        if ssa[i, 0] == op and ssa[i, 1] == a and ssa[i, 2] == b and ssa[i, 3] == c:
            if imm[i] == literal:
                return i
    ssa[count, 0], ssa[count, 1], ssa[count, 2], ssa[count, 3] = op, a, b, c
    imm[count] = literal
    m = own_mask
    if op != VAR and op != PAR and op != CST:
        if a >= 0:
            m |= smask[a]
        if b >= 0:
            m |= smask[b]
        if c >= 0:
            m |= smask[c]
    smask[count] = m
    return count


@strict
def assign_terms(opcodes, arguments, literals, child, span, linear, side, ssa, imm, smask, term):
    """Write single assignments; `term[p]` is the basis of linear parameter p.

    Returns (number of assignments, assignment of the offset or NONE). `ssa` has the columns
    operation, first, second and third operand.
    """
    n = opcodes.size
    n_parameters = term.size
    place = np.full(n, NONE, np.int64)
    whole = np.zeros(n, np.bool_)
    todo = np.empty((n + 2, 3), np.int64)
    count = 0
    offset = NONE
    for p in range(n_parameters):
        term[p] = NONE
    # Round 0 finds which subtrees are evaluated whole, round 1 multiplies contexts into terms.
    for round_ in range(2):
        if round_ == 1:
            for i in range(n):
                if not whole[i]:
                    continue
                op = opcodes[i]
                before = count
                if op == VAR or op == PAR:
                    own = np.int64(1) << arguments[i] if op == PAR else np.int64(0)
                    place[i] = _assign(
                        ssa, imm, smask, count, op, arguments[i], NONE, NONE, 0.0, own
                    )
                elif op == CST:
                    place[i] = _assign(ssa, imm, smask, count, op, NONE, NONE, NONE, literals[i], 0)
                elif op == POW:
                    exponent = literals[child[i, 1]]
                    base = place[child[i, 0]]
                    place[i] = _assign(ssa, imm, smask, count, op, base, NONE, NONE, exponent, 0)
                else:
                    a = place[child[i, 0]]
                    b = place[child[i, 1]] if child[i, 1] >= 0 else NONE
                    c = place[child[i, 2]] if child[i, 2] >= 0 else NONE
                    place[i] = _assign(ssa, imm, smask, count, op, a, b, c, 0.0, 0)
                if place[i] == before:
                    count += 1
        top = 1
        todo[0, 0], todo[0, 1], todo[0, 2] = n - 1, NONE, 1
        while top > 0:
            top -= 1
            i, context, sign = todo[top, 0], todo[top, 1], todo[top, 2]
            op = opcodes[i]
            a, b, c = child[i, 0], child[i, 1], child[i, 2]
            if linear[i] == 0 or op == PAR:
                if round_ == 0:
                    if linear[i] == 0:
                        for j in range(i - span[i] + 1, i + 1):
                            whole[j] = True
                    continue
                if linear[i] == 0:
                    value = place[i]
                    if context >= 0:
                        value = _assign(
                            ssa, imm, smask, count, MUL, context, place[i], NONE, 0.0, 0
                        )
                        count = max(count, value + 1)
                elif context >= 0:
                    value = context
                else:
                    value = _assign(ssa, imm, smask, count, CST, NONE, NONE, NONE, 1.0, 0)
                    count = max(count, value + 1)
                old = offset if linear[i] == 0 else term[arguments[i]]
                if old >= 0:
                    joined = ADD if sign > 0 else SUB
                    value = _assign(ssa, imm, smask, count, joined, old, value, NONE, 0.0, 0)
                elif sign < 0:
                    value = _assign(ssa, imm, smask, count, NEG, value, NONE, NONE, 0.0, 0)
                count = max(count, value + 1)
                if linear[i] == 0:
                    offset = value
                else:
                    term[arguments[i]] = value
            elif op == ADD or op == SUB:
                todo[top, 0], todo[top, 1] = b, context
                todo[top, 2] = -sign if op == SUB else sign
                todo[top + 1, 0], todo[top + 1, 1], todo[top + 1, 2] = a, context, sign
                top += 2
            elif op == NEG:
                todo[top, 0], todo[top, 1], todo[top, 2] = a, context, -sign
                top += 1
            elif op == MUL or op == DIV:
                inner = b if op == MUL and side[i] == 1 else a
                outer = a if inner == b else b
                if round_ == 0:
                    for j in range(outer - span[outer] + 1, outer + 1):
                        whole[j] = True
                elif op == MUL:
                    factor = place[outer]
                    if context >= 0:
                        factor = _assign(
                            ssa, imm, smask, count, MUL, context, place[outer], NONE, 0.0, 0
                        )
                        count = max(count, factor + 1)
                    context = factor
                else:
                    numerator = context
                    if numerator < 0:
                        numerator = _assign(ssa, imm, smask, count, CST, NONE, NONE, NONE, 1.0, 0)
                        count = max(count, numerator + 1)
                    context = _assign(
                        ssa, imm, smask, count, DIV, numerator, place[outer], NONE, 0.0, 0
                    )
                    count = max(count, context + 1)
                todo[top, 0], todo[top, 1], todo[top, 2] = inner, context, sign
                top += 1
            else:  # WHERE: each branch keeps the context on its own side
                if round_ == 0:
                    for j in range(a - span[a] + 1, a + 1):
                        whole[j] = True
                    yes = no = NONE
                else:
                    one = context
                    if one < 0:
                        one = _assign(ssa, imm, smask, count, CST, NONE, NONE, NONE, 1.0, 0)
                        count = max(count, one + 1)
                    zero = _assign(ssa, imm, smask, count, CST, NONE, NONE, NONE, 0.0, 0)
                    count = max(count, zero + 1)
                    yes = _assign(ssa, imm, smask, count, WHERE, place[a], one, zero, 0.0, 0)
                    count = max(count, yes + 1)
                    no = _assign(ssa, imm, smask, count, WHERE, place[a], zero, one, 0.0, 0)
                    count = max(count, no + 1)
                todo[top, 0], todo[top, 1], todo[top, 2] = c, no, sign
                todo[top + 1, 0], todo[top + 1, 1], todo[top + 1, 2] = b, yes, sign
                top += 2
    return count, offset


@strict
def allot_registers(ssa, imm, smask, count, want, outputs, column, program, out_register):
    """Turn the assignments marked in `want` into instructions over few registers.

    Operands that are columns already (`column[i] >= 0`) are coded as -(column + 1). Parameters
    and literals keep a register of their own for the whole pass. An instruction is (operation,
    target, three operands, assignment, three operand assignments). Returns the number of
    instructions, the number of registers, and the register of each assignment.
    """
    last = np.full(count, NONE, np.int64)
    for i in range(count):
        if want[i]:
            for slot in range(1, 4):
                j = ssa[i, slot]
                if j >= 0 and ssa[i, 0] != VAR and ssa[i, 0] != PAR:
                    last[j] = i
    for i in outputs:
        if i >= 0:
            last[i] = count
    register = np.full(count, NONE, np.int64)
    free = np.empty(count + 1, np.int64)
    n_free = 0
    n_registers = 0
    # Leaves first: they are filled before the blocks run, so no instruction may share their place.
    for i in range(count):
        op = ssa[i, 0]
        if column[i] < 0 and (op == PAR or op == CST) and last[i] != NONE:
            register[i] = n_registers
            n_registers += 1
    n = 0
    for i in range(count):
        op = ssa[i, 0]
        if not want[i] or op == VAR or op == PAR or op == CST:
            continue
        if n_free > 0:
            n_free -= 1
            register[i] = free[n_free]
        else:
            register[i] = n_registers
            n_registers += 1
        program[n, 0], program[n, 1], program[n, 5] = op, register[i], i
        for slot in range(1, 4):  # operands as assignments too: their masks steer the tangents
            program[n, 5 + slot] = max(ssa[i, slot], 0)
        for slot in range(1, 4):
            j = ssa[i, slot]
            if j < 0:
                program[n, 1 + slot] = 0
            elif column[j] >= 0:
                program[n, 1 + slot] = -(column[j] + 1)
            else:
                program[n, 1 + slot] = register[j]
        for slot in range(1, 4):
            j = ssa[i, slot]
            if j >= 0 and last[j] == i and register[j] >= 0:
                leaf = ssa[j, 0] == PAR or ssa[j, 0] == CST
                if not leaf and column[j] < 0:
                    free[n_free] = register[j]
                    n_free += 1
                    last[j] = NONE
        if last[i] == NONE:
            free[n_free] = register[i]
            n_free += 1
        n += 1
    for k in range(outputs.size):
        i = outputs[k]
        if i < 0:
            out_register[k] = 0
        elif column[i] >= 0:
            out_register[k] = -(column[i] + 1)
        else:
            out_register[k] = register[i]
    return n, n_registers, register
