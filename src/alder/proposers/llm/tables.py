"""Rows for a brief: what their columns are like, and a sample that covers where they lie."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.proposers.llm.names import Names
from alder.records.evidence import Attempt, Evidence
from alder.segments import Segments

Rows = Mapping[str, FloatArray]

_QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def short(value: float) -> float | None:
    """Return a number with four digits, None where it is none.

    >>> short(1.23456789), short(float("inf"))
    (1.235, None)
    """
    return float(f"{value:.4g}") if np.isfinite(value) else None


def best_fitted(evidence: Evidence) -> int | None:
    """Return the number of the attempt with the least public error; None where none was fitted."""
    errors = [(_error(attempt), i) for i, attempt in enumerate(evidence.attempts) if attempt.fit]
    return min(errors)[1] if errors else None


def _error(attempt: Attempt) -> float:
    assert attempt.fit is not None
    held_out = attempt.validation_nmse
    return attempt.fit.nmse if held_out is None else held_out


def statistics(evidence: Evidence, rows: Rows, names: Names) -> dict[str, object]:
    """Describe every column by five quantiles, and how it goes with the target by rank."""
    segments = _segments(evidence, rows)
    target = segments.first(rows[evidence.grammar.target.name])
    columns: list[dict[str, object]] = []
    for name in (*evidence.grammar.variable_names, evidence.grammar.target.name):
        column = rows[name]
        columns.append(
            {
                "name": names.shown[name],
                "quantiles": [short(q) for q in np.quantile(column, _QUARTILES)]
                if len(column)
                else [],
                "distinct": len(np.unique(column)),
                "rank_correlation": short(_rank_correlation(segments.mean(column), target)),
            }
        )
    return {"rows": len(rows[evidence.grammar.target.name]), "columns": columns}


def sample(
    evidence: Evidence, rows: Rows, names: Names, best: int | None, at_most: int
) -> dict[str, object]:
    """Show rows that lie far apart, in the residual of the best law too, as a table of numbers.

    Where targets are sums over rows, whole observations are shown, and their number stands first.
    """
    grammar, target = evidence.grammar, evidence.grammar.target.name
    shown = [(names.shown[name], rows[name]) for name in (*grammar.variable_names, target)]
    segments, n_rows = _segments(evidence, rows), len(rows[target])
    fit = None if best is None else evidence.attempts[best].fit
    if fit is not None and not segments.summed:
        shown.append(("residual", rows[target] - fit.law.predict(rows)))
    features = np.column_stack([_ranks(segments.mean(column)) for _, column in shown])
    n_each = max(n_rows // max(len(features), 1), 1)
    chosen, _ = segments.take(spread(features, max(at_most // n_each, 1)))
    if segments.summed:
        shown.insert(0, ("observation", segments.number(n_rows).astype(np.float64)))
    return {
        "of": n_rows,
        "columns": [name for name, _ in shown],
        "values": [[short(float(column[i])) for _, column in shown] for i in chosen],
    }


def spread(points: FloatArray, at_most: int) -> NDArray[np.intp]:
    """Choose points (n, k) that lie far apart: each is the farthest from those before it.

    The first is the one nearest the middle; ties go to the earlier point, so that the choice is a
    function of the points alone.
    """
    n = len(points)
    if n <= at_most:
        return np.arange(n)
    middle = np.median(points, axis=0)
    chosen = [int(np.argmin(np.sum(np.square(points - middle), axis=1)))]
    distance = np.full(n, np.inf)
    while len(chosen) < at_most:
        distance = np.minimum(distance, np.sum(np.square(points - points[chosen[-1]]), axis=1))
        chosen.append(int(np.argmax(distance)))
    return np.array(sorted(chosen), dtype=np.intp)


def _segments(evidence: Evidence, rows: Rows) -> Segments:
    sums = evidence.roles.sums
    return Segments.of(None if sums is None else rows[sums])


def _ranks(column: FloatArray) -> FloatArray:
    """Map a column to 0 to 1 by rank, equal values to equal ranks: no unit and no tail matters."""
    values, index = np.unique(column, return_inverse=True)
    return index.ravel() / max(len(values) - 1, 1)


def _rank_correlation(a: FloatArray, b: FloatArray) -> float:
    a, b = _ranks(a), _ranks(b)
    if len(a) < 2 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
