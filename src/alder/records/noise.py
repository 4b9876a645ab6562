r"""How far an observation lies from the law: additive plus proportional noise."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadParameter

NoiseOrigin: TypeAlias = Literal["estimated", "given", "none"]


@final
@dataclass(frozen=True, slots=True)
class Noise:
    r"""Standard deviation of an observation around the law's prediction $f$.

    $$\sigma(f) = \sqrt{a^2 + (b f)^2}$$

    $a$ is the additive part in the unit of the target, $b$ the proportional part, a pure number.
    Where rows bring their own error bars the origin is "given" and $a$, $b$ describe what an
    observation without an error bar would have.

    Where rows come in groups, each with an offset of its own, `between` is the standard deviation
    of the offsets of the `n_groups` groups the law was fitted to, from which a law leaves a new
    group by as much again. It is no part of $\sigma$: rows of one group share it.
    """

    additive: float
    proportional: float = 0.0
    origin: NoiseOrigin = "estimated"
    between: float = 0.0
    n_groups: int = 0

    def __post_init__(self) -> None:
        """Refuse negative and non-finite parts."""
        for part in (self.additive, self.proportional, self.between, float(self.n_groups)):
            if not (math.isfinite(part) and part >= 0.0):
                raise BadParameter(f"Noise must be finite and not negative; got {part}.")

    @property
    def new_group(self) -> float:
        r"""Standard deviation of a new group around the law: $s \sqrt{1 + 1/G}$ from G groups."""
        return self.between * math.sqrt(1.0 + 1.0 / max(self.n_groups, 1))

    def sigma(self, predictions: FloatArray) -> FloatArray:
        """Return the standard deviation at each prediction."""
        return np.hypot(self.additive, self.proportional * predictions)
