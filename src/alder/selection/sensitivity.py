r"""How far the coefficients of a law may still move its forecasts, whatever the world is."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.ports import Forecast
from alder.records.law import Law

# A coefficient known worse than to its own size is not known at all; a longer step would leave the
# region in which the law means anything.
_WIDEST = 1.0


def moves(law: Law) -> Iterator[tuple[Law, Law]]:
    r"""Yield the law moved by plus and minus one standard deviation, along each principal axis.

    The axes are those of the correlations, $C = S V \Lambda V^\top S$ with $S$ the standard errors,
    so that they do not depend on units. A coefficient moves by at most its own size; exponents that
    were read off the rows move too.
    """
    law = law.loosened
    C = np.where(np.isfinite(law.covariance), law.covariance, 0.0)
    S = np.sqrt(np.maximum(np.diag(C), 0.0))
    if not S.any():
        return
    inverse = np.divide(1.0, S, out=np.zeros_like(S), where=S > 0.0)
    # One side after the other: the product of two large inverses may be no number.
    size, V = np.linalg.eigh(C * inverse[:, None] * inverse)
    values = np.array([coefficient.value for coefficient in law.coefficients])
    for k in np.flatnonzero(size > 1e-12 * size.max()):
        step: FloatArray = S * V[:, k] * np.sqrt(size[k])
        widest = np.where(values != 0.0, _WIDEST * np.abs(values), np.inf)
        step = np.clip(step, -widest, widest)
        yield _moved(law, values + step), _moved(law, values - step)


def sensitivity(law: Law, forecast: Forecast, positions: NDArray[np.intp]) -> FloatArray:
    r"""Return what one standard deviation along each axis does, (experiments, outputs, axes).

    The squares sum to $J C J^\top$ for small deviations. Central differences of the forecast are
    taken, not derivatives, so that a rollout of any world can be asked the same question.
    """
    columns = [
        (forecast.predict(up, positions) - forecast.predict(down, positions)) / 2.0
        for up, down in moves(law)
    ]
    shape = (len(positions), -1)
    if not columns:
        n_outputs = forecast.predict(law, positions[:1]).size
        return np.zeros((len(positions), n_outputs, 0))
    found = np.stack([column.reshape(shape) for column in columns], axis=2)
    return np.where(np.isfinite(found), found, 0.0)


def _moved(law: Law, values: FloatArray) -> Law:
    coefficients = tuple(
        replace(coefficient, value=float(value))
        for coefficient, value in zip(law.coefficients, values, strict=True)
    )
    return replace(law, coefficients=coefficients)
