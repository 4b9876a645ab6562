r"""The error a law would make on rows it was not fitted to, where nobody set such rows apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.nodes import parameters
from alder.fitting.many import fit_many
from alder.records.effort import FULL
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal
from alder.segments import Segments
from alder.tables import drop_missing

FOLDS = 5
FEWEST = 2 * FOLDS
"""With fewer rows a fold would hold a single one."""
# Fitting k coefficients to n rows makes the error of the fit too small by a factor of about
# 1 - 2 k / n (Akaike); beyond this many rows a coefficient that is under one percent, and the fit
# need not be repeated to know it.
_FEW_PER_COEFFICIENT = 200
_SEED = 20261116


@final
@dataclass(frozen=True, slots=True)
class HeldOut:
    """The error on rows a law was not fitted to, over the target's variance.

    `folds` counts the parts that were left out in turn; 0 where validation rows were given.
    """

    nmse: float
    folds: int


def held_out_error(
    proposal: Proposal, values: Mapping[str, float], evidence: Evidence
) -> HeldOut | None:
    r"""Return the error of a fitted law on rows it was not fitted to, where that can be said.

    $$\mathrm{NMSE} = \frac{\sum_i (y_i - f_{-i}(x_i))^2}{\sum_i (y_i - \bar y)^2}$$

    $f$ has the coefficients `values` on validation rows, where such were given. Otherwise, with few
    rows, $f_{-i}$ is the same structure fitted without the part that row $i$ belongs to: whole
    groups where rows have groups, else blocks of time where they have a time, else a fifth of the
    rows at random. The offset of a group is no part of a law and does not count as its error. None
    with many rows, where the error of the fit says the same, and with too few to leave some out.
    """
    target, floors = evidence.grammar.target.name, evidence.grammar.floors
    if evidence.validation is not None:
        rows = evidence.validation.columns
        segments = segments_of(rows, evidence)
        said = segments.total(evaluate(proposal.structure, rows, values, floors))
        y = segments.first(rows[target])
        return _over_variance(y, y - said, folds=0)
    rows, _ = drop_missing(evidence.rows(), evidence.columns)
    segments = segments_of(rows, evidence)
    observed = {name: segments.first(column) for name, column in rows.items()}
    n, k = len(observed[target]), len(parameters(proposal.structure))
    if not FEWEST <= n < _FEW_PER_COEFFICIENT * max(k, 1):
        return None
    part = parts_of(observed, evidence.roles.group, evidence.roles.time)
    n_parts = int(part.max()) + 1
    error = np.zeros(n)
    belongs = segments.number(len(rows[target]))
    for left_out in range(n_parts):
        out = part == left_out
        found = fit_without(out[belongs], [proposal], rows, evidence)
        if found is None:
            return None
        error[out] = found.errors[0]
    return _over_variance(observed[target], error, folds=n_parts)


def segments_of(rows: Mapping[str, FloatArray], evidence: Evidence) -> Segments:
    """Return which rows are one observation."""
    sums = evidence.roles.sums
    return Segments.of(None if sums is None else rows[sums])


def parts_of(
    rows: Mapping[str, FloatArray], group: str | None = None, time: str | None = None
) -> NDArray[np.intp]:
    """Number the part of each row: whole groups, or blocks of time, or rows at random.

    >>> parts_of({"t": np.arange(10.0)}, time="t").tolist()
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    """
    n = len(next(iter(rows.values())))
    rng = np.random.default_rng(_SEED)
    if group is not None:
        names, index = np.unique(rows[group], return_inverse=True)
        if len(names) > 1:
            return (rng.permutation(len(names)) % FOLDS)[index.reshape(-1)]
    if time is not None:
        place = np.empty(n, dtype=np.intp)
        place[np.argsort(rows[time], kind="stable")] = np.arange(n)
        return place * FOLDS // n
    return rng.permutation(n) % FOLDS


@final
@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """What laws say of rows they were not fitted to.

    `errors` are (laws, observations left out); `loss` is the mean squared error of each fit to the
    `n_kept` others.
    """

    errors: FloatArray
    loss: FloatArray
    n_kept: int


def fit_without(
    out: NDArray[np.bool_],
    proposals: Sequence[Proposal],
    rows: Mapping[str, FloatArray],
    evidence: Evidence,
) -> LeftOut | None:
    """Fit without the rows marked by `out`, and ask about them; None where too few are left."""
    grammar, roles = evidence.grammar, evidence.roles
    kept = {name: column[~out] for name, column in rows.items()}
    judged = {name: column[out] for name, column in rows.items()}
    weighed = roles.weight is None or kept[roles.weight].any()
    if np.ptp(kept[grammar.target.name]) == 0.0 or not weighed:
        return None
    fits = fit_many(
        proposals, kept, target=grammar.target, variables=grammar.variables,
        sigma=roles.sigma, weight=roles.weight, group=roles.group, sums=roles.sums, effort=FULL,
        floors=grammar.floors,
    )  # fmt: skip
    segments = segments_of(judged, evidence)
    observed = {name: segments.first(column) for name, column in judged.items()}
    errors = np.zeros((len(proposals), len(observed[grammar.target.name])))
    for m, proposal in enumerate(proposals):
        said = evaluate(proposal.structure, judged, fits.values(m), grammar.floors)
        error = observed[grammar.target.name] - segments.total(said)
        errors[m] = without_offsets(error, observed, roles.group)
    return LeftOut(errors, fits.loss, segments_of(kept, evidence).count(int((~out).sum())))


def without_offsets(
    error: FloatArray, rows: Mapping[str, FloatArray], group: str | None
) -> FloatArray:
    """Take the mean of each group off: group offsets are no part of a law."""
    if group is None:
        return error
    _, index = np.unique(rows[group], return_inverse=True)
    index = index.reshape(-1)
    return error - (np.bincount(index, error) / np.bincount(index))[index]


def _over_variance(y: FloatArray, error: FloatArray, *, folds: int) -> HeldOut | None:
    spread = float(np.sum(np.square(y - y.mean())))
    with np.errstate(over="ignore"):
        missed = float(np.sum(np.square(error)))
    if not spread > 0.0 or not np.isfinite(missed):
        return None
    return HeldOut(missed / spread, folds)
