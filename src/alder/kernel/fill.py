# pyright: basic
"""Copies and fills as loops: numba compiles each kind of slice assignment for seconds."""

from alder.kernel.compiled import fast


@fast
def copy(source, target):
    """Copy one line of numbers."""
    for i in range(target.size):
        target[i] = source[i]


@fast
def fill(target, value):
    """Set one line to a number."""
    for i in range(target.size):
        target[i] = value


@fast
def fill_table(target, value):
    """Set every line of a table to a number."""
    for i in range(target.shape[0]):
        fill(target[i], value)
