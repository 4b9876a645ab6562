"""What several laws say of all that may be asked: where selectors that compare laws begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.ports import Forecast
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Pool
from alder.selection.coverage import Coverage, coverage_of
from alder.selection.feasible import feasible
from alder.selection.noise import likeliest, unit_of
from alder.selection.spread import Ensemble, Spread, assemble, measure


@final
@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """The experiments that may be chosen, and how far the laws disagree about each.

    `n_forecasts` counts the numbers that all laws together forecast of one experiment.
    """

    pool: Pool
    positions: NDArray[np.intp]
    ensemble: Ensemble
    spread: Spread
    coverage: Coverage
    n_forecasts: int


def survey(
    candidates: Sequence[Candidate], evidence: Evidence, forecast: Forecast, least_sigmas: float
) -> Survey | None:
    """Compare the laws on every safe experiment; None where none takes two of them apart.

    That is, where no law is further than `least_sigmas` noise standard deviations from the
    likeliest one, or nothing is left to choose.
    """
    pool = forecast.pool()
    positions = feasible(pool, evidence)
    if not len(positions):
        return None
    centre = likeliest(candidates)
    ensemble = assemble(tuple(candidates), centre, unit_of(centre.law, evidence))
    spread = measure(ensemble, forecast, positions)
    if not spread.sigmas.max() > least_sigmas:
        return None
    n_outputs = forecast.predict(centre.law, positions[:1]).size
    coverage = coverage_of(pool, positions, evidence)
    return Survey(pool, positions, ensemble, spread, coverage, n_outputs * len(candidates))
