# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915 (numba: one branch per operator)
"""Run a register program over one block of rows, with forward tangents where asked.

Each register holds BLOCK rows; its tangents hold one line per nonlinear parameter it depends on.
A dependency mask says which lines are alive, so nothing is multiplied by a zero derivative.
"""

import math

import numpy as np
from numba import types

from alder.expr.operators import TINY
from alder.kernel.compiled import entry_fast, fast, opaque
from alder.kernel.fill import copy, fill
from alder.kernel.opcodes import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    ATAN,
    COS,
    DIV,
    EXP,
    GATE,
    LOG,
    MAX,
    MIN,
    MUL,
    NEG,
    POW,
    POWP,
    SIGN,
    SIN,
    SOFTSIGN,
    SQRT,
    SUB,
    TANH,
    WHERE,
)
from alder.kernel.vectormath import SIN_LIMIT, fast_exp, fast_log, fast_sin, fast_tanh

BLOCK = 256
"""Rows a register holds. Measured at 64, 128, 256 and 512: dispatch, not the first cache, is the
limit below 256, and nothing is gained above."""

_LOG_TINY = math.log(TINY)
_SMALL = 1e3  # above every logarithm and angle
_EDGE = 2.3e-16  # as in the operator table: the slope of asin one step inside its edge


@fast
def _operand(code, start, n, columns, extra, registers):
    """Return the rows of an operand: a column, or one evaluated before, where it is negative."""
    if code >= 0:
        return registers[code, :n]
    column = -code - 1
    if column < columns.shape[0]:
        return columns[column, start : start + n]
    return extra[column - columns.shape[0], start : start + n]


@fast
def _scale(slope, source, target):
    for i in range(target.size):
        target[i] = source[i] * slope[i]


@fast
def _saturate(y, limit):
    for i in range(y.size):
        y[i] = min(max(y[i], -limit), limit)


@fast
def _exp_of_power(x):
    """Return exp(x), zero where the power underflows, as the operator table says."""
    return 0.0 if x < _LOG_TINY else fast_exp(min(x, 707.0))


@fast
def _integer_power(x, n, y):
    """Write x**n for n >= 0 by repeated squaring; exact sign for negative x."""
    if n == 2:
        for i in range(y.size):
            y[i] = x[i] * x[i]
    elif n == 3:
        for i in range(y.size):
            y[i] = x[i] * x[i] * x[i]
    elif n <= 64:
        for i in range(y.size):
            result = 1.0
            base = x[i]
            m = n
            while m > 0:
                if m & 1:
                    result *= base
                base *= base
                m >>= 1
            y[i] = result
    else:
        for i in range(y.size):
            y[i] = math.pow(x[i], float(n))


@fast
def _power(x, exponent, floors, tangents, y, slope):
    """Literal power with the semantics of the operator table."""
    floor_denominator, floor_base, limit = floors[0], floors[1], floors[3]
    if exponent == math.floor(exponent) and abs(exponent) < 9.0e15:
        n = np.int64(abs(exponent))
        _integer_power(x, n, y)
        if exponent < 0.0:
            for i in range(y.size):
                power = y[i]
                floored = abs(power) < floor_denominator
                power = math.copysign(floor_denominator, power) if floored else power
                y[i] = min(max(1.0 / power, -limit), limit)
                if tangents:
                    base = x[i]
                    if abs(base) < floor_denominator:
                        base = math.copysign(floor_denominator, base)
                    slope[i] = 0.0 if floored else exponent * y[i] / base
        elif tangents:
            if n == 0:
                fill(slope, 0.0)
            elif n == 2:
                for i in range(y.size):
                    slope[i] = 2.0 * x[i]
            else:
                _integer_power(x, n - 1, slope)
                for i in range(y.size):
                    slope[i] *= exponent
        return
    half = 2.0 * exponent
    if half == math.floor(half) and abs(half) <= 9.0:
        whole = np.int64(math.floor(abs(exponent)))
        for i in range(y.size):
            base = max(x[i], floor_base)
            result = math.sqrt(base)
            for _ in range(whole):
                result *= base
            y[i] = result if exponent > 0.0 else 1.0 / result
    else:
        for i in range(y.size):
            y[i] = _exp_of_power(exponent * fast_log(max(x[i], floor_base)))
    _saturate(y, limit)
    if tangents:
        for i in range(y.size):
            slope[i] = 0.0 if x[i] < floor_base else exponent * y[i] / x[i]


@fast
def _sine(x, quarter_turns, y, slope, tangents):
    limit = 0.0
    for i in range(x.size):
        limit = max(limit, abs(x[i]))
    if limit <= SIN_LIMIT:
        for i in range(x.size):
            y[i] = fast_sin(x[i], quarter_turns)
        if tangents:
            for i in range(x.size):
                slope[i] = fast_sin(x[i], quarter_turns + 1)
    else:
        for i in range(x.size):
            y[i] = math.sin(x[i]) if quarter_turns == 0 else math.cos(x[i])
            slope[i] = math.cos(x[i]) if quarter_turns == 0 else -math.sin(x[i])


@fast
def _unary(op, x, floors, tangents, y, slope):
    """Write the value and, where asked, the slope of an operator of one argument."""
    if op == NEG:
        for i in range(y.size):
            y[i] = -x[i]
            slope[i] = -1.0
    elif op == EXP:
        clip, limit = floors[2], floors[3]
        for i in range(y.size):
            y[i] = min(fast_exp(min(max(x[i], -clip), clip)), limit)
        if tangents:
            for i in range(y.size):
                slope[i] = 0.0 if abs(x[i]) > clip else y[i]
    elif op == LOG:
        for i in range(y.size):
            y[i] = fast_log(max(x[i], floors[1]))
        if tangents:
            for i in range(y.size):
                slope[i] = 0.0 if x[i] < floors[1] else 1.0 / x[i]
    elif op == SQRT:
        for i in range(y.size):
            y[i] = math.sqrt(x[i]) if x[i] > 0.0 else 0.0
        if tangents:
            for i in range(y.size):
                slope[i] = 0.0 if x[i] < floors[1] else 0.5 / y[i]
    elif op == TANH:
        for i in range(y.size):
            y[i] = fast_tanh(x[i])
        if tangents:
            for i in range(y.size):
                slope[i] = 1.0 - y[i] * y[i]
    elif op == GATE:
        clip = floors[2]
        for i in range(y.size):
            y[i] = 1.0 / (1.0 + fast_exp(-min(max(x[i], -clip), clip)))
        if tangents:
            for i in range(y.size):
                slope[i] = y[i] * (1.0 - y[i])
    elif op == SIN:
        _sine(x, 0, y, slope, tangents)
    elif op == COS:
        _sine(x, 1, y, slope, tangents)
    elif op == SOFTSIGN:
        for i in range(y.size):
            shrink = 1.0 / (1.0 + abs(x[i]))
            y[i] = x[i] * shrink
            slope[i] = shrink * shrink
    else:
        _rare_unary(op, x, y, slope)


@fast
def _rare_unary(op, x, y, slope):
    if op == ABS:
        for i in range(y.size):
            y[i] = abs(x[i])
            slope[i] = 1.0 if x[i] > 0.0 else (-1.0 if x[i] < 0.0 else 0.0)
    elif op == SIGN:
        for i in range(y.size):
            y[i] = 1.0 if x[i] > 0.0 else (-1.0 if x[i] < 0.0 else 0.0)
            slope[i] = 0.0
    elif op == ATAN:
        for i in range(y.size):
            y[i] = math.atan(x[i])
            reach = min(abs(x[i]), 1e150)
            slope[i] = 1.0 / (1.0 + reach * reach)
    elif op == ASIN or op == ACOS:
        for i in range(y.size):
            inside = min(max(x[i], -1.0), 1.0)
            steep = 1.0 / math.sqrt(max(1.0 - inside * inside, _EDGE))
            if abs(x[i]) > 1.0:
                steep = 0.0
            y[i] = math.asin(inside) if op == ASIN else math.acos(inside)
            slope[i] = steep if op == ASIN else -steep


@fast
def _binary_slopes(op, a, b, floors, y, slope_a, slope_b):
    """Write value and both slopes of quotient, parameter power, maximum and minimum."""
    if op == DIV:
        floor, limit = floors[0], floors[3]
        for i in range(y.size):
            below = abs(b[i]) < floor
            inverse = 1.0 / (math.copysign(floor, b[i]) if below else b[i])
            value = min(max(a[i] * inverse, -limit), limit)
            y[i] = value
            slope_a[i] = inverse
            slope_b[i] = 0.0 if below else -value * inverse
    elif op == POWP:
        floor, limit = floors[1], floors[3]
        for i in range(y.size):
            logarithm = fast_log(max(a[i], floor))
            value = min(_exp_of_power(b[i] * logarithm), limit)
            y[i] = value
            slope_a[i] = 0.0 if a[i] < floor else b[i] * value / a[i]
            slope_b[i] = value * logarithm
    elif op == MAX:
        for i in range(y.size):
            first = a[i] >= b[i]
            y[i] = a[i] if first else b[i]
            slope_a[i] = 1.0 if first else 0.0
            slope_b[i] = 0.0 if first else 1.0
    elif op == MIN:
        for i in range(y.size):
            first = a[i] <= b[i]
            y[i] = a[i] if first else b[i]
            slope_a[i] = 1.0 if first else 0.0
            slope_b[i] = 0.0 if first else 1.0


@fast
def _add_tangents(op, pa, pb, mask_a, mask_b, n, n_lines, target, tangents):
    for k in range(n_lines):
        in_a, in_b = mask_a >> k & 1, mask_b >> k & 1
        if not (in_a or in_b):
            continue
        y = tangents[target, k, :n]
        if in_a and in_b:
            a, b = tangents[pa, k, :n], tangents[pb, k, :n]
            if op == ADD:
                for i in range(n):
                    y[i] = a[i] + b[i]
            else:
                for i in range(n):
                    y[i] = a[i] - b[i]
        elif in_a:
            copy(tangents[pa, k, :n], y)
        else:
            b = tangents[pb, k, :n]
            sign = 1.0 if op == ADD else -1.0
            for i in range(n):
                y[i] = sign * b[i]


@fast
def _chain(pa, pb, mask_a, mask_b, slope_a, slope_b, n, n_lines, target, tangents):
    """Write the tangents of a binary operator from its two slopes."""
    for k in range(n_lines):
        in_a, in_b = mask_a >> k & 1, mask_b >> k & 1
        if in_a and in_b:
            y = tangents[target, k, :n]
            a, b = tangents[pa, k, :n], tangents[pb, k, :n]
            for i in range(n):
                y[i] = a[i] * slope_a[i] + b[i] * slope_b[i]
        elif in_a:
            _scale(slope_a, tangents[pa, k, :n], tangents[target, k, :n])
        elif in_b:
            _scale(slope_b, tangents[pb, k, :n], tangents[target, k, :n])


@entry_fast
def interpret(
    program, n_instructions, literals, masks, columns, extra, start, n, n_lines, floors,
    registers, tangents, scratch,
):  # fmt: skip
    """Run every instruction on rows start to start + n; tangents where n_lines > 0.

    `literals` and `masks` are indexed by assignment; masks are over nonlinear lines.
    """
    limit = floors[3]
    slope_a, slope_b = scratch[0, :n], scratch[1, :n]
    for pc in range(n_instructions):
        op, target, pa, pb, pc_ = (
            program[pc, 0], program[pc, 1], program[pc, 2], program[pc, 3], program[pc, 4],
        )  # fmt: skip
        assignment = program[pc, 5]
        y = registers[target, :n]
        a = _operand(pa, start, n, columns, extra, registers)
        with_tangents = n_lines > 0 and masks[assignment] != 0
        if op == ADD or op == SUB or op == MUL or op == DIV or op == POWP or op == MAX or op == MIN:
            b = _operand(pb, start, n, columns, extra, registers)
            mask_a = masks[program[pc, 6]]
            mask_b = masks[program[pc, 7]]
            if op == MUL:
                if with_tangents:
                    _chain(pa, pb, mask_a, mask_b, b, a, n, n_lines, target, tangents)
                for i in range(n):
                    y[i] = min(max(a[i] * b[i], -limit), limit)
            elif op == ADD:
                if with_tangents:
                    _add_tangents(op, pa, pb, mask_a, mask_b, n, n_lines, target, tangents)
                for i in range(n):
                    y[i] = min(max(a[i] + b[i], -limit), limit)
            elif op == SUB:
                if with_tangents:
                    _add_tangents(op, pa, pb, mask_a, mask_b, n, n_lines, target, tangents)
                for i in range(n):
                    y[i] = min(max(a[i] - b[i], -limit), limit)
            else:
                _binary_slopes(op, a, b, floors, y, slope_a, slope_b)
                if op == MAX or op == MIN:
                    _saturate(y, limit)
                if with_tangents:
                    _chain(pa, pb, mask_a, mask_b, slope_a, slope_b, n, n_lines, target, tangents)
        elif op == WHERE:
            b = _operand(pb, start, n, columns, extra, registers)
            c = _operand(pc_, start, n, columns, extra, registers)
            for i in range(n):
                chosen = a[i] > 0.0
                slope_a[i] = 1.0 if chosen else 0.0
                slope_b[i] = 0.0 if chosen else 1.0
                y[i] = b[i] if chosen else c[i]
            _saturate(y, limit)
            if with_tangents:
                for k in range(n_lines):  # a step has no slope: what only the condition knows is 0
                    if masks[assignment] >> k & 1:
                        fill(tangents[target, k, :n], 0.0)
                _chain(
                    pb, pc_, masks[program[pc, 7]], masks[program[pc, 8]], slope_a, slope_b, n,
                    n_lines, target, tangents,
                )  # fmt: skip
        else:
            if op == POW:
                _power(a, literals[assignment], floors, with_tangents, y, slope_a)
                _saturate(y, limit)
            else:
                _unary(op, a, floors, with_tangents, y, slope_a)
                # Only these can exceed a saturation of ordinary size; exp saturates by itself.
                if op == NEG or op == ABS or op == SQRT or limit < _SMALL:
                    _saturate(y, limit)
            if with_tangents:
                for k in range(n_lines):
                    if masks[assignment] >> k & 1:
                        _scale(slope_a, tangents[pa, k, :n], tangents[target, k, :n])


# What the interpreter takes, in order: program, number of instructions, literals, masks, columns,
# columns evaluated before, first row, rows, lines, floors, registers, tangents, scratch.
_WHOLE, _LINE, _TABLE = types.int64, types.float64[::1], types.float64[:, ::1]
SIGNATURE = types.none(
    types.int64[:, ::1], _WHOLE, _LINE, types.int64[::1], _TABLE, _TABLE, _WHOLE, _WHOLE, _WHOLE,
    _LINE, _TABLE, types.float64[:, :, ::1], _TABLE,
)  # fmt: skip

run_block = opaque("alder_interpret", SIGNATURE)
"""`interpret`, called through its address: the nine functions that use it would each compile it
again, which took most of the first minute."""
