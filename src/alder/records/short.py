"""Short numbers: decimals of few digits and simple fractions near a measured one."""

import math
from functools import lru_cache
from typing import NamedTuple

# The chance that a short number lies this close by accident must stay below this.
_ACCIDENT = 0.02
_MOST_DIGITS = 9
_DENOMINATORS = (3, 6, 7, 9, 11, 12)
_BITS_PER_DIGIT = math.log2(10.0)
FREE_BITS = 50.0


class Short(NamedTuple):
    """A short number and how many bits it takes to write."""

    value: float
    bits: float


def shorten(value: float, tolerance: float) -> Short | None:
    """Return the shortest number within a relative tolerance; None where none is convincing.

    >>> shorten(0.29999999999, 1e-9).value, shorten(1 / 3 + 1e-13, 1e-11).value
    (0.3, 0.3333333333333333)
    """
    if value == 0.0 or not math.isfinite(value):
        return None
    found: list[Short] = []
    for digits in range(1, _MOST_DIGITS + 1):
        if tolerance * 10.0**digits > _ACCIDENT:
            break
        rounded = float(f"{value:.{digits - 1}e}")
        if abs(rounded - value) <= tolerance * abs(value):
            found.append(Short(rounded, 2.0 + _BITS_PER_DIGIT * digits))
            break
    for below in _DENOMINATORS:
        above = round(value * below)
        if above == 0 or abs(above) > 999 or tolerance * abs(above) * below * 10 > _ACCIDENT:
            continue
        if abs(above / below - value) <= tolerance * abs(value):
            bits = 4.0 + math.log2(abs(above) + 1) + math.log2(below)
            found.append(Short(above / below, bits))
            break
    return min(found, key=lambda short: short.bits, default=None)


@lru_cache(maxsize=65536)
def bits_of(value: float) -> float:
    """Return how many bits a number takes that is written as it is."""
    for digits in range(1, _MOST_DIGITS + 1):
        if float(f"{value:.{digits - 1}e}") == value:
            return 2.0 + _BITS_PER_DIGIT * digits
    for below in _DENOMINATORS:
        above = round(value * below)
        if abs(above) <= 999 and above / below == value:
            return 4.0 + math.log2(abs(above) + 1) + math.log2(below)
    return FREE_BITS
