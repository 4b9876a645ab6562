# pyright: basic
# ruff: noqa: C901 (numba)
"""Sets of terms: what is left of every term's columns when a set takes one more direction.

One pass over the memory instead of one for each product; symmetric products are kept above the
diagonal only.
"""

import numpy as np

from alder.kernel.compiled import entry


@entry
def take_out(along, inner, shares, firsts, left, sets):
    """Take one direction a set out of products with y, `along`, and with each other, `inner`.

    `shares[i, firsts[p] + q]` is the share of column q of term p in the direction of set `sets[i]`,
    `left[i]` that of y. Shapes are (n, q, p) and (n, q, q, p).
    """
    for i in range(sets.size):
        of, y = sets[i], left[i]
        for p in range(firsts.size - 1):
            begin, count = firsts[p], firsts[p + 1] - firsts[p]
            for q in range(count):
                share = shares[i, begin + q]
                along[of, q, p] -= y * share
                for r in range(q, count):
                    inner[of, q, r, p] -= share * shares[i, begin + r]


@entry
def gains(along, inner, told_apart):
    """Return what terms take from the squares, (n, p): their columns one after the other.

    Of `inner` only what is above the diagonal is read.
    """
    n, width, n_terms = along.shape
    found = np.zeros((n, n_terms))
    a, S = np.empty(width), np.empty((width, width))
    for i in range(n):
        for p in range(n_terms):
            for q in range(width):
                a[q] = along[i, q, p]
                for r in range(q, width):
                    S[q, r] = inner[i, q, r, p]
            gain = 0.0
            for q in range(width):
                if S[q, q] <= told_apart:
                    continue
                gain += a[q] * a[q] / S[q, q]
                for r in range(q + 1, width):
                    ratio = S[q, r] / S[q, q]
                    a[r] -= ratio * a[q]
                    for s in range(r, width):
                        S[r, s] -= ratio * S[q, s]
            found[i, p] = gain
    return found
