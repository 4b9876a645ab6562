# pyright: basic
"""How kernel functions are compiled, and when a cached compilation is still good.

numba caches a function by the file it stands in, and does not see that a function it calls in
another file has changed. Here every cached function carries one stamp over all kernel sources, so
that a changed kernel is compiled anew as a whole.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

import alder.expr.operators

# contract fuses multiply and add, arcp turns repeated divisions into products. Neither reorders
# a sum; reassoc does, and is only for dot products: it silently breaks the polynomial functions.
_STRICT: dict[str, Any] = {"error_model": "numpy", "nogil": True}
_FAST = {**_STRICT, "fastmath": {"contract", "arcp"}}
_REORDERED = {**_STRICT, "fastmath": {"contract", "arcp", "reassoc", "nsz"}}
_INLINE = {"error_model": "numpy", "fastmath": {"contract"}, "inline": "always"}


@functools.cache
def source_stamp() -> str:
    """Return a digest of everything a compiled kernel depends on."""
    digest = hashlib.sha256(Path(alder.expr.operators.__file__).read_bytes())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _cached(function: Callable[..., Any], options: dict[str, Any]) -> Any:  # noqa: ANN401
    dispatcher = njit(cache=True, **options)(function)
    # Private to numba, and stable since 2016; were it renamed, caching goes on with numba's own
    # stamp, which is right for everybody who does not edit the kernel.
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if index is not None:
        index._source_stamp = source_stamp()
    return dispatcher


def strict(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile with IEEE arithmetic as written."""
    return _cached(function, _STRICT)


def fast(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile with fused multiply-add, for the loops over a block of rows."""
    return _cached(function, _FAST)


def reordered(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile with free summation order, for dot products only."""
    return _cached(function, _REORDERED)


def inline(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile into every caller, for scalar functions inside vector loops."""
    return njit(**_INLINE)(function)


def is_cached(dispatcher: Any) -> bool:  # noqa: ANN401
    """Say whether a compilation of this function, from these sources, is on disk."""
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    return index is not None and bool(index._load_index())
