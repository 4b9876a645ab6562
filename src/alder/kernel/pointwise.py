# pyright: basic
# ruff: noqa: C901, PLR0911, PLR0912, PLR0913, PLR0915 (numba: one branch per operator)
"""Run postfix bytecode at one point, with derivatives by columns and by parameters.

The block interpreter is made for many rows at once. A solution of a differential equation asks
for one point after another, so this one keeps a stack of numbers, each with its tangents.
"""

import math

import numpy as np

from alder.expr.operators import TINY
from alder.kernel.compiled import bare
from alder.kernel.opcodes import (
    ABS,
    ACOS,
    ADD,
    ARITIES,
    ASIN,
    ATAN,
    COS,
    CST,
    DIV,
    EXP,
    GATE,
    LOG,
    MAX,
    MIN,
    MUL,
    NEG,
    PAR,
    POW,
    POWP,
    SIGN,
    SIN,
    SOFTSIGN,
    SQRT,
    SUB,
    TANH,
    VAR,
    WHERE,
)

_ARITY = np.array(ARITIES, dtype=np.int64)
_EDGE = 2.3e-16  # as in the operator table: the slope of asin one step inside its edge


@bare
def _power(x, exponent, floors):
    """Return a literal power and its slope, as the operator table says."""
    if exponent == 2.0:
        return x * x, 2.0 * x
    if exponent == 3.0:
        return x * x * x, 3.0 * x * x
    if exponent == math.floor(exponent) and abs(exponent) < 9.0e15:
        if exponent >= 0.0:
            y = math.pow(x, exponent)
            slope = exponent * math.pow(x, exponent - 1.0) if exponent > 0.0 else 0.0
            return y, slope
        power = math.pow(x, -exponent)
        if abs(power) < floors[0]:
            return 1.0 / math.copysign(floors[0], power), 0.0
        base = math.copysign(floors[0], x) if abs(x) < floors[0] else x
        return 1.0 / power, exponent / power / base
    base = max(x, floors[1])
    y = math.pow(base, exponent)
    if y < TINY:
        y = 0.0
    return y, (0.0 if x < floors[1] else exponent * y / x)


@bare
def _unary(op, x, floors):
    """Return the value and the slope of an operator of one argument."""
    if op == NEG:
        return -x, -1.0
    if op == EXP:
        clip = floors[2]
        y = math.exp(min(max(x, -clip), clip))
        return y, (0.0 if abs(x) > clip else y)
    if op == LOG:
        return math.log(max(x, floors[1])), (0.0 if x < floors[1] else 1.0 / x)
    if op == SQRT:
        y = math.sqrt(x) if x > 0.0 else 0.0  # never -0, whose inverse has another sign
        return y, (0.0 if x < floors[1] else 0.5 / y)
    if op == TANH:
        y = math.tanh(x)
        return y, 1.0 - y * y
    if op == GATE:
        y = 1.0 / (1.0 + math.exp(-min(max(x, -floors[2]), floors[2])))
        return y, y * (1.0 - y)
    if op == SIN:
        return math.sin(x), math.cos(x)
    if op == COS:
        return math.cos(x), -math.sin(x)
    if op == SOFTSIGN:
        shrink = 1.0 / (1.0 + abs(x))
        return x * shrink, shrink * shrink
    side = 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)
    if op == ABS:
        return abs(x), side
    if op == SIGN:
        return side, 0.0
    if op == ATAN:
        reach = min(abs(x), 1e150)
        return math.atan(x), 1.0 / (1.0 + reach * reach)
    inside = min(max(x, -1.0), 1.0)
    steep = 0.0 if abs(x) > 1.0 else 1.0 / math.sqrt(max(1.0 - inside * inside, _EDGE))
    if op == ASIN:
        return math.asin(inside), steep
    if op == ACOS:
        return math.acos(inside), -steep
    return x, 1.0


@bare
def _binary(op, a, b, floors):
    """Return the value and both slopes of an operator of two arguments."""
    if op == ADD:
        return a + b, 1.0, 1.0
    if op == SUB:
        return a - b, 1.0, -1.0
    if op == MUL:
        return a * b, b, a
    if op == DIV:
        below = abs(b) < floors[0]
        inverse = 1.0 / (math.copysign(floors[0], b) if below else b)
        y = a * inverse
        return y, inverse, (0.0 if below else -y * inverse)
    if op == POW:
        y, slope = _power(a, b, floors)
        return y, slope, 0.0
    if op == POWP:
        base = max(a, floors[1])
        y = math.pow(base, b)
        if y < TINY:
            y = 0.0
        return y, (0.0 if a < floors[1] else b * y / a), y * math.log(base)
    if op == MAX:
        return (a, 1.0, 0.0) if a >= b else (b, 0.0, 1.0)
    if op == MIN:
        return (a, 1.0, 0.0) if a <= b else (b, 0.0, 1.0)
    return a, 1.0, 0.0


@bare
def values_at(
    opcodes, arguments, literals, offsets, lines, n_lines, x, p, floors, stack, tangents, v,
    derived,
):  # fmt: skip
    """Write the value of every program q to v[q], and its derivatives to derived[q, :n_lines[q]].

    `lines` says of every instruction which derivative begins there, -1 for none; where programs
    have no derivatives it is not read. One call runs all: a call each would take as long as they.
    """
    for q in range(offsets.size - 1):
        n = n_lines[q]
        top = 0
        for pc in range(offsets[q], offsets[q + 1]):
            op = opcodes[pc]
            arity = _ARITY[op]
            if arity == 0:
                if op == CST:
                    stack[top] = literals[pc]
                elif op == VAR:
                    stack[top] = x[arguments[pc]]
                elif op == PAR:
                    stack[top] = p[arguments[pc]]
                for k in range(n):
                    tangents[top, k] = 0.0
                if n > 0 and lines[pc] >= 0:
                    tangents[top, lines[pc]] = 1.0
                top += 1
                continue
            top -= arity
            if arity == 1:
                y, slope = _unary(op, stack[top], floors)
                for k in range(n):
                    tangents[top, k] *= slope
            elif arity == 2:
                y, slope_a, slope_b = _binary(op, stack[top], stack[top + 1], floors)
                for k in range(n):
                    tangents[top, k] = slope_a * tangents[top, k] + slope_b * tangents[top + 1, k]
            else:  # where(condition, then, otherwise)
                branch = top + 1 if op == WHERE and stack[top] > 0.0 else top + 2
                y = stack[branch]
                for k in range(n):
                    tangents[top, k] = tangents[branch, k]
            stack[top] = min(max(y, -floors[3]), floors[3])
            top += 1
        v[q] = stack[0]
        for k in range(n):
            derived[q, k] = tangents[0, k]
