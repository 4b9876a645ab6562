# pyright: basic
# ruff: noqa: PLR0913 (numba)
"""Where a search begins: a fixed low-discrepancy set, scaled to the bounds or to the data.

A parameter without bounds starts around the size that its place in the tree asks for, of either
sign; one that is set off against values of the rows, as a in tanh((a - r)/w), also among these.
Both follow a change of units, so the fit does too.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from alder.kernel.compiled import strict
from alder.kernel.fill import fill, fill_table
from alder.kernel.opcodes import MAX_PARAMETERS, PAR, POWP
from alder.kernel.scales import (
    ARGUMENT,
    HIGH,
    LOW,
    OP,
    SECOND,
    SIZE,
    VALUE,
    find_scales,
    make_tree,
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
def _place_among(u, lower, upper, size, low, high):
    """Place one half of the starts among the values a parameter is set off against, if any."""
    low, high = max(low, lower), min(high, upper)
    bounded = lower > -np.inf and upper < np.inf
    if bounded or not low < high:
        return _place(u, lower, upper, size)
    if u < 0.5:
        return low + 2.0 * u * (high - low)
    return _place(2.0 * u - 1.0, lower, upper, size)


@strict
def _mark_exponents(tree, line_parameter, exponent):
    """Mark lines that are exponents, which have no unit; return how many there are."""
    n = 0
    for k in range(line_parameter.size):
        exponent[k] = False
        for i in range(tree.nodes.shape[0]):
            if tree.nodes[i, OP] == POWP:
                j = tree.nodes[i, SECOND]
                here = tree.nodes[j, OP] == PAR and tree.nodes[j, ARGUMENT] == line_parameter[k]
                exponent[k] = exponent[k] or here
        n += exponent[k]
    return n


@strict
def _scale_for(tree, scales, lines, exponent, powers, rows):
    """Find the scales of all lines, with these values of the exponents among them."""
    fill_table(scales, np.nan)
    for k in range(lines.size):
        if exponent[k]:
            scales[lines[k], SIZE], scales[lines[k], VALUE] = 1.0, powers[k]
    find_scales(tree, scales, lines, rows)


@strict
def _depends(tree, scales, lines, exponent, rows):
    """Say whether any scale depends on an exponent: two values of it tell."""
    powers = np.full(lines.size, 2.0)
    _scale_for(tree, scales, lines, exponent, powers, rows)
    before = scales.copy()
    fill(powers, 1.0)
    _scale_for(tree, scales, lines, exponent, powers, rows)
    for k in range(lines.size):
        now, then = scales[lines[k], SIZE], before[lines[k], SIZE]
        if abs(now - then) > 1e-9 * then:
            return True
    return False


@strict
def spread_starts(
    opcodes, arguments, literals, n_parameters, line_parameter, lower, upper, rows, steps, starts,
    sizes,
):  # fmt: skip
    """Fill starts (pool, lines) with the low-discrepancy set, placed for each parameter.

    `sizes` receives the natural size of each line. Where one depends on exponents, it is found
    anew for each start from the exponents of that start.
    """
    q = line_parameter.size
    tree = make_tree(opcodes, arguments, literals, line_parameter, rows)
    scales = np.empty((n_parameters, 4))
    exponent = np.empty(q, np.bool_)
    n_exponents = _mark_exponents(tree, line_parameter, exponent)
    powers = np.ones(q)
    anew = False
    if n_exponents > 0 and n_exponents < q:
        anew = _depends(tree, scales, line_parameter, exponent, rows)
    else:
        _scale_for(tree, scales, line_parameter, exponent, powers, rows)
    for k in range(q):
        sizes[k] = scales[line_parameter[k], SIZE]
    for s in range(starts.shape[0]):
        if anew:
            for k in range(q):
                if exponent[k]:
                    powers[k] = _place((0.5 + s * steps[q, k]) % 1.0, lower[k], upper[k], 1.0)
            _scale_for(tree, scales, line_parameter, exponent, powers, rows)
        for k in range(q):
            p = line_parameter[k]
            u = (0.5 + s * steps[q, k]) % 1.0
            starts[s, k] = _place_among(
                u, lower[k], upper[k], scales[p, SIZE], scales[p, LOW], scales[p, HIGH]
            )
