# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0915 (numba: one branch per operator)
r"""How large is each parameter, in the units of the rows? Read from its place in the tree.

A function such as $\exp$ or $\tanh$ asks for an argument of order one, a sum asks that its terms
be alike, and the whole law is of the size of the target. Where what stands beside a parameter $p$
has known values on the rows, of typical size $m$, and its place asks for size $n$, a monomial
$m\,p^d$ there gives

$$|p| \approx (n / m)^{1/d} .$$

A parameter whose size is known is known itself, and what it stands in can be evaluated: in
$\tanh((a - r)/w)$ first $a$ is found among the values of $r$, then $w$ from the values of $a - r$.
In other units every number here changes as its own unit does, so the fit follows them.
"""

from typing import NamedTuple

import numpy as np

from alder.kernel.compiled import strict
from alder.kernel.fill import fill
from alder.kernel.interpret import run_block
from alder.kernel.lower import NONE, parse_postfix
from alder.kernel.opcodes import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    CST,
    DIV,
    LOG,
    MAX,
    MIN,
    MUL,
    NEG,
    PAR,
    POW,
    POWP,
    SQRT,
    SUB,
    VAR,
    WHERE,
)

SAMPLE = 16
"""Rows that stand for all: enough for a median and a range to be of the right order."""
_LEAST, _MOST = 1e-290, 1e290


# Columns of `nodes`: whole numbers and flags of a node of the tree, in postfix order.
OP, ARGUMENT, FIRST, SECOND, THIRD, SPAN = 0, 1, 2, 3, 4, 5
LINEAR = 6  # holds a linear parameter: it is solved for, so what it multiplies may have any size
NONLINEAR = 7
USED = 8  # somebody may ask for its values
SOLVED = 9  # has values: all its parameters are known
OWNER = 10  # the parameter it is a monomial of
FIRM = 11  # its coefficient comes from values, not from another guess
FREE = 12  # a zero at this place does no harm
# Columns of `numbers`: NaN is unknown throughout.
LITERAL = 0
TYPICAL = 1  # median magnitude of its values, once somebody asked
SCALE = 2  # guessed magnitude where it has no values; unknown where parameters set it
COEFFICIENT, DEGREE = 3, 4
NEED = 5  # the size its place asks for
# Columns of `scales`, one line per parameter: the range is that of what it is set off against.
SIZE, VALUE, LOW, HIGH = 0, 1, 2, 3


class Tree(NamedTuple):
    """A structure with what is known of its nodes, and its evaluation on sample rows.

    Tables and not one array per property: handing over many arrays costs more than using them.
    `values` has one line per node, and one to sort in.
    """

    nodes: np.ndarray
    numbers: np.ndarray
    values: np.ndarray
    program: np.ndarray
    exponents: np.ndarray
    masks: np.ndarray
    scratch: np.ndarray
    tangents: np.ndarray


@strict
def make_tree(opcodes, arguments, literals, line_parameter, rows):
    """Parse a structure, and lay out its evaluation on sample rows."""
    n = opcodes.size
    n_rows = min(SAMPLE, rows.columns.shape[1])
    child = np.empty((n, 3), np.int64)
    span = np.empty(n, np.int64)
    mask = np.empty(n, np.int64)
    parse_postfix(opcodes, arguments, child, span, mask)
    lines = np.int64(0)
    for k in range(line_parameter.size):
        lines |= np.int64(1) << line_parameter[k]
    nodes = np.zeros((n, 13), np.int64)
    numbers = np.empty((n, 6))
    exponents = np.zeros(n)
    for i in range(n - 1, -1, -1):
        nodes[i, OP], nodes[i, ARGUMENT], nodes[i, SPAN] = opcodes[i], arguments[i], span[i]
        nodes[i, LINEAR] = mask[i] & ~lines != 0
        nodes[i, NONLINEAR] = mask[i] & lines != 0
        numbers[i, LITERAL] = literals[i]
        if opcodes[i] == POW:
            exponents[i] = literals[child[i, 1]]
        for slot in range(3):
            nodes[i, FIRST + slot] = child[i, slot]
            if child[i, slot] >= 0:
                used = nodes[i, NONLINEAR] or (nodes[i, USED] and mask[i] == 0)
                nodes[child[i, slot], USED] = used
    return Tree(
        nodes, numbers, np.empty((n + 1, n_rows)), np.zeros((n, 9), np.int64), exponents,
        np.zeros(n, np.int64), np.empty((2, n_rows)), np.empty((1, 1, 1)),
    )  # fmt: skip


@strict
def _evaluate(tree, scales, rows):
    """Evaluate on the sample rows every node whose parameters are known by now."""
    nodes, numbers, values, program = tree.nodes, tree.numbers, tree.values, tree.program
    n = 0
    for i in range(nodes.shape[0]):
        op = nodes[i, OP]
        if nodes[i, SOLVED] or not nodes[i, USED]:
            continue
        if op == VAR:
            column = rows.columns[nodes[i, ARGUMENT]]
            for r in range(values.shape[1]):
                values[i, r] = column[r]
            numbers[i, TYPICAL] = rows.sizes[nodes[i, ARGUMENT]]
            nodes[i, SOLVED] = True
        elif op == CST or op == PAR:
            value = numbers[i, LITERAL] if op == CST else scales[nodes[i, ARGUMENT], VALUE]
            if not np.isnan(value):
                fill(values[i], value)
                numbers[i, TYPICAL] = abs(value)
                nodes[i, SOLVED] = True
        else:
            ready = True
            for slot in range(3):
                j = nodes[i, FIRST + slot]
                ready = ready and (j < 0 or nodes[j, SOLVED])
            if ready:
                program[n, 0], program[n, 1], program[n, 5] = op, i, i
                for slot in range(3):
                    program[n, 2 + slot] = max(nodes[i, FIRST + slot], 0)
                nodes[i, SOLVED] = True
                n += 1
    none = np.int64(0)  # a typed zero: a literal one would compile every callee a second time
    n_rows = np.int64(values.shape[1])
    run_block(
        program, np.int64(n), tree.exponents, tree.masks, rows.columns, rows.columns, none,
        n_rows, none, rows.floors, values, tree.tangents, tree.scratch,
    )  # fmt: skip


@strict
def _typical(numbers, values, i):
    """Return the median magnitude of a solved node, the largest where the median is zero."""
    if np.isnan(numbers[i, TYPICAL]):
        n = values.shape[1]
        ordered = values[values.shape[0] - 1]
        for r in range(n):
            x = abs(values[i, r])
            t = r
            while t > 0 and ordered[t - 1] > x:
                ordered[t] = ordered[t - 1]
                t -= 1
            ordered[t] = x
        median = ordered[n // 2]
        numbers[i, TYPICAL] = median if median > 0.0 else ordered[n - 1]
    return numbers[i, TYPICAL]


@strict
def _scale_of(nodes, numbers, values, i):
    return _typical(numbers, values, i) if nodes[i, SOLVED] else numbers[i, SCALE]


@strict
def _set_product(nodes, numbers, values, i, sign):
    """Guess about a product (sign 1) or a quotient (sign -1)."""
    a, b = nodes[i, FIRST], nodes[i, SECOND]
    if nodes[i, LINEAR]:
        return
    scale_a, scale_b = _scale_of(nodes, numbers, values, a), _scale_of(nodes, numbers, values, b)
    numbers[i, SCALE] = scale_a * scale_b**sign
    of_a = not nodes[a, SOLVED] and nodes[a, OWNER] >= 0
    of_b = not nodes[b, SOLVED] and nodes[b, OWNER] >= 0
    if of_a and of_b:
        if nodes[a, OWNER] != nodes[b, OWNER]:
            return
        numbers[i, COEFFICIENT] = numbers[a, COEFFICIENT] * numbers[b, COEFFICIENT] ** sign
        numbers[i, DEGREE] = numbers[a, DEGREE] + sign * numbers[b, DEGREE]
        nodes[i, FIRM] = nodes[a, FIRM] and nodes[b, FIRM]
        nodes[i, OWNER] = nodes[a, OWNER]
    elif of_a and not np.isnan(scale_b):
        numbers[i, COEFFICIENT] = numbers[a, COEFFICIENT] * scale_b**sign
        numbers[i, DEGREE] = numbers[a, DEGREE]
        nodes[i, FIRM] = nodes[a, FIRM] and nodes[b, SOLVED]
        nodes[i, OWNER] = nodes[a, OWNER]
    elif of_b and not np.isnan(scale_a):
        numbers[i, COEFFICIENT] = scale_a * numbers[b, COEFFICIENT] ** sign
        numbers[i, DEGREE] = sign * numbers[b, DEGREE]
        nodes[i, FIRM] = nodes[b, FIRM] and nodes[a, SOLVED]
        nodes[i, OWNER] = nodes[b, OWNER]


@strict
def _set_sum(nodes, numbers, values, i, a, b):
    """Guess about a sum, or whatever else is as large as the larger of two parts."""
    if nodes[i, LINEAR]:
        return
    scale_a, scale_b = _scale_of(nodes, numbers, values, a), _scale_of(nodes, numbers, values, b)
    if np.isnan(scale_a):
        numbers[i, SCALE] = scale_b
    elif np.isnan(scale_b):
        numbers[i, SCALE] = scale_a
    else:
        numbers[i, SCALE] = max(scale_a, scale_b)
    if nodes[a, SOLVED] or nodes[b, SOLVED] or nodes[a, OWNER] < 0:
        return
    if nodes[a, OWNER] == nodes[b, OWNER] and numbers[a, DEGREE] == numbers[b, DEGREE]:
        nodes[i, OWNER] = nodes[a, OWNER]
        numbers[i, DEGREE] = numbers[a, DEGREE]
        numbers[i, COEFFICIENT] = max(numbers[a, COEFFICIENT], numbers[b, COEFFICIENT])
        nodes[i, FIRM] = nodes[a, FIRM] and nodes[b, FIRM]


@strict
def _set_power(nodes, numbers, values, i, a, exponent):
    base = _scale_of(nodes, numbers, values, a)
    numbers[i, SCALE] = base**exponent
    if not nodes[a, SOLVED] and nodes[a, OWNER] >= 0 and exponent != 0.0:
        numbers[i, COEFFICIENT] = numbers[a, COEFFICIENT] ** exponent
        numbers[i, DEGREE] = numbers[a, DEGREE] * exponent
        nodes[i, OWNER] = nodes[a, OWNER]
        nodes[i, FIRM] = nodes[a, FIRM]


@strict
def _guess_upwards(nodes, numbers, values):
    """Guess scales and monomials of unsolved nodes from their children."""
    for i in range(nodes.shape[0]):
        if nodes[i, SOLVED]:
            continue
        op = nodes[i, OP]
        a, b, c = nodes[i, FIRST], nodes[i, SECOND], nodes[i, THIRD]
        numbers[i, SCALE] = np.nan
        nodes[i, OWNER] = NONE
        nodes[i, FIRM] = True
        if op == PAR:
            if not nodes[i, LINEAR]:
                numbers[i, COEFFICIENT], numbers[i, DEGREE] = 1.0, 1.0
                nodes[i, OWNER] = nodes[i, ARGUMENT]
        elif op == ADD or op == SUB or op == MAX or op == MIN:
            _set_sum(nodes, numbers, values, i, a, b)
        elif op == WHERE:
            _set_sum(nodes, numbers, values, i, b, c)
        elif op == MUL:
            _set_product(nodes, numbers, values, i, 1.0)
        elif op == DIV:
            _set_product(nodes, numbers, values, i, -1.0)
        elif op == NEG or op == ABS:
            _set_power(nodes, numbers, values, i, a, 1.0)
        elif op == SQRT:
            _set_power(nodes, numbers, values, i, a, 0.5)
        elif op == POW:
            _set_power(nodes, numbers, values, i, a, numbers[nodes[i, SECOND], LITERAL])
        elif op == POWP and nodes[b, SOLVED]:
            _set_power(nodes, numbers, values, i, a, values[b, 0])
        else:  # a function of an argument of order one
            numbers[i, SCALE] = 1.0
        if nodes[i, OWNER] >= 0 and numbers[i, DEGREE] == 0.0:
            nodes[i, OWNER] = NONE
            numbers[i, SCALE] = numbers[i, COEFFICIENT]


@strict
def _set_off(nodes, values, scales, i, beside, sign):
    """Note that a parameter is added to the values of a node: it may lie anywhere among them."""
    p = nodes[i, ARGUMENT]
    line = values[beside]
    low, high = np.inf, -np.inf
    for r in range(line.size):
        low = min(low, sign * line[r])
        high = max(high, sign * line[r])
    if low < high and high - low < _MOST:
        scales[p, LOW], scales[p, HIGH] = low, high


@strict
def _ask_of_terms(nodes, numbers, values, scales, i, loose):
    """Ask that the terms of a sum be alike; a bare parameter among them is a place."""
    op = nodes[i, OP]
    compared = op == MAX or op == MIN
    for slot in range(2):
        x, y = nodes[i, FIRST + slot], nodes[i, FIRST + 1 - slot]
        if nodes[x, SOLVED] or not nodes[x, NONLINEAR]:
            continue
        nodes[x, FREE] = nodes[i, FREE]
        if nodes[x, LINEAR]:
            continue
        if nodes[y, SOLVED]:
            numbers[x, NEED] = _typical(numbers, values, y)
            if nodes[x, OP] == PAR and (nodes[i, FREE] or compared):
                _set_off(nodes, values, scales, x, y, -1.0 if op == ADD else 1.0)
        elif np.isnan(numbers[y, SCALE]):
            numbers[x, NEED] = numbers[i, NEED]
        elif loose:
            numbers[x, NEED] = numbers[y, SCALE]


@strict
def _ask_of_factors(nodes, numbers, values, i, loose):
    """Ask of each factor, or of both parts of a quotient, what the other one leaves."""
    sign = 1.0 if nodes[i, OP] == MUL else -1.0
    a, b = nodes[i, FIRST], nodes[i, SECOND]
    nodes[a, FREE], nodes[b, FREE] = nodes[i, FREE], nodes[i, FREE] and sign > 0.0
    if nodes[i, LINEAR]:
        if loose:
            numbers[a, NEED], numbers[b, NEED] = 1.0, 1.0
        return
    wanted = numbers[i, NEED]
    if np.isnan(wanted):
        return
    scale_a, scale_b = _scale_of(nodes, numbers, values, a), _scale_of(nodes, numbers, values, b)
    if not nodes[a, SOLVED] and (nodes[b, SOLVED] or loose):
        numbers[a, NEED] = wanted / scale_b**sign
    if not nodes[b, SOLVED] and (nodes[a, SOLVED] or loose):
        numbers[b, NEED] = (wanted / scale_a) ** sign
    if loose and np.isnan(scale_a) and np.isnan(scale_b):
        # What one of them gains the other may lose, so the simpler one takes it all.
        a_takes = nodes[a, SPAN] <= nodes[b, SPAN]
        numbers[a, NEED] = wanted if a_takes else 1.0
        numbers[b, NEED] = 1.0 if a_takes else wanted**sign


@strict
def _ask_downwards(nodes, numbers, values, scales, target_size, loose):
    """Hand down what each place asks for; return how many parameters got a size."""
    n = nodes.shape[0]
    for i in range(n):
        numbers[i, NEED] = np.nan
    numbers[n - 1, NEED] = target_size
    nodes[n - 1, FREE] = True
    found = 0
    for i in range(n - 1, -1, -1):
        if nodes[i, SOLVED] or not nodes[i, NONLINEAR]:
            continue
        op = nodes[i, OP]
        a, b = nodes[i, FIRST], nodes[i, SECOND]
        wanted = numbers[i, NEED]
        p = nodes[i, OWNER]
        if p >= 0 and np.isnan(scales[p, VALUE]) and (nodes[i, FIRM] or loose):
            size = (wanted / numbers[i, COEFFICIENT]) ** (1.0 / numbers[i, DEGREE])
            if size > _LEAST and size < _MOST:
                found += np.isnan(scales[p, SIZE])
                scales[p, SIZE] = size
                if op != PAR:
                    continue
        if op == PAR:
            continue
        if op == ADD or op == SUB or op == MAX or op == MIN:
            _ask_of_terms(nodes, numbers, values, scales, i, loose)
        elif op == MUL or op == DIV:
            _ask_of_factors(nodes, numbers, values, i, loose)
        elif op == WHERE:
            c = nodes[i, THIRD]
            numbers[a, NEED], numbers[b, NEED], numbers[c, NEED] = 1.0, wanted, wanted
            nodes[a, FREE], nodes[b, FREE], nodes[c, FREE] = True, nodes[i, FREE], nodes[i, FREE]
        elif op == NEG or op == ABS:
            numbers[a, NEED], nodes[a, FREE] = wanted, nodes[i, FREE]
        elif op == SQRT:
            numbers[a, NEED], nodes[a, FREE] = wanted * wanted, False
        elif op == POW:
            exponent = numbers[nodes[i, SECOND], LITERAL]
            half = 0.5 * exponent
            even = half > 0.0 and half == np.floor(half)
            numbers[a, NEED] = wanted ** (1.0 / exponent) if exponent != 0.0 else 1.0
            nodes[a, FREE] = even or (nodes[i, FREE] and exponent == 1.0)
        elif op == POWP:
            numbers[a, NEED], nodes[a, FREE] = 1.0, False
            if nodes[b, SOLVED] and values[b, 0] != 0.0 and not np.isnan(wanted):
                numbers[a, NEED] = wanted ** (1.0 / values[b, 0])
            numbers[b, NEED], nodes[b, FREE] = 1.0, True
        else:
            numbers[a, NEED] = 1.0
            nodes[a, FREE] = op != LOG and op != ASIN and op != ACOS
    return found


@strict
def find_scales(tree, scales, chosen, rows):
    """Give the chosen, nonlinear parameters a size, 1 where nothing tells; known values are kept.

    Parameters are found in rounds: each uses the values of what is known by then. Only where
    nothing more can be had that way is one guess built upon another.
    """
    nodes, numbers, values = tree.nodes, tree.numbers, tree.values
    for i in range(nodes.shape[0]):
        nodes[i, SOLVED] = False
        numbers[i, TYPICAL] = np.nan
    loose = False
    while True:
        missing = False
        for k in range(chosen.size):
            missing = missing or np.isnan(scales[chosen[k], VALUE])
        if not missing:
            break
        _evaluate(tree, scales, rows)
        _guess_upwards(nodes, numbers, values)
        found = _ask_downwards(nodes, numbers, values, scales, rows.sizes[-1], loose)
        if found == 0 and loose:
            break
        loose = found == 0
        for k in range(chosen.size):
            p = chosen[k]
            if np.isnan(scales[p, VALUE]) and not np.isnan(scales[p, SIZE]):
                middle = 0.5 * (scales[p, LOW] + scales[p, HIGH])
                scales[p, VALUE] = scales[p, SIZE] if np.isnan(middle) else middle
    for k in range(chosen.size):
        if np.isnan(scales[chosen[k], SIZE]):
            scales[chosen[k], SIZE] = 1.0
