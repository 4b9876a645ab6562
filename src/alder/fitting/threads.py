"""How many threads fits may use when nobody says: all cores, or fewer within a block."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

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
