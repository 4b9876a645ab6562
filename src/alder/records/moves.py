r"""How far the coefficients of a law may still move, whatever the world is."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from alder.arrays import FloatArray
from alder.records.law import Law

# A coefficient known worse than to its own size is not known at all; a longer step would leave the
# region in which the law means anything.
_WIDEST = 1.0


def moves(law: Law, sigmas: float = 1.0) -> Iterator[tuple[Law, Law]]:
    r"""Yield the law moved both ways by so many standard deviations along each principal axis.

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
        step: FloatArray = sigmas * S * V[:, k] * np.sqrt(size[k])
        widest = np.where(values != 0.0, _WIDEST * np.abs(values), np.inf)
        step = np.clip(step, -widest, widest)
        yield _moved(law, values + step), _moved(law, values - step)


def _moved(law: Law, values: FloatArray) -> Law:
    coefficients = tuple(
        replace(coefficient, value=float(value))
        for coefficient, value in zip(law.coefficients, values, strict=True)
    )
    return replace(law, coefficients=coefficients)
