r"""P-values against levels, through noise where the reusable holdout asks for it."""

import hashlib
import math
from typing import final

import numpy as np

from alder.verification.spending import Spending, Thresholdout

# Halvings of an interval that begins 80 standard deviations wide or more: to the last digits.
_HALVINGS = 80


@final
class Gate:
    """Compares p-values with levels; one for each submission.

    `level` is what this answer may use of the false promises, `secret` and `number` seed the noise.
    """

    def __init__(self, spending: Spending, level: float, secret: bytes, number: int) -> None:
        """Draw nothing yet: noise is drawn with each comparison."""
        self.spending = spending
        self.alpha = level / 2.0
        self.scale = spending.scale if isinstance(spending, Thresholdout) else 0.0
        seed = hashlib.sha256(secret + number.to_bytes(8, "little")).digest()
        self.rng = np.random.default_rng(list(seed))

    def beats_reference(self, p: float) -> bool:
        """Say whether a p-value of no improvement is small enough."""
        if not isinstance(self.spending, Thresholdout):
            return p <= self.alpha
        bar = -score(self.spending.alpha) + self.spending.margin + self._laplace()
        return -score(p) >= bar

    def is_consistent(self, p: float, limit: float) -> bool:
        """Say whether a p-value of the law holding is large enough.

        A law that holds is refused with the chance `limit`, the noise of the threshold included.
        """
        if not isinstance(self.spending, Thresholdout):
            return p >= limit
        return score(p) >= fair_threshold(limit, self.scale) + self._laplace()

    def _laplace(self) -> float:
        return float(self.rng.laplace(0.0, self.scale))


def fair_threshold(limit: float, scale: float) -> float:
    r"""Return the threshold that a standard score misses with a given chance, noise included.

    $$P(Z < t + L) = \Phi(t) + \tfrac12 e^{a^2/2}
      \bigl(e^{at}\,\Phi(-t-a) - e^{-at}\,\Phi(t-a)\bigr) = \text{limit}$$

    $Z$ is a standard normal score, $L$ Laplace noise of scale $1/a$. Without it $t$ is the
    quantile of the limit; with it $t$ lies lower, since noise refuses more laws that hold than it
    spares: at a limit of 1 % and a scale of 0.5 the bare quantile would refuse 3 %.

    >>> round(fair_threshold(0.01, 0.0), 3), round(fair_threshold(0.01, 0.5), 3)
    (-2.326, -2.921)
    """
    if scale <= 0.0:
        return score(limit)
    low, high = -40.0 * (1.0 + scale), 40.0 * (1.0 + scale)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = _missed(middle, 1.0 / scale) < limit
        low, high = (middle, high) if below else (low, middle)
    return 0.5 * (low + high)


def _missed(t: float, a: float) -> float:
    from scipy.special import log_ndtr, ndtr  # pyright: ignore[reportMissingTypeStubs]

    half = 0.5 * a * a
    up = math.exp(min(half + a * t + float(log_ndtr(-t - a)), 700.0))
    down = math.exp(min(half - a * t + float(log_ndtr(t - a)), 700.0))
    return float(ndtr(t)) + 0.5 * (up - down)


def score(p: float) -> float:
    """Return the standard normal score of a p-value, finite for every one."""
    from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

    return float(ndtri(min(max(p, 1e-300), 1.0 - 1e-16)))
