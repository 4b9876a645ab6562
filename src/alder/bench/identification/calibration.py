r"""Is a candidate that is said to be 95 % probable the true one in 95 of 100 cases?

After every query of every case the likeliest candidate has a probability $p$, and is or is not the
true one. Statements are put into ten bins by $p$, and

$$\mathrm{error} = \sum_b \frac{n_b}{N} \Bigl|\bar p_b - \frac{\text{right}_b}{n_b}\Bigr|.$$

All cases count, those identified from the start too: leaving them out would keep those in which
the first rows misled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.benchmark import Row

N_BINS = 10
SETTLED = 0.99
"""Statements below this are reported apart: after eight queries most are certain, and being right
when certain would hide what happens before."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bin:
    """Statements of about one probability: their mean, how many were right, how many there are."""

    said: float
    right: float
    n: int


def statements(rows: Sequence[Row]) -> tuple[FloatArray, FloatArray]:
    """Return the probability of the likeliest candidate of every round, and 1.0 where it is true.

    Rows that failed made no statement.
    """
    said: list[float] = []
    right: list[float] = []
    for row in rows:
        for probabilities in row.get("posteriors", ()):
            best = int(np.argmax(probabilities))
            said.append(float(probabilities[best]))
            right.append(float(best == row["truth"]))
    return np.array(said), np.array(right)


def bins(said: FloatArray, right: FloatArray) -> list[Bin]:
    """Return the bins that hold statements, from improbable to certain."""
    place = np.minimum((said * N_BINS).astype(int), N_BINS - 1)
    return [
        Bin(float(said[place == b].mean()), float(right[place == b].mean()), int(sum(place == b)))
        for b in range(N_BINS)
        if (place == b).any()
    ]


def calibration_error(said: FloatArray, right: FloatArray) -> float:
    """Return the mean distance of what was said from how often it was so; 0 without statements.

    >>> calibration_error(np.array([0.75, 0.75]), np.array([1.0, 0.0]))
    0.25
    """
    if not len(said):
        return 0.0
    return sum(b.n * abs(b.said - b.right) for b in bins(said, right)) / len(said)
