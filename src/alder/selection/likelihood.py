r"""How well public rows speak for a fitted law: BIC, predictive likelihood, error."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.consistency import errors_of
from alder.expr.evaluate import evaluate
from alder.expr.nodes import parameters
from alder.fitting import Fits, fit_many
from alder.records.effort import FULL, Tally
from alder.records.evidence import Evidence
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.segments import Segments
from alder.selection.noise import finest_of
from alder.tables import drop_missing

Weighing: TypeAlias = Literal["likelihood", "error", "bic", "uniform"]

# Rows left out in turn where there is no validation; with fewer rows than twice as many, folds
# would be too small to fit, and BIC takes their place.
_FOLDS = 5
_FEWEST = 2 * _FOLDS
_FOLD_SEED = 20261116


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
    n = _segments(rows, evidence).count(len(rows[evidence.grammar.target.name]))
    if n < _FEWEST or evidence.roles.group is not None:
        return -0.5 * criteria
    if tally is not None:
        tally.fits += _FOLDS * len(proposals)
    return _cross_validated(proposals, rows, evidence, weighing)


def _complete(columns: Mapping[str, FloatArray], evidence: Evidence) -> dict[str, FloatArray]:
    names = [name for name in evidence.columns if name in columns]
    complete, _ = drop_missing({name: columns[name] for name in names}, names)
    return dict(complete)


def _on_validation(
    law: Law, columns: Mapping[str, FloatArray], evidence: Evidence, weighing: Weighing
) -> float:
    rows, roles = _complete(columns, evidence), evidence.roles
    segments = _segments(rows, evidence)
    observed = {name: segments.first(column) for name, column in rows.items()}
    f = segments.total(law.predict(rows))
    error = _without_offsets(observed[evidence.grammar.target.name] - f, observed, roles.group)
    if weighing == "error":
        return _by_error(error, finest_of(evidence))
    noise = observed.get(roles.sigma or "", law.noise.sigma(f))
    known = law.standard_error(rows)
    if segments.summed:  # errors of the rows of a sum are correlated: all come from coefficients
        known = errors_of(law, rows, sums=rows[roles.sums or ""]).coefficient_error
    return log_likelihood(error, np.square(noise) + np.square(known), finest_of(evidence))


def _segments(rows: Mapping[str, FloatArray], evidence: Evidence) -> Segments:
    sums = evidence.roles.sums
    return Segments.of(None if sums is None else rows[sums])


def _cross_validated(
    proposals: Sequence[Proposal],
    rows: Mapping[str, FloatArray],
    evidence: Evidence,
    weighing: Weighing,
) -> FloatArray:
    """Leave out a fifth of the rows in turn, and judge every law by those left out."""
    target, roles = evidence.grammar.target, evidence.roles
    segments = _segments(rows, evidence)
    n_rows = len(rows[target.name])
    fold = np.random.default_rng(_FOLD_SEED).permutation(segments.count(n_rows)) % _FOLDS
    of_row = fold[segments.number(n_rows)]
    errors = np.zeros((len(proposals), len(fold)))
    variances = np.ones_like(errors)
    for left_out in range(_FOLDS):
        kept = {name: column[of_row != left_out] for name, column in rows.items()}
        judged = {name: column[of_row == left_out] for name, column in rows.items()}
        parts = _segments(judged, evidence)
        y = parts.first(judged[target.name])
        fits = fit_many(
            proposals, kept, target=target, variables=evidence.grammar.variables,
            sigma=roles.sigma, weight=roles.weight, sums=roles.sums, effort=FULL,
            floors=evidence.grammar.floors,
        )  # fmt: skip
        for m, proposal in enumerate(proposals):
            f = evaluate(proposal.structure, judged, fits.values(m), evidence.grammar.floors)
            n, k = len(fold) - len(y), len(parameters(proposal.structure))
            errors[m, fold == left_out] = y - parts.total(f)
            noise = None if roles.sigma is None else parts.first(judged[roles.sigma])
            variance = float(fits.loss[m]) * n / max(n - k, 1)
            variances[m, fold == left_out] = variance if noise is None else np.square(noise)
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


def _without_offsets(
    error: FloatArray, rows: Mapping[str, FloatArray], group: str | None
) -> FloatArray:
    """Take the mean of each group off: group offsets are no part of a law."""
    if group is None:
        return error
    _, index = np.unique(rows[group], return_inverse=True)
    index = index.reshape(-1)
    return error - (np.bincount(index, error) / np.bincount(index))[index]
