"""Score what a method ended with, on rows that took no part in anything before."""

from collections.abc import Callable
from typing import Any

from alder.arrays import FloatArray
from alder.bench.benchmark import Row
from alder.bench.novellaw.domains import TARGET, Columns
from alder.bench.novellaw.library import error_of
from alder.bench.novellaw.variation import Case

RECOVERED, STRICT = 1e-3, 1e-5
"""Functional NMSE below which a law is recovered, and below which no wrong structure comes."""

Predict = Callable[[Columns], FloatArray]


def passes(case: Case, predict: Predict) -> bool:
    """Say whether predictions pass the fixed limits.

    Rivals state no noise and need be no laws of the grammar, so that limits are all they can be
    asked for, whatever the gate of a study is.
    """
    limits = case.limits
    assert limits.shift_nmse is not None
    return (
        _error(case, "admission", predict) <= limits.admission_nmse
        and _error(case, "shift", predict) <= limits.shift_nmse
    )


def score(case: Case, predict: Predict | None, *, admitted: bool) -> Row:
    """Return the errors on noiseless rows, and what they mean.

    Recovery requires admission. An admitted law whose functional error exceeds 1e-3 is wrong. A
    method that ended without any law has no errors: it counts as infinitely wrong.
    """
    functional = None if predict is None else _error(case, "functional", predict)
    shift = None if predict is None else _error(case, "shift-score", predict)
    return {
        "admitted": admitted,
        "functional_nmse": functional,
        "shift_nmse": shift,
        "recovered_1e3": admitted and functional is not None and functional < RECOVERED,
        "recovered_1e5": admitted and functional is not None and functional < STRICT,
        "wrong_admitted": admitted and not (functional is not None and functional < RECOVERED),
    }


def describe(case: Case) -> dict[str, Any]:
    """Return what a row says about its case; never the target."""
    draw = case.draw
    return {
        "split": draw.place.split,
        "recipe": str(draw.place.recipe),
        "depth": draw.target.depth,
        "n_draws": 1 + len(case.kept.rejected),
        "library_nmse": case.kept.library_nmse,
    }


def _error(case: Case, role: str, predict: Predict) -> float:
    rows = case.rows[role]
    return min(error_of(predict(rows), rows[TARGET.name]), 1e30)
