r"""Coefficients written as the short numbers that the rows leave room for.

$v$ are the coefficients, $C$ their covariance where all that stays as it is, such as an exponent
read off the rows, is held. Numbers $v_F + \delta$ are short ones, each inside its own interval;
together they must be as likely,

$$\delta^\top C_{FF}^{-1} \delta \le \chi^2_{95\%}(|F|) ,$$

and the others move with them, $v_U + C_{UF} C_{FF}^{-1} \delta$.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.records.coefficient import Coefficient
from alder.records.short import shorten

_LEVEL = 0.05
_INSIDE = 1e-12  # of a number: an interval of no width holds what is written the same


def tidied(
    coefficients: Sequence[Coefficient], covariance: FloatArray
) -> tuple[tuple[Coefficient, ...], FloatArray]:
    """Return the coefficients with short numbers, fixed, and the covariance that is left.

    Rows of the covariance beyond the coefficients stand for what else is not known.
    """
    movable = [place for place, one in enumerate(coefficients) if one.state == "free"]
    told = np.isfinite(covariance)
    C = _Scaled.of(np.where(told, covariance, 0.0))
    held = C.given([place for place in range(len(covariance)) if place not in movable])
    short = {
        place: found
        for place in movable
        if (found := _short(coefficients[place], held.share(C, place))) is not None
    }
    while short:
        places = sorted(short)
        delta = np.array([short[i] - coefficients[i].value for i in places])
        shifts, rise = held.moved(places, delta)
        if rise <= _limit(len(places)):
            left = np.where(told, C.given(places).covariance(), covariance)
            return _fixed(coefficients, left, short, shifts), left
        own = np.abs(delta) / held.errors(places)
        del short[places[int(np.argmax(own))]]
    return tuple(coefficients), covariance


def _short(one: Coefficient, share: float) -> float | None:
    """Return a short number within this share of the interval."""
    half = (one.upper - one.lower) / 2.0 * share
    if not (np.isfinite(half) and one.value):
        return None
    found = shorten(one.value, max(half / abs(one.value), _INSIDE))
    return None if found is None else found.value


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Scaled:
    """A covariance as errors and correlations, whose sizes are comparable in any units."""

    scale: FloatArray
    correlations: FloatArray

    @staticmethod
    def of(covariance: FloatArray) -> "_Scaled":
        scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        scale = np.where(scale > 0.0, scale, 1.0)
        return _Scaled(scale, covariance / np.outer(scale, scale))

    def covariance(self) -> FloatArray:
        return self.correlations * np.outer(self.scale, self.scale)

    def errors(self, places: Sequence[int]) -> FloatArray:
        own = np.maximum(np.diag(self.correlations)[list(places)], 1e-300)
        return np.sqrt(own) * self.scale[list(places)]

    def share(self, other: "_Scaled", place: int) -> float:
        """Return the error of one number in those of another covariance, at most one."""
        own, whole = self.errors([place])[0], other.errors([place])[0]
        return min(float(own / whole), 1.0)

    def given(self, places: Sequence[int]) -> "_Scaled":
        """Return what is left where some numbers are known."""
        R, at = self.correlations, list(places)
        left = R - R[:, at] @ _solve(R[np.ix_(at, at)], R[at, :])
        left[at, :] = left[:, at] = 0.0
        return _Scaled(self.scale, left)

    def moved(self, places: Sequence[int], delta: FloatArray) -> tuple[FloatArray, float]:
        """Return how all numbers move with some, and how much less likely that is, as chi2."""
        R, at = self.correlations, list(places)
        units = delta / self.scale[at]
        pull = _solve(R[np.ix_(at, at)], units)
        return self.scale * (R[:, at] @ pull), float(units @ pull)


def _solve(A: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(A, b, rcond=1e-14)[0], dtype=np.float64)


def _fixed(
    coefficients: Sequence[Coefficient],
    left: FloatArray,
    short: dict[int, float],
    shifts: FloatArray,
) -> tuple[Coefficient, ...]:
    """Fix the short numbers; the others move, and are better known."""
    found: list[Coefficient] = []
    for place, one in enumerate(coefficients):
        if place in short:
            value = short[place]
            found.append(replace(one, value=value, standard_error=0.0, lower=value, upper=value,
                                 state="fixed"))  # fmt: skip
            continue
        value = one.value + float(shifts[place])
        error = float(np.sqrt(max(left[place, place], 0.0)))
        half = (one.upper - one.lower) / 2.0 * (error / (one.standard_error or np.inf))
        found.append(
            replace(one, value=value, standard_error=error, lower=value - half, upper=value + half)
            if one.state == "free" and np.isfinite(half)
            else one
        )
    return tuple(found)


def _limit(n: int) -> float:
    from scipy.stats import chi2  # pyright: ignore[reportMissingTypeStubs]

    return float(cast("Any", chi2).isf(_LEVEL, n))
