r"""How probable each of several fitted laws is, given that one of them holds.

The evidence of a law is its likelihood averaged over what its coefficients might have been. Around
the fit, with $J$ the derivatives by the coefficients, each measured in units $L_j$ of its own room,

$$\ln Z(\sigma) = -n \ln \sigma - \frac{\chi^2}{2 \sigma^2}
  - \frac12 \sum_i \ln\Bigl(1 + \frac{h_i}{2 \pi \sigma^2}\Bigr),$$

$h_i$ being the eigenvalues of $L J^\top W J L$ and $\chi^2$ the weighted sum of squares. This is
Laplace's approximation for a uniform prior of width $L_j$, except that a direction the rows do not
determine costs nothing: the posterior is then as wide as the prior, not wider. $L_j$ is the
distance between the bounds of a coefficient; without bounds it is the width that makes the term
$\frac12 \ln(1 + n)$, the unit information behind BIC.

Where rows carry no error bars, $\sigma$ is not known and $Z$ is averaged over it with Jeffreys'
prior $1/\sigma$, so that a dozen rows are not trusted to give the noise to a per cent.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray, freeze
from alder.expr.evaluate import jacobian
from alder.expr.nodes import parameters
from alder.fitting import Fits
from alder.fitting.groups import centre
from alder.records.evidence import Evidence
from alder.selection.noise import finest_of

# Noise considered, in units of what the best law leaves over: from a fifth to thirty times it.
# Beyond, either the sum of squares or the number of rows has ruled it out.
_SIGMAS = np.geomspace(0.2, 30.0, 81)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Log evidence of each law up to a constant, and probabilities that sum to one."""

    log_evidence: FloatArray
    probabilities: FloatArray


def posterior(fits: Fits, evidence: Evidence) -> Posterior:
    """Weigh fitted laws against one another; all are equally probable before the rows.

    `fits` are fits of the laws to the rows of `evidence`, as `fit_all` makes them. A law without a
    finite fit has probability zero.
    """
    rows = fits.tasks[0].observations
    chi2 = fits.loss * rows.n_observations
    finest = finest_of(evidence)
    spectra = [_spectrum(fits, i, finest) for i in range(len(fits))]
    if len(rows.sigma):
        sigmas = np.ones(1)
    else:
        k = np.array([len(spectrum) for spectrum in spectra])
        free = np.maximum(rows.n_observations - k, 1)
        least = float(np.min(np.sqrt(chi2 / free), initial=np.inf))
        sigmas = _SIGMAS * max(least if np.isfinite(least) else 0.0, finest)
    found = np.array(
        [
            _log_evidence(float(c), spectrum, rows.n_observations, sigmas)
            for c, spectrum in zip(chi2, spectra, strict=True)
        ]
    )
    return Posterior(freeze(found), freeze(to_probabilities(found)))


def to_probabilities(log_evidence: FloatArray) -> FloatArray:
    """Normalise; where no law has a finite evidence, all are alike.

    >>> to_probabilities(np.array([0.0, -np.inf]))
    array([1., 0.])
    """
    finite = np.isfinite(log_evidence)
    if not finite.any():
        return np.full(len(log_evidence), 1.0 / len(log_evidence))
    shares = np.exp(np.where(finite, log_evidence - log_evidence[finite].max(), -np.inf))
    return shares / shares.sum()


def _log_evidence(chi2: float, spectrum: FloatArray, n: int, sigmas: FloatArray) -> float:
    """Average over the noise levels; infinitely small where there is no finite fit."""
    if not (np.isfinite(chi2) and np.isfinite(spectrum).all()):
        return -np.inf
    variance = np.square(sigmas)
    room = np.log1p(np.outer(1.0 / (2.0 * np.pi * variance), spectrum)).sum(axis=1)
    # Equal steps of log sigma: the sum is the integral over Jeffreys' prior.
    terms: FloatArray = -n * np.log(sigmas) - 0.5 * chi2 / variance - 0.5 * room
    top = float(terms.max())
    return top + float(np.log(np.exp(terms - top).mean()))


def _spectrum(fits: Fits, index: int, finest: float) -> FloatArray:
    """Return the eigenvalues $h$ of one law; errors below `finest` are rounding."""
    task = fits.tasks[index]
    rows, request = task.observations, task.request
    names = [name for name in parameters(request.structure) if name not in request.fixed]
    if not names:
        return np.zeros(0)
    values = fits.values(index)
    weights = rows.weights()
    _, slopes = jacobian(request.structure, rows.by_name, values, names, task.floors)
    J = centre(rows.segments.total(slopes), weights, rows.group, len(rows.groups))
    information = J.T @ (J * weights[:, None])
    variance = 1.0 if len(rows.sigma) else max(float(fits.loss[index]), finest**2)
    widths = np.empty(len(names))
    for j, name in enumerate(names):
        bounds = request.bounds.get(name)
        width = np.inf if bounds is None else bounds.upper - bounds.lower
        if not np.isfinite(width):
            own = max(float(information[j, j]), 1e-300)
            width = float(np.sqrt(2.0 * np.pi * rows.n_observations * variance / own))
        widths[j] = width
    scaled = widths[:, None] * information * widths
    if not np.isfinite(scaled).all():
        return np.full(len(names), np.inf)
    return np.maximum(np.linalg.eigvalsh(scaled), 0.0)
