"""Numbers and units as the page shows them: what is known in ink, open digits lighter."""

import math
import re
from html import escape

from alder.export.heading import unit_words
from alder.records.coefficient import Coefficient
from alder.records.rounding import decimals, format_rounded

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
NO_BREAK = "\u00a0"


def minus(text: str) -> str:
    """Write a true minus sign in front of digits.

    >>> minus("-1.5e-3")
    '−1.5e−3'
    """
    return re.sub(r"-(?=[\d.])", "−", text)


def prose(text: str) -> str:
    """Write a sentence as HTML: names in backticks as code, true minus signs before numbers.

    >>> prose("`a<b` stayed between -1 and 2 in x^-2")
    '<code>a&lt;b</code> stayed between −1 and 2 in x^-2'
    """
    coded = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"(?<![\w^*/(])-(?=[\d.])", "−", coded)


def short(value: float, digits: int = 3) -> str:
    """Write a number with a few significant digits, a true minus sign and no useless exponent.

    >>> short(-0.03417), short(12345.0), short(4.0)
    ('−0.0342', '12300', '4')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else minus("-∞") if value < 0 else "?"
    if value and not 1e-4 <= abs(value) < 1e6:
        return minus(f"{value:.{digits - 1}e}")
    if value == 0.0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, places):.{max(places, 0)}f}"
    return minus(text.rstrip("0").rstrip(".") if "." in text else text)


def unit_text(unit: str | None) -> str:
    """Write a unit as plain text with raised digits: `m/s²`; nothing for a pure number.

    >>> unit_text("m/s^2"), unit_text("1")
    ('m/s²', '')
    """
    if unit in (None, "1"):
        return ""
    words = unit_words(str(unit))
    return re.sub(r"\^(-?\d+)(?![\d.])", lambda m: m[1].translate(_RAISED), words)


def with_unit(text: str, unit: str | None) -> str:
    """Join a number and its unit by a no-break space."""
    word = unit_text(unit)
    return f"{text}{NO_BREAK}{word}" if word else text


def unit_html(unit: str | None) -> str:
    """Write a unit as HTML; broken exponents are raised too."""
    raised = re.sub(r"\^(-?[\d.]+)", r"<sup>\1</sup>", escape(unit_text(unit)))
    return raised.replace("<sup>-", "<sup>−") or "—"


def estimate_html(coefficient: Coefficient) -> str:
    """Write an estimate; digits that its 95 % interval leaves open are lighter."""
    half = (coefficient.upper - coefficient.lower) / 2.0
    text = minus(format_rounded(coefficient.value, decimals(coefficient.value, half)))
    if coefficient.state != "free" or not math.isfinite(half) or "e" in text:
        return f"<b>{escape(text)}</b>"
    # The last two digits are those of the half-width.
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    cut = digits[-2] if len(digits) > 2 and half > 0.0 else len(text)
    return f'<b>{text[:cut]}<span class="unc">{text[cut:]}</span></b>'


def relative(coefficient: Coefficient) -> float | None:
    """Return the half-width of the 95 % interval over the estimate, where both make sense."""
    half = (coefficient.upper - coefficient.lower) / 2.0
    if coefficient.state != "free" or not math.isfinite(half) or coefficient.value == 0.0:
        return None
    return half / abs(coefficient.value)


def sigmas(value: float) -> str:
    """Write a miss in sd, rounded down, so that 3.99 never reads as 4.

    >>> sigmas(3.99), sigmas(41.7)
    ('3.9', '41')
    """
    if not math.isfinite(value):
        return "∞"
    return f"{math.floor(10.0 * value) / 10.0:.1f}" if value < 10.0 else f"{math.floor(value)}"
