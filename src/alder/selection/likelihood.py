r"""How well public rows speak for a fitted law: BIC, predictive likelihood, error."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.consistency import errors_of
from alder.expr.nodes import parameters
from alder.fitting import Fits
from alder.fitting.crossvalidation import (
    FEWEST,
    FOLDS,
    fit_without,
    parts_of,
    segments_of,
    without_offsets,
)
from alder.records.effort import Tally
from alder.records.evidence import Evidence
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.selection.noise import finest_of
from alder.tables import drop_missing

Weighing: TypeAlias = Literal["likelihood", "error", "bic", "uniform"]


def bic(fits: Fits, evidence: Evidence) -> FloatArray:
    r"""Return the Bayesian information criterion of each fit, in twice nats; small is good.

    $$\mathrm{BIC} = n \ln \frac{\chi^2}{n} + k \ln n,$$

    or $\chi^2 + k \ln n$ where rows have error bars. $n$ counts rows, or sums over rows where
    targets are such, and $k$ coefficients. An error below a
    millionth of the target's spread counts as that: it is rounding.
    """
    n = fits.tasks[0].observations.n_observations if len(fits) else 0
    k = np.array([len(parameters(task.request.structure)) for task in fits.tasks])
    if evidence.roles.sigma is not None:
        return n * fits.loss + k * np.log(max(n, 2))
    finest = finest_of(evidence)
    return n * np.log(np.maximum(fits.loss, finest * finest)) + k * np.log(max(n, 2))


def log_scores(
    proposals: Sequence[Proposal],
    laws: Sequence[Law],
    criteria: FloatArray,
    evidence: Evidence,
    weighing: Weighing,
    tally: Tally | None = None,
) -> FloatArray:
    """Return log weights up to a constant; `criteria` are the BIC of the same laws.

    Likelihood and error are those of the public validation rows; without such rows both are
    cross-validated, and with too few rows for that, or with groups, BIC stands in.
    """
    if weighing == "uniform" or all(law.noise.origin == "none" for law in laws):
        return np.zeros(len(laws))
    if weighing == "bic":
        return -0.5 * criteria
    validation = evidence.validation
    if validation is not None and validation.n_rows:
        return np.array(
            [_on_validation(law, validation.columns, evidence, weighing) for law in laws]
        )
    rows = _complete(evidence.rows(), evidence)
    n = segments_of(rows, evidence).count(len(rows[evidence.grammar.target.name]))
    if n < FEWEST or evidence.roles.group is not None:
        return -0.5 * criteria
    if tally is not None:
        tally.fits += FOLDS * len(proposals)
    scores = _cross_validated(proposals, rows, evidence, weighing)
    return -0.5 * criteria if scores is None else scores


def _complete(columns: Mapping[str, FloatArray], evidence: Evidence) -> dict[str, FloatArray]:
    names = [name for name in evidence.columns if name in columns]
    complete, _ = drop_missing({name: columns[name] for name in names}, names)
    return dict(complete)


def _on_validation(
    law: Law, columns: Mapping[str, FloatArray], evidence: Evidence, weighing: Weighing
) -> float:
    rows, roles = _complete(columns, evidence), evidence.roles
    segments = segments_of(rows, evidence)
    observed = {name: segments.first(column) for name, column in rows.items()}
    f = segments.total(law.predict(rows))
    error = without_offsets(observed[evidence.grammar.target.name] - f, observed, roles.group)
    if weighing == "error":
        return _by_error(error, finest_of(evidence))
    noise = observed.get(roles.sigma or "", law.noise.sigma(f))
    known = law.standard_error(rows)
    if segments.summed:  # errors of the rows of a sum are correlated: all come from coefficients
        known = errors_of(law, rows, sums=rows[roles.sums or ""]).coefficient_error
    return log_likelihood(error, np.square(noise) + np.square(known), finest_of(evidence))


def _cross_validated(
    proposals: Sequence[Proposal],
    rows: Mapping[str, FloatArray],
    evidence: Evidence,
    weighing: Weighing,
) -> FloatArray | None:
    """Leave out a fifth of the rows in turn, and judge every law by those left out."""
    sigma = evidence.roles.sigma
    segments = segments_of(rows, evidence)
    observed = {name: segments.first(column) for name, column in rows.items()}
    belongs = segments.number(len(rows[evidence.grammar.target.name]))
    part = parts_of(observed)
    k = np.array([len(parameters(proposal.structure)) for proposal in proposals])
    errors = np.zeros((len(proposals), len(part)))
    variances = np.ones_like(errors)
    for left_out in range(FOLDS):
        out = part == left_out
        found = fit_without(out[belongs], proposals, rows, evidence)
        if found is None:
            return None
        errors[:, out] = found.errors
        n = found.n_kept
        unexplained = found.loss * n / np.maximum(n - k, 1)
        given = None if sigma is None else np.square(observed[sigma][out])
        variances[:, out] = unexplained[:, None] if given is None else given
    finest = finest_of(evidence)
    if weighing == "error":
        return np.array([_by_error(error, finest) for error in errors])
    pairs = zip(errors, variances, strict=True)
    return np.array([log_likelihood(error, variance, finest) for error, variance in pairs])


def log_likelihood(error: FloatArray, variance: FloatArray, finest: float) -> float:
    r"""Return $-\frac12 \sum (e^2/s^2 + \ln s^2)$, with variances not below the finest difference.

    Minus infinity where an error is no number.
    """
    s2 = np.maximum(variance, finest * finest)
    with np.errstate(over="ignore", invalid="ignore"):
        found = -0.5 * float(np.sum(np.square(error) / s2 + np.log(s2)))
    return found if np.isfinite(found) else -np.inf


def _by_error(error: FloatArray, finest: float) -> float:
    """Weights in inverse proportion to the mean squared error."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = -float(np.log(np.mean(np.square(error)) + finest * finest))
    return found if np.isfinite(found) else -np.inf
