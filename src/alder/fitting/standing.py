r"""Does a law still hold on new rows? Errors against the noise and the known coefficients."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.consistency import chi_square_p, errors_of
from alder.errors import BadParameter, BadTable
from alder.records.law import Law
from alder.segments import observation_names, only_whole
from alder.tables import Rows, as_columns

# A law that holds is called broken once in a hundred checks.
LEVEL = 0.01
# Each variable's rows are cut into thirds; a third of fewer rows says little about a region.
_FEWEST = 5


@final
@dataclass(frozen=True, slots=True)
class Region:
    """A third of the rows by one variable, and its rms error in units of the noise."""

    name: str
    low: float
    high: float
    ratio: float


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """What new rows say about a law.

    `ratio` is the rms error in units of the noise, `bias` the mean error and `bias_score` the same
    in standard errors. `p_value` is how often a law that holds would do worse.
    """

    holds: bool
    n_judged: int
    n_outside: int
    n_missing: int
    rms: float
    ratio: float
    bias: float
    bias_score: float
    p_value: float
    worst: Region | None


def judge(law: Law, rows: Rows, *, sigma: str | None = None, sums: str | None = None) -> Standing:
    r"""Compare errors on new rows with the law's noise and coefficient covariance.

    $$\chi^2 = e^\top (D + J C J^\top)^{-1} e$$

    $e$ are the errors on the $n$ rows in scope, $D$ the variances of the noise (or of the error
    bars in column `sigma`), $J$ the derivatives by the coefficients and $C$ their covariance,
    which correlates the errors. $\chi^2/n$ is compared with the F distribution of $n$ and
    `residual_df` degrees of freedom, since the noise was itself estimated; with the $\chi^2$
    distribution where it was given. `sums` names the column that says which observation a row
    belongs to, where targets are sums over rows; all rows of an observation must be in scope.
    """
    if law.objective == "events":
        raise BadParameter(
            "A law of events has no noise to compare with; predict the rows and count the hits."
        )
    names = [variable.name for variable in law.variables]
    wanted = [*names, law.target.name, *([sigma] if sigma else [])]
    columns = as_columns(rows, wanted)
    belongs = None if sums is None else observation_names(rows, sums)
    complete = np.all([~np.isnan(columns[name]) for name in wanted], axis=0)
    complete = only_whole(belongs, complete)
    columns = {name: column[complete] for name, column in columns.items()}
    belongs = None if belongs is None else belongs[complete]
    n_complete = int(complete.sum())
    inside = np.broadcast_to(law.scope.contains(columns), (n_complete,))
    inside = only_whole(belongs, inside)
    if not inside.any():
        raise BadTable(
            f"None of the {n_complete} complete rows lies in the law's scope; it cannot be judged."
        )
    if sigma and not (columns[sigma] > 0.0).all():
        raise BadTable(f"Error bars must be positive; column `{sigma}` has others.")
    judged = {name: column[inside] for name, column in columns.items()}
    errors = errors_of(
        law,
        judged,
        sigma=judged[sigma] if sigma else None,
        sums=None if belongs is None else belongs[inside],
    )
    error, noise, A = errors.error, errors.noise, errors.spread
    p_value = chi_square_p(errors)
    spread = float(np.sqrt(np.sum(np.square(noise)) + np.sum(np.square(noise @ A))))
    return Standing(
        holds=p_value >= LEVEL,
        n_judged=len(error),
        n_outside=n_complete - int(inside.sum()),
        n_missing=int((~complete).sum()),
        rms=float(np.sqrt(np.mean(np.square(error)))),
        ratio=_rms(error / noise),
        bias=float(np.mean(error)),
        bias_score=float(np.sum(error)) / spread,
        p_value=p_value,
        worst=_worst({n: errors.segments.mean(judged[n]) for n in names}, error / noise),
    )


def _rms(z: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(z))))


def _worst(columns: Mapping[str, FloatArray], z: FloatArray) -> Region | None:
    """Return the third of a variable's rows in which the errors are largest."""
    regions: list[Region] = []
    for name, column in columns.items():
        edges = np.quantile(column, [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0])
        for low, high in pairwise(edges):
            rows: npt.NDArray[np.bool_] = (column >= low) & (column <= high)
            if low < high and int(rows.sum()) >= _FEWEST:
                regions.append(Region(name, float(low), float(high), _rms(z[rows])))
    return max(regions, key=lambda region: region.ratio, default=None)
