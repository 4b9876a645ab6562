# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915 (numba)
"""Where a search begins: a fixed low-discrepancy set, scaled to the bounds or to the data.

A parameter without bounds starts around the size that makes its place in the tree balance: under
an exponential the argument is of order one, in a sum it is of the order of its neighbour. That
size follows a change of units, so the fit does too.
"""

import functools
import math

import numpy as np
from numpy.typing import NDArray

from alder.kernel.compiled import strict
from alder.kernel.fill import fill
from alder.kernel.lower import parse_postfix
from alder.kernel.opcodes import (
    ABS,
    ADD,
    CST,
    DIV,
    MAX,
    MAX_PARAMETERS,
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

WIDE = 50.0
"""Positive bounds whose ratio exceeds this are searched on a logarithmic scale."""
DECADES = 1.5
"""An unbounded parameter is searched this many decades around its natural size, both ways."""


@functools.cache
def golden_steps() -> NDArray[np.float64]:
    """Return the steps of the R sequence for every number of dimensions (Roberts 2018).

    In q dimensions the n-th point is frac(1/2 + n * steps[q, :q]), with powers of 1/g, where g
    solves g**(q + 1) = g + 1.
    """
    steps = np.zeros((MAX_PARAMETERS + 1, MAX_PARAMETERS))
    for q in range(1, MAX_PARAMETERS + 1):
        g = 2.0
        for _ in range(64):
            g = (1.0 + g) ** (1.0 / (q + 1))
        steps[q, :q] = (1.0 / g) ** np.arange(1, q + 1)
    return steps


@strict
def natural_sizes(opcodes, arguments, literals, child, mask, column_size, target_size, size):
    """Estimate the order of magnitude of every parameter; 1 where nothing tells."""
    n = opcodes.size
    magnitude = np.empty(n)
    need = np.full(n, np.nan)
    for i in range(n):
        op = opcodes[i]
        a, b, c = child[i, 0], child[i, 1], child[i, 2]
        if op == VAR:
            magnitude[i] = column_size[arguments[i]]
        elif op == CST:
            magnitude[i] = abs(literals[i])
        elif op == ADD or op == SUB or op == MAX or op == MIN:
            magnitude[i] = max(magnitude[a], magnitude[b])
        elif op == MUL:
            magnitude[i] = magnitude[a] * magnitude[b]
        elif op == DIV:
            magnitude[i] = magnitude[a] / max(magnitude[b], 1e-300)
        elif op == NEG or op == ABS:
            magnitude[i] = magnitude[a]
        elif op == SQRT:
            magnitude[i] = math.sqrt(magnitude[a])
        elif op == POW:
            magnitude[i] = max(magnitude[a], 1e-300) ** literals[b]
        elif op == WHERE:
            magnitude[i] = max(magnitude[b], magnitude[c])
        else:
            magnitude[i] = 1.0
    need[n - 1] = target_size
    fill(size, 1.0)
    for i in range(n - 1, -1, -1):
        op = opcodes[i]
        a, b, c = child[i, 0], child[i, 1], child[i, 2]
        wanted = need[i]
        if op == PAR:
            if wanted > 1e-290 and wanted < 1e290:
                size[arguments[i]] = wanted
        elif op == ADD or op == SUB or op == MAX or op == MIN:
            need[a] = magnitude[b] if mask[b] == 0 else wanted
            need[b] = magnitude[a] if mask[a] == 0 else wanted
        elif op == MUL:
            need[a] = wanted / magnitude[b] if mask[b] == 0 else wanted
            need[b] = wanted / magnitude[a] if mask[a] == 0 else 1.0
        elif op == DIV:
            need[a] = wanted * magnitude[b] if mask[b] == 0 else wanted
            need[b] = magnitude[a] / wanted if mask[a] == 0 else 1.0
        elif op == NEG or op == ABS:
            need[a] = wanted
        elif op == SQRT:
            need[a] = wanted * wanted
        elif op == POW:
            need[a] = wanted ** (1.0 / literals[b]) if literals[b] != 0.0 else 1.0
        elif op == WHERE:
            need[a] = 1.0
            need[b] = wanted
            need[c] = wanted
        elif op != VAR and op != CST:
            need[a] = 1.0
            if op == POWP:
                need[b] = 1.0


def place_start(u: float, lower: float, upper: float, size: float) -> float:
    """Map u in [0, 1) to a start value of a parameter with these bounds and natural size."""
    bounded = lower > -np.inf and upper < np.inf
    if bounded and lower > 0.0 and upper / lower > WIDE:
        return lower * (upper / lower) ** u
    if bounded and upper < 0.0 and lower / upper > WIDE:
        return upper * (lower / upper) ** u
    if bounded and upper - lower <= 4.0 * 10.0 ** (DECADES + 1.0) * size:
        return lower + u * (upper - lower)
    if lower >= 0.0:
        value = lower + size * 10.0 ** (DECADES * (2.0 * u - 1.0))
    elif upper <= 0.0:
        value = upper - size * 10.0 ** (DECADES * (2.0 * u - 1.0))
    elif u < 0.5:
        value = -size * 10.0 ** (DECADES * (1.0 - 4.0 * u))
    else:
        value = size * 10.0 ** (DECADES * (4.0 * u - 3.0))
    return min(max(value, lower), upper)


_place = strict(place_start)


@strict
def spread_starts(opcodes, arguments, literals, line_parameter, lower, upper, sizes, steps, starts):
    """Fill starts (pool, lines) with the low-discrepancy set, placed for each parameter."""
    n = opcodes.size
    q = line_parameter.size
    child = np.empty((n, 3), np.int64)
    span = np.empty(n, np.int64)
    mask = np.empty(n, np.int64)
    size = np.empty(64)
    parse_postfix(opcodes, arguments, child, span, mask)
    natural_sizes(opcodes, arguments, literals, child, mask, sizes, sizes[-1], size)
    for k in range(q):
        for s in range(starts.shape[0]):
            u = (0.5 + s * steps[q, k]) % 1.0
            starts[s, k] = _place(u, lower[k], upper[k], size[line_parameter[k]])
