"""Noise: what no law explains is larger than was asked for, and shows no structure."""

import math

from alder.diagnosis.signs import NOISY, SHOWN, Sign
from alder.diagnosis.view import View
from alder.fitting.residuals import STRUCTURE
from alder.records.nextstep import NextStep
from alder.records.outcome import Cause

_CAUSE: Cause = "noise"
# Averages should leave half of the error that is asked for.
_MARGIN = 2.0
# A law that explains less than this share of the variance is not seen at all.
_LEAST_SEEN = 0.02


def noisy(view: View) -> Sign:
    """Compare what is left over with what was asked for, or with the variance of the target."""
    if view.best is None or view.best.fit is None:
        return Sign(_CAUSE, "No law was fitted, so nothing is left over.", is_made=False)
    share = f"{100 * min(view.error, 1.0):.3g} %"
    limit = NOISY if view.accuracy is None else view.accuracy
    if view.error < limit:
        return Sign(_CAUSE, f"The best law leaves {share} of the variance unexplained.")
    if _has_structure(view):
        return Sign(_CAUSE, f"The {share} of the variance that is left over shows structure.")
    repeats = _repeats(view)
    asked = "" if view.accuracy is None else f", where {100 * view.accuracy:.3g} % was asked for,"
    return Sign(
        _CAUSE,
        f"What no law explains is {share} of the variance{asked} and shows no structure.",
        f"Average about {repeats} repeats of each experiment, or measure more precisely.",
        NextStep("repeat", settings={"repeats": repeats}),
    )


def _has_structure(view: View) -> bool:
    if view.left is not None:
        return view.left.pattern.share >= SHOWN
    misfits = view.best.misfits if view.best is not None else ()
    return bool(misfits) and misfits[0].strength >= STRUCTURE


def _repeats(view: View) -> int:
    r"""Return how many repeats bring the noise down to what was asked for.

    With a noise share $\eta$ of the variance, $m$ repeats leave $\eta / m$. Without a wish, repeats
    are to leave as much noise as a quarter of what the law explains, $1 - \eta$ corrected for the
    number of its coefficients.
    """
    assert view.best is not None
    assert view.best.fit is not None
    if view.accuracy is not None:
        return max(2, math.ceil(_MARGIN * view.error / view.accuracy))
    fit = view.best.fit
    df = max(fit.residual_df, 1)
    noise = min(1.0, fit.nmse * (fit.n_rows - 1) / df)
    return math.ceil(4.0 * noise / max(1.0 - noise, _LEAST_SEEN))
