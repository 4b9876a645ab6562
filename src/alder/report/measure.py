r"""Misses in noise standard deviations: one yardstick for every rival of a study."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.consistency import errors_of
from alder.records.evidence import Evidence
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.variable import Variable
from alder.segments import Segments

REFUTED = 4.0
"""A rival that misses an observation by so many sd is refuted: by chance once in 16,000, so that
even after fifty experiments a true law is called refuted once in 300 studies."""


@final
@dataclass(frozen=True, slots=True)
class Yardstick:
    r"""Measures how far an observation $y$ lies from what a law says.

    $$z = \frac{y - f}{\sqrt{\sigma^2 + J C J^\top}}$$

    $\sigma$ is the noise of the instrument: the error bar of the row where it has one, else what
    the best law leaves over. It is the same for every rival, because a rival that fits badly would
    otherwise excuse its misses as noise. For events $f$ is the probability and
    $\sigma^2 = f (1 - f)$.
    """

    noise: Noise
    variables: tuple[Variable, ...]
    target: str
    sigma: str | None
    events: bool
    sums: str | None = None

    def predict(self, law: Law, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return what a law says: the target, or the probability of the event.

        Where targets are sums over rows, each row gets the sum it belongs to.
        """
        said = self._repeated(law.predict(columns), columns)
        return 1.0 / (1.0 + np.exp(-np.clip(said, -700.0, 700.0))) if self.events else said

    def noise_at(self, said: FloatArray, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return the noise of one observation at each row."""
        if self.events:
            return np.sqrt(np.maximum(said * (1.0 - said), 1e-4))
        if self.sigma is not None and self.sigma in columns:
            return columns[self.sigma]
        floor = 1e-12 * float(np.max(np.abs(said), initial=1e-300))  # exact rows have no noise
        return np.maximum(self.noise.sigma(said), floor)

    def half_width(self, law: Law, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return one sd of noise and coefficients together."""
        said = self.predict(law, columns)
        noise = self.noise_at(said, columns)
        if self.events:
            return noise
        known = law.standard_error(columns)
        if self.sums is not None and self.sums in columns:
            errors = errors_of(law, columns, sums=columns[self.sums])
            known = errors.coefficient_error[errors.segments.number(len(known))]
        return np.hypot(noise, np.where(np.isfinite(known), known, 0.0))

    def misses(self, law: Law, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return the miss at each row in sd of noise and coefficients together."""
        y = columns[self.target]
        return (y - self.predict(law, columns)) / self.half_width(law, columns)

    def residuals(self, law: Law, columns: Mapping[str, FloatArray]) -> FloatArray:
        """Return the residual of each row in noise sd."""
        said = self.predict(law, columns)
        return (columns[self.target] - said) / self.noise_at(said, columns)

    def _repeated(self, said: FloatArray, columns: Mapping[str, FloatArray]) -> FloatArray:
        if self.sums is None or self.sums not in columns:
            return said
        segments = Segments.of(columns[self.sums])
        return segments.total(said)[segments.number(len(said))]


def yardstick(best: Law, evidence: Evidence) -> Yardstick:
    """Return the yardstick of a study whose best law is given."""
    return Yardstick(
        noise=best.noise,
        variables=tuple(evidence.grammar.variables),
        target=evidence.grammar.target.name,
        sigma=evidence.roles.sigma,
        events=best.objective == "events",
        sums=evidence.roles.sums,
    )
