r"""Coefficients written as the short numbers that the rows leave room for.

$v$ are the coefficients, $C$ their covariance. Numbers $v_F + \delta$ are short ones, each inside
its own interval; together they must be as likely,

$$\delta^\top C_{FF}^{-1} \delta \le \chi^2_{95\%}(|F|) ,$$

and the others move with them, $v_U + C_{UF} C_{FF}^{-1} \delta$.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

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
    short = {
        place: found
        for place, one in enumerate(coefficients)
        if one.state == "free" and (found := _short(one)) is not None
    }
    while short:
        places = sorted(short)
        delta = np.array([short[i] - coefficients[i].value for i in places])
        C_FF = covariance[np.ix_(places, places)]
        pull = np.asarray(np.linalg.lstsq(C_FF, delta, rcond=1e-14)[0], dtype=np.float64)
        if float(delta @ pull) <= _limit(len(places)):
            return _fixed(coefficients, covariance, short, pull)
        own = np.square(delta) / np.maximum(np.diag(C_FF), 1e-300)
        del short[places[int(np.argmax(own))]]
    return tuple(coefficients), covariance


def _short(one: Coefficient) -> float | None:
    half = (one.upper - one.lower) / 2.0
    if not (np.isfinite(half) and one.value):
        return None
    found = shorten(one.value, max(half / abs(one.value), _INSIDE))
    return None if found is None else found.value


def _fixed(
    coefficients: Sequence[Coefficient],
    covariance: FloatArray,
    short: dict[int, float],
    pull: FloatArray,
) -> tuple[tuple[Coefficient, ...], FloatArray]:
    """Fix the short numbers; the others move, and are better known."""
    places = sorted(short)
    across = covariance[:, places]
    known = np.linalg.lstsq(covariance[np.ix_(places, places)], across.T, rcond=1e-14)[0]
    left = covariance - across @ known
    left[places, :] = left[:, places] = 0.0
    shifts = across @ pull
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
    return tuple(found), left


def _limit(n: int) -> float:
    from scipy.stats import chi2  # pyright: ignore[reportMissingTypeStubs]

    return float(cast("Any", chi2).isf(_LEVEL, n))
