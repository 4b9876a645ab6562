# pyright: basic
# ruff: noqa: C901, PLR0912, PLR0913, PLR0915 (numba)
"""Small dense systems: Cholesky, and least squares under bounds from a Gram matrix."""

import math

import numpy as np

from alder.kernel.compiled import strict

RIDGE = 1e-13
"""Relative to a unit diagonal: far below what a float64 Gram matrix can resolve (1e-16 squared
columns give 1e-8 in the coefficients), and enough to keep an exactly singular one solvable."""


@strict
def factor(A, n):
    """Replace the lower triangle of A by its Cholesky factor; False where A is not definite."""
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            if i == j:
                if not s > 0.0:
                    return False
                A[i, i] = math.sqrt(s)
            else:
                A[i, j] = s / A[j, j]
    return True


@strict
def forward(L, b, n):
    """Solve L z = b in place."""
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= L[i, k] * b[k]
        b[i] = s / L[i, i]


@strict
def backward(L, b, n):
    """Solve L^T z = b in place."""
    for i in range(n - 1, -1, -1):
        s = b[i]
        for k in range(i + 1, n):
            s -= L[k, i] * b[k]
        b[i] = s / L[i, i]


@strict
def factor_free(G, scale, free, n, L):
    """Factor the scaled Gram matrix of the free columns; raise the ridge until it is definite."""
    ridge = RIDGE
    while True:
        m = 0
        for i in range(n):
            if free[i]:
                k = 0
                for j in range(i + 1):
                    if free[j]:
                        L[m, k] = G[i, j] * scale[i] * scale[j]
                        k += 1
                L[m, m] += ridge
                m += 1
        if factor(L, m):
            return m
        ridge *= 1e3
        if not ridge < 1.0:
            return -1


@strict
def bounded_least_squares(G, b, lower, upper, n, c, free, scale, L, rhs):
    """Minimise c'Gc/2 - b'c under bounds; return how many columns are free, -1 if none solves.

    Violators are pinned to their bound and released again where the slope says so, until nothing
    changes. `scale` holds 1 / sqrt(G_ii), zero for a column of zeros, whose coefficient is zero.
    """
    for i in range(n):
        d = G[i, i]
        usable = d > 0.0 and d < np.inf
        scale[i] = 1.0 / math.sqrt(d) if usable else 0.0
        free[i] = usable
        if not usable:
            c[i] = min(max(0.0, lower[i]), upper[i])
    m = 0
    for _ in range(4 * n + 1):
        m = factor_free(G, scale, free, n, L)
        if m < 0:
            return -1
        k = 0
        for i in range(n):
            if free[i]:
                s = b[i]
                for j in range(n):
                    if not free[j]:
                        s -= G[i, j] * c[j]
                rhs[k] = s * scale[i]
                k += 1
        forward(L, rhs, m)
        backward(L, rhs, m)
        k = 0
        pinned = False
        for i in range(n):
            if free[i]:
                c[i] = rhs[k] * scale[i]
                k += 1
        for i in range(n):
            if free[i] and (c[i] < lower[i] or c[i] > upper[i]):
                c[i] = lower[i] if c[i] < lower[i] else upper[i]
                free[i] = False
                pinned = True
        if pinned:
            continue
        worst = 0.0
        release = -1
        for i in range(n):
            if not free[i] and scale[i] > 0.0:
                slope = b[i]
                for j in range(n):
                    slope -= G[i, j] * c[j]
                slope *= scale[i]
                inward = (c[i] <= lower[i] and slope > 0.0) or (c[i] >= upper[i] and slope < 0.0)
                if (
                    inward
                    and abs(slope) > worst * (1.0 + 1e-12)
                    and abs(slope) > 1e-14 * abs(b[i] * scale[i])
                ):
                    worst = abs(slope)
                    release = i
        if release < 0:
            return m
        free[release] = True
    return m
