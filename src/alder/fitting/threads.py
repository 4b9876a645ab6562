"""How many threads fits and matrix products may use: all cores, or fewer within a block."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, cast

_LIMIT: ContextVar[int | None] = ContextVar("alder_threads", default=None)


def n_threads() -> int:
    """Return how many threads a fit may use."""
    return _LIMIT.get() or os.cpu_count() or 1


@contextmanager
def limit_threads(limit: int) -> Generator[None]:
    """Keep every fit within the block to so many threads; results do not depend on it."""
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def limit_matrix_threads(limit: int) -> Generator[None]:
    """Keep matrix products within the block to so many threads.

    Sums are rounded in another order with every number of threads. Where a choice hangs on the last
    digit, one thread gives the same answer on a computer of any size.
    """
    with cast("Any", import_module("threadpoolctl")).threadpool_limits(limit):
        yield
