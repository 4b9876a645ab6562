r"""What an admitted law claims about its error, and whether noise-free rows bear it out.

The verdict of an admission states two bounds: on rows like the admission rows, and on rows like the
shift rows, the root mean square error, noise included, lies below. With $b_r$ for these bounds,

$$E_r = \sqrt{\overline{(y - f)^2}_r} \le b_r$$

is measured on 2,048 noise-free rows like those of role $r$, in scope or not, since the gate asked
the law to hold on such rows. An admission is false where $E_r > b_r$ for either role, or where the
law is no better there than the mean of the public rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.refusal.domains import TARGET, TESTS, Columns, Role
from alder.bench.refusal.worlds import World
from alder.records.law import Law

# Errors are JSON numbers; a law that is further off than this is no less wrong.
_LARGEST = 1e30


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed error on rows like those of one role, and the actual ones there.

    `observed` is the actual error with the world's own noise added, as the bound of a verdict has
    it. `reference` is the error of the mean of the public rows.
    """

    claimed: float
    error: float
    observed: float
    reference: float

    @property
    def holds(self) -> bool:
        """Whether the noise-free error is within the claim, and better than the mean."""
        return self.error <= self.claimed and self.error < self.reference


def claims(world: World, law: Law, bounds: Mapping[Role, float] | None) -> dict[Role, Claim]:
    """Return the claim of a law for both final tests.

    A law that was refused has no bound; it claims what it states itself: its own standard
    deviation of an observation on such rows.
    """
    if bounds is None:
        bounds = {role: _rms(_stated(law, world.rows[test])) for role, test in TESTS.items()}
    mean = float(np.mean(world.rows["fit"][TARGET]))
    found: dict[Role, Claim] = {}
    for role, test in TESTS.items():
        rows = world.rows[test]
        error = _rms(rows[TARGET] - law.predict(rows))
        found[role] = Claim(
            claimed=min(bounds[role], _LARGEST),
            error=error,
            observed=float(np.hypot(error, world.noise[test])),
            reference=_rms(rows[TARGET] - mean),
        )
    return found


def _stated(law: Law, rows: Columns) -> FloatArray:
    """Return the standard deviation a law states for an observation of each row."""
    return np.hypot(law.standard_error(rows), law.noise.sigma(law.predict(rows)))


def _rms(values: FloatArray) -> float:
    with np.errstate(over="ignore"):
        return float(min(np.sqrt(np.mean(np.square(values))), _LARGEST))
