"""One law is left: nothing is to be told apart, but there is something to learn about it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from alder.ports import Forecast
from alder.records.evidence import Candidate, Choice, Evidence
from alder.selection.baselines import FarthestPoint, sharpen
from alder.selection.batch import Weights

LEAST_SIGMAS = 0.5
"""Below this many noise standard deviations an experiment is said to separate nothing: sixteen
repetitions would bring the likelier of two laws ahead by two standard deviations only."""


def about_one(
    candidates: Sequence[Candidate],
    evidence: Evidence,
    forecast: Forecast,
    n: int,
    rng: np.random.Generator,
) -> tuple[Choice, ...]:
    """Choose what tells most about the only candidate; none where there is no candidate.

    That is where its coefficients may still move it. Where they are known so well that they move
    it by less than `LEAST_SIGMAS` everywhere, only the form can be wrong, which shows far from the
    rows: the farthest experiments are chosen. The reasons say so.
    """
    if not candidates:
        return ()
    (only,) = candidates
    found = sharpen(only, evidence, forecast, n, Weights())
    if found and found[0][1] > LEAST_SIGMAS:
        choices, why = tuple(choice for choice, _ in found), f"only {only.label} is left"
    else:
        choices = FarthestPoint().select(candidates, evidence, forecast, n, rng)
        why = f"only {only.label} is left and its coefficients are known"
    return tuple(replace(choice, reason=f"{why}: {choice.reason}") for choice in choices)
