"""The equation, what a network adds to it, and whether the equation alone is admitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.bench.boundary.network import Network, fit_network, probability
from alder.bench.boundary.regimes import NOISE, Rows, library

RIDGE = 1e-6
LARGE = 4.0
"""A training residual beyond so many noise standard deviations is a boundary label."""

MOST_NMSE, MOST_GATE = 0.02, 0.10
"""Admission: the largest error of the equation, and of the mean probability of the gate."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A ridge equation, a network for the target, one for its residual, and one for the gate.

    Without a single boundary label there is nothing to learn, and the gate is closed everywhere.
    """

    coefficients: FloatArray
    direct: Network
    residual: Network
    gate: Network | None

    def equation(self, inputs: FloatArray) -> FloatArray:
        """Return what the equation says."""
        return library(inputs) @ self.coefficients

    def gate_probability(self, inputs: FloatArray) -> FloatArray:
        """Return how likely the equation misses by much."""
        if self.gate is None:
            return np.zeros(len(inputs))
        return probability(self.gate.predict(inputs))

    def predictions(self, inputs: FloatArray) -> dict[str, FloatArray]:
        """Return the four predictors: equation, network, and both ways of correcting."""
        equation, more = self.equation(inputs), self.residual.predict(inputs)
        return {
            "equation": equation,
            "mlp": self.direct.predict(inputs),
            "always": equation + more,
            "gated": equation + self.gate_probability(inputs) * more,
        }


def fit_predictors(train: Rows, rng: np.random.Generator) -> Fitted:
    """Fit everything to training rows; the networks come after the equation."""
    J = library(train.inputs)
    penalty = RIDGE * len(J) * np.eye(J.shape[1])
    coefficients = np.asarray(
        np.linalg.solve(J.T @ J + penalty, J.T @ train.noisy), dtype=np.float64
    )
    left = train.noisy - J @ coefficients
    labels = (np.abs(left) > LARGE * NOISE).astype(np.float64)
    direct, residual = (fit_network(train.inputs, y, "values", rng) for y in (train.noisy, left))
    gate = fit_network(train.inputs, labels, "classes", rng) if labels.any() else None
    return Fitted(coefficients, direct, residual, gate)


def is_admitted(fitted: Fitted, validation: Rows) -> bool:
    """Judge the equation on held-out rows of the training domain; shifted rows have no say."""
    error = nmse(fitted.equation(validation.inputs), validation.noisy)
    return error <= MOST_NMSE and gate_mean(fitted, validation) < MOST_GATE


def gate_mean(fitted: Fitted, rows: Rows) -> float:
    """Return the mean probability of the gate."""
    return float(np.mean(fitted.gate_probability(rows.inputs)))


def shift_errors(fitted: Fitted, shift: Rows) -> Mapping[str, float]:
    """Return the NMSE of each predictor under shift, against targets without noise."""
    said = fitted.predictions(shift.inputs)
    return {f"{name}_nmse": nmse(values, shift.clean) for name, values in said.items()}


def nmse(said: FloatArray, y: FloatArray) -> float:
    """Return the sum of squared errors over that around the mean."""
    return float(np.sum(np.square(y - said)) / np.sum(np.square(y - y.mean())))


def auroc(scores: FloatArray, is_positive: NDArray[np.bool_]) -> float:
    r"""Return the chance that a positive row scores above a negative one; ties count half.

    $$A = \frac{R_+ - n_+ (n_+ + 1) / 2}{n_+ n_-}$$

    $R_+$ is the sum of the ranks of positive rows, equal scores sharing their mean rank.

    >>> auroc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]))
    0.875
    """
    n_positive, n_negative = int(is_positive.sum()), int((~is_positive).sum())
    if n_positive == 0 or n_negative == 0:
        return 0.5
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    above = float(ranks[is_positive].sum()) - n_positive * (n_positive + 1) / 2.0
    return above / (n_positive * n_negative)
