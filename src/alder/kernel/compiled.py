# pyright: basic
"""How kernel functions are compiled, and when a cached compilation is still good.

numba caches a function by the file it stands in, and does not see that a function it calls in
another file has changed. Here every cached function carries one stamp over all kernel sources, so
that a changed kernel is compiled anew as a whole.
"""

import functools
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

import alder.expr.operators

# contract fuses multiply and add, arcp turns repeated divisions into products. Neither reorders
# a sum; reassoc does, and is only for dot products: it silently breaks the polynomial functions.
_STRICT: dict[str, Any] = {"error_model": "numpy", "nogil": True}
_FAST = {**_STRICT, "fastmath": {"contract", "arcp"}}
_REORDERED = {**_STRICT, "fastmath": {"contract", "arcp", "reassoc", "nsz"}}
# Only what Python calls is cached and gets a Python wrapper: wrappers that unpack records of
# arrays took half of the compilation.
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_BARE: dict[str, Any] = {"_nrt": False, "forceinline": True}
_INLINE = {"error_model": "numpy", "fastmath": {"contract"}, "inline": "always"}


@functools.cache
def source_stamp() -> str:
    """Return a digest of everything a compiled kernel depends on."""
    digest = hashlib.sha256(Path(alder.expr.operators.__file__).read_bytes())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:  # noqa: ANN401
    dispatcher = njit(cache=True, **options)(function)
    # Private to numba, and stable since 2016; were it renamed, caching goes on with numba's own
    # stamp, which is right for everybody who does not edit the kernel.
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if index is not None:
        index._source_stamp = source_stamp()
    return dispatcher


def entry(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile what Python calls, and keep the compilation on disk."""
    return _kept(function, _STRICT)


def entry_fast(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile like `fast`, and keep the compilation on disk."""
    return _kept(function, _FAST)


def opaque(symbol: str, signature: Any) -> Any:  # noqa: ANN401
    """Return a stand-in that compiled code calls by symbol, without compiling the body again.

    `bind` must give the symbol an address before any caller is compiled or loaded.
    """

    def call(context: Any, *arguments: Any) -> Any:  # noqa: ANN401
        def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
            kind = target.call_conv.get_function_type(types.none, signature.args)
            function = cgutils.get_or_insert_function(builder.module, kind, symbol)
            target.call_conv.call_function(builder, function, types.none, signature.args, values)
            return target.get_dummy_value()

        return signature, generate

    names = [f"a{i}" for i in range(len(signature.args))]
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name in ("context", *names)
        ]
    )
    return intrinsic(call)


def bind(symbol: str, dispatcher: Any, signature: Any) -> None:  # noqa: ANN401
    """Compile a function for this signature, or load it, and give its address to the linker."""
    dispatcher.compile(signature.args)
    compiled = dispatcher.overloads[signature.args]
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    llvmlite.binding.add_symbol(symbol, address)


def strict(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile with IEEE arithmetic as written."""
    return njit(**_STRICT, **_INNER)(function)


def bare(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile like `strict`, as a part of what calls it; nothing may be allocated inside.

    A call hands every array over as seven words and counts references to it, which takes longer
    than a short function itself.
    """
    return njit(**_STRICT, **_INNER, **_BARE)(function)


def fast(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile with fused multiply-add, for the loops over a block of rows."""
    return njit(**_FAST, **_INNER)(function)


def reordered(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile with free summation order, for dot products only."""
    return njit(**_REORDERED, **_INNER)(function)


def inline(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile into every caller, for scalar functions inside vector loops."""
    return njit(**_INLINE)(function)


def is_cached(dispatcher: Any) -> bool:  # noqa: ANN401
    """Say whether a compilation of this function, from these sources, is on disk."""
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    return index is not None and bool(index._load_index())
