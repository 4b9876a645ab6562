"""How many digits of a number are shown: two digits of its 95 % half-width."""

import math

# Rounding noise of a fit to exact data is not worth showing.
_MOST_DIGITS = 8
# Without a half-width (a fixed value, or one the rows do not determine).
_DIGITS_WITHOUT = 6
_DIGITS_UNDETERMINED = 3
# Beyond these powers of ten a number is written with an exponent.
_SMALLEST, _LARGEST = -4, 7


def decimals(value: float, half_width: float) -> int:
    """Return the number of decimals to which a value is rounded; negative left of the point.

    >>> decimals(1.5001, 0.027), decimals(15310.0, 240.0)
    (3, -1)
    """
    magnitude = _magnitude(value)
    if half_width == 0.0:
        return _DIGITS_WITHOUT - 1 - magnitude
    if not math.isfinite(half_width):
        return _DIGITS_UNDETERMINED - 1 - magnitude
    return min(1 - _magnitude(half_width), _MOST_DIGITS - 1 - magnitude)


def format_rounded(value: float, places: int) -> str:
    """Write a value with that many decimals, with an exponent where it is long otherwise.

    >>> format_rounded(1.5, 3), format_rounded(6.674e-11, 14), format_rounded(15310.0, -1)
    ('1.500', '6.674e-11', '15310')
    """
    if not math.isfinite(value):
        return f"{value:g}"
    magnitude = _magnitude(value)
    if value and not _SMALLEST <= magnitude < _LARGEST:
        return f"{value:.{max(places + magnitude, 0)}e}"
    return f"{round(value, places):.{max(places, 0)}f}"


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0
