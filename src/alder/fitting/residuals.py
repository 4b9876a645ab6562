"""Where a fitted law leaves something unexplained: public diagnostics for people and proposers."""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.records.evidence import Misfit
from alder.records.fit import Fit
from alder.segments import Segments

# Rows of one variable are cut into this many parts of equal count.
_PARTS = 8
# A part whose mean residual lies this many standard errors off is worth a line; with eight parts
# and seven variables chance exceeds it once in a few hundred fits.
_NOTABLE = 4.0
STRUCTURE = 6.0
"""Mean residual of a part of the rows, in standard errors, beyond which chance explains nothing."""
# With fewer rows than this beyond the parts, scatter within parts is itself too badly known.
_FEWEST = 16


def find_misfits(
    fit: Fit, rows: Mapping[str, FloatArray], along: Sequence[str], sums: str | None = None
) -> tuple[Misfit, ...]:
    r"""Cut rows along each named column and look for parts whose mean residual is not zero.

    Name all variables, those the law does not use as well: it may be wrong not to use them. Where
    targets are sums over rows, `sums` names the column of observations, which are cut along the
    mean of their rows.

    The strength of a part of $n$ rows is $|\bar r| \sqrt n / \sigma$, strongest first. $\sigma$ is
    the stated noise or the scatter within parts, whichever is less: a law that is wrong everywhere
    states a noise large enough to hide it.
    """
    segments = Segments.of(None if sums is None else rows[sums])
    predictions = segments.total(evaluate(fit.structure, rows, fit.values, fit.floors))
    sigma = fit.noise.sigma(predictions)
    if not (sigma > 0.0).all():
        return ()
    scaled = (segments.first(rows[fit.target.name]) - predictions) / sigma
    cuts = [(name, segments.mean(rows[name])) for name in along]
    found = [misfit for name, cut in cuts if (misfit := _along(name, cut, scaled)) is not None]
    return tuple(sorted(found, key=lambda misfit: -misfit.strength))


def _along(name: str, column: FloatArray, scaled: FloatArray) -> Misfit | None:
    order = np.argsort(column, kind="stable")
    parts = [part for part in np.array_split(order, _PARTS) if len(part)]
    means = [float(np.mean(scaled[part])) for part in parts]
    within = [
        float(np.sum(np.square(scaled[part] - mean)))
        for part, mean in zip(parts, means, strict=True)
    ]
    df = len(column) - len(parts)
    scatter = min(1.0, float(np.sqrt(sum(within) / df))) if df >= _FEWEST else 1.0
    if scatter <= 0.0:
        return None
    strengths = [
        mean * float(np.sqrt(len(part))) / scatter for part, mean in zip(parts, means, strict=True)
    ]
    worst = int(np.argmax(np.abs(strengths)))
    if abs(strengths[worst]) < _NOTABLE:
        return None
    low, high = float(column[parts[worst]].min()), float(column[parts[worst]].max())
    side = "above" if strengths[worst] > 0 else "below"
    if worst == 0:
        where = f"where {name} < {high:.4g} rows lie {side} the law"
    elif worst == len(parts) - 1:
        where = f"where {name} > {low:.4g} rows lie {side} the law"
    else:
        where = f"where {name} is {low:.4g} to {high:.4g} rows lie {side} the law"
    return Misfit(name, abs(strengths[worst]), where)
