"""Brent's method as a conversation: it says where to look, and is told what was found there."""

from collections.abc import Generator

# Shares of the first bracket at which two actions are the same.
_FINEST = 1e-13


def brent(a: float, fa: float, b: float, fb: float) -> Generator[float, float, None]:
    """Look for a root between two places where a function differs in sign.

    Yields a place and is sent the value there; who asks decides when it is near enough. Inverse
    quadratic interpolation or the secant where they shrink the bracket fast enough, bisection
    otherwise, so that no function takes more than the square of bisection's steps. (Brent 1973.)

    >>> looking = brent(0.0, -2.0, 2.0, 2.0)
    >>> x = next(looking)
    >>> for _ in range(8):
    ...     x = looking.send(x * x - 2.0)
    >>> round(x, 6)
    1.414214
    """
    finest = _FINEST * abs(b - a)
    if abs(fa) < abs(fb):
        a, fa, b, fb = b, fb, a, fa
    c, fc, d = a, fa, b - a
    bisected = True
    while fb != 0.0 and abs(b - a) > finest:
        s = _interpolated(a, fa, b, fb, c, fc)
        before = abs(b - c) if bisected else abs(c - d)
        between = min((3.0 * a + b) / 4.0, b) < s < max((3.0 * a + b) / 4.0, b)
        bisected = not between or abs(s - b) >= before / 2.0 or before < finest
        if bisected:
            s = (a + b) / 2.0
        fs = yield s
        d, c, fc = c, b, fb
        if (fa < 0.0) != (fs < 0.0):
            b, fb = s, fs
        else:
            a, fa = s, fs
        if abs(fa) < abs(fb):
            a, fa, b, fb = b, fb, a, fa


def _interpolated(a: float, fa: float, b: float, fb: float, c: float, fc: float) -> float:
    """Return where a parabola or a line through the places has its root."""
    if fc not in (fa, fb):
        return (
            a * fb * fc / ((fa - fb) * (fa - fc))
            + b * fa * fc / ((fb - fa) * (fb - fc))
            + c * fa * fb / ((fc - fa) * (fc - fb))
        )
    return b - fb * (b - a) / (fb - fa)
