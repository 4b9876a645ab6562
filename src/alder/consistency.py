r"""Are errors on rows what the noise and the coefficients' covariance let expect?

The mathematics that judges a law on new rows; it needs no compiler, so that the vault starts fast.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import jacobian
from alder.records.law import Law
from alder.segments import Segments

# Rows are written with some ten digits; a law without noise need not predict better than that.
ROUNDING = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    r"""Errors of a law on $n$ rows, with what is known about them.

    `error` is $e = y - f$, `noise` its standard deviation $D^{1/2}$ without coefficient error, and
    `spread` is $A = D^{-1/2} J L$ with $C = L L^\top$ the covariance of the coefficients. `df` are
    the degrees of freedom behind the noise, None where the noise is given. Where targets are sums
    over rows, all these are of sums, `segments` says of which rows, and `pointwise` holds what the
    law says of each row.
    """

    prediction: FloatArray
    error: FloatArray
    noise: FloatArray
    spread: FloatArray
    df: int | None
    segments: Segments = field(default_factory=Segments)
    pointwise: FloatArray | None = None

    @property
    def at_rows(self) -> FloatArray:
        """What the law says of each row."""
        return self.prediction if self.pointwise is None else self.pointwise

    def placed(self, values: FloatArray) -> FloatArray:
        """Return where each observation lies in a quantity of rows, (n) or (n, k).

        A sum over rows lies at their mean, weighted by how much of it the law says comes from each.
        """
        if not self.segments.summed:
            return values
        part = np.abs(self.at_rows) / max(float(np.abs(self.at_rows).max()), 1e-300) + 1e-12
        part = part / self.segments.total(part)[self.segments.number(len(part))]
        return self.segments.total(values * part.reshape(-1, *[1] * (values.ndim - 1)))

    @property
    def z(self) -> FloatArray:
        """The errors in units of the noise."""
        return self.error / self.noise

    @property
    def coefficient_error(self) -> FloatArray:
        """The standard deviation of each prediction from the coefficients alone."""
        return self.noise * np.sqrt(np.sum(np.square(self.spread), axis=1))


def errors_of(
    law: Law,
    columns: Mapping[str, FloatArray],
    *,
    sigma: FloatArray | None = None,
    sums: FloatArray | None = None,
) -> Errors:
    """Compare a law with complete rows; `sigma` are error bars, where the rows have them.

    `sums` says which observation each row belongs to, where targets are sums over rows.
    """
    segments = Segments.of(sums)
    law = law.loosened
    names = [coefficient.name for coefficient in law.coefficients]
    pointwise, slopes = jacobian(law.structure, columns, law.values, names, law.floors)
    f, J = segments.total(pointwise), segments.total(slopes)
    y = segments.first(columns[law.target.name])
    noise = law.noise.sigma(f) if sigma is None else segments.first(sigma)
    with np.errstate(over="ignore", invalid="ignore"):
        noise = np.maximum(noise, ROUNDING * float(np.sqrt(np.mean(np.square(f)))) + 1e-300)
        A = (J @ covariance_root(law.covariance)) / noise[:, None]
        error = y - f
    known = sigma is not None or law.noise.origin == "given"
    df = None if known else law.residual_df
    return Errors(f, error, noise, A, df, segments, pointwise)


def covariance_root(covariance: FloatArray) -> FloatArray:
    """Return L with C = L L^T, also where C is singular.

    Correlations are taken apart, not covariances: a coefficient of 1e11 beside an exponent would
    leave of the exponent's variance nothing but rounding.
    """
    if not len(covariance):
        return covariance
    C = np.where(np.isfinite(covariance), covariance, 0.0)
    size = np.sqrt(np.maximum(np.diag(C), 0.0))
    unit = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(C / unit[:, None] / unit)
    return size[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))


def chi_square_p(errors: Errors) -> float:
    r"""Return how often a law that holds would show larger errors.

    $$\chi^2 = e^\top (D + J C J^\top)^{-1} e$$

    The covariance of the coefficients correlates the errors. $\chi^2/n$ follows the F distribution
    of $n$ and `df` degrees of freedom, since the noise was itself estimated; $\chi^2$ the
    distribution of that name where it was given.
    """
    from scipy.special import chdtrc, fdtrc  # pyright: ignore[reportMissingTypeStubs]

    z, A = errors.z, errors.spread
    projected = A.T @ z
    middle = np.eye(A.shape[1]) + A.T @ A
    chi2 = max(float(z @ z - projected @ np.linalg.solve(middle, projected)), 0.0)
    if errors.df is None:
        return float(chdtrc(len(z), chi2))
    return float(fdtrc(len(z), max(errors.df, 1), chi2 / len(z)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    r"""The map $W = (1 + A A^\top)^{-1/2}$, kept as singular vectors of $A$.

    It makes errors that noise and coefficients cause independent and of equal size: $W z$ has
    covariance $s^2 \mathbf 1$ where the law holds, whatever the true scale $s$ of the noise.
    """

    vectors: FloatArray
    shrink: FloatArray

    @staticmethod
    def of(errors: Errors) -> "Whitening":
        """Decompose the spread of the predictions."""
        U, s, _ = np.linalg.svd(errors.spread, full_matrices=False)
        return Whitening(U, 1.0 - 1.0 / np.sqrt(1.0 + np.square(s)))

    def apply(self, values: FloatArray) -> FloatArray:
        """Return W times a vector (n) or the columns of a matrix (n, m)."""
        return values - (self.vectors * self.shrink) @ (self.vectors.T @ values)
