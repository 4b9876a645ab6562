r"""Numeric fingerprint: algebraically equal laws collide, others do not.

A law is evaluated at fixed pseudo-random points, drawn for each name from the name itself, and
the values are rounded to 27 bits (eight decimal digits). Equal functions that no rewriting rule
of `canonical` connects, such as $e^a e^b$ and $e^{a+b}$, get one fingerprint. Laws that differ only
outside the sampled ranges also do: compare digests first where that matters.
"""

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import assert_never

import numpy as np

from alder.arrays import FloatArray, freeze
from alder.expr.evaluate import DEFAULT_FLOORS
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import Floors, saturate

# The bits that stay: eight digits are far above rounding errors and far below any difference
# between laws one would tell apart.
_BITS = 27
# Half-widths, in decades about one, of the points of either sign; and how many of each kind.
# Positive points keep roots and logarithms apart, wide ones see clipping and saturation.
_POSITIVE, _MIXED, _WIDE = 8, 28, 28
_NARROW_DECADES, _WIDE_DECADES = 0.5, 2.5


def fingerprint(expr: Expr, floors: Floors = DEFAULT_FLOORS) -> bytes:
    """Return 16 bytes that depend only on the function a law is, up to rounding.

    >>> from alder.expr.text import parse
    >>> one, other = (parse(t, ["x"]) for t in ("sin(x)^2 + cos(x)^2", "1"))
    >>> fingerprint(one) == fingerprint(other)
    True
    """
    with np.errstate(all="ignore"):
        # Saturation costs as much as all the rest and is hardly ever reached.
        values = _value(expr, floors, _as_it_is)
        if not np.isfinite(values).all():
            values = _value(expr, floors, lambda unbounded: saturate(unbounded, floors))
        mantissas, exponents = np.frexp(values)
        rounded = np.ldexp(np.rint(np.ldexp(mantissas, _BITS)), exponents - _BITS)
    # Adding zero makes the two zeros one.
    return blake2b((rounded + 0.0).tobytes(), digest_size=16).digest()


@lru_cache(maxsize=4096)
def _points(name: str) -> FloatArray:
    """Return what a variable or parameter is worth: positive, then mixed, then wide points."""
    seed = sha256(name.encode("utf-8", "surrogatepass")).digest()
    rng = np.random.default_rng(int.from_bytes(seed[:8], "big"))
    narrow = rng.uniform(-_NARROW_DECADES, _NARROW_DECADES, _POSITIVE + _MIXED)
    wide = rng.uniform(-_WIDE_DECADES, _WIDE_DECADES, _WIDE)
    signs = rng.choice([-1.0, 1.0], _POSITIVE + _MIXED + _WIDE)
    signs[:_POSITIVE] = 1.0
    return freeze(signs * 10.0 ** np.concatenate([narrow, wide]))


@lru_cache(maxsize=4096)
def _constant(value: float) -> FloatArray:
    return freeze(np.full(_POSITIVE + _MIXED + _WIDE, value))


def _value(expr: Expr, floors: Floors, settle: Callable[[FloatArray], FloatArray]) -> FloatArray:
    match expr:
        case Const(value):
            return _constant(value)
        case Param(name):
            return _points(f"param {name}")
        case Var(name):
            return _points(f"var {name}")
        case Apply(operator, arguments):
            values = tuple([_value(argument, floors, settle) for argument in arguments])
            return settle(operator.value(values, floors))
        case _:
            assert_never(expr)


def _as_it_is(values: FloatArray) -> FloatArray:
    return values
