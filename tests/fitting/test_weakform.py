"""Regression rows without derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.fitting.samples import Samples
from alder.fitting.smoothing import smooth
from alder.fitting.subsets import least_squares
from alder.fitting.weakform import weak_rows


def _library(table: FloatArray) -> FloatArray:
    x = table[:, 0]
    return np.stack([np.ones_like(x), x, x**2], axis=1)


def _decays(seed: int, noise: float) -> Samples:
    """Sample solutions of x' = 1 - 2 x at irregular times."""
    rng = np.random.default_rng(seed)
    trajectories: list[tuple[FloatArray, FloatArray]] = []
    for start in (0.0, 0.3, 1.0, 2.0, -1.0):
        t = np.sort(rng.uniform(0.0, 1.5, 40))
        x = 0.5 + (start - 0.5) * np.exp(-2.0 * t)
        trajectories.append((t, (x + noise * rng.normal(size=len(t)))[:, None]))
    return Samples.of(trajectories)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_rows_of_noiseless_samples_hold_the_law_however_irregular(seed: int) -> None:
    samples = _decays(seed, 0.0)
    rows = weak_rows(samples, smooth(samples), _library)
    law = np.array([1.0, -2.0, 0.0])
    # What is left is what smoothing misses: cubic pieces do, by the fourth power of a long gap.
    gap = max(float(np.diff(samples.times[samples.rows_of(k)]).max()) for k in range(5))
    allowed = 2e-4 * max(1.0, (gap / 0.2) ** 4)
    assert rows.columns @ law == pytest.approx(rows.sides[:, 0], abs=allowed)


def test_noise_gives_white_rows_of_its_own_size() -> None:
    samples = _decays(1, 0.0)
    found = smooth(samples)
    rng = np.random.default_rng(5)
    noise = 0.01
    sides = np.stack(
        [
            weak_rows(
                samples.with_states(samples.states + noise * rng.normal(size=samples.states.shape)),
                found,
                _library,
            ).sides[:, 0]
            for _ in range(400)
        ]
    )
    covariance = np.cov(sides.T) / noise**2
    assert np.diag(covariance) == pytest.approx(1.0, abs=0.3)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 0.3


def test_coefficients_from_noisy_samples_lie_within_their_errors() -> None:
    samples = _decays(2, 0.02)
    found = smooth(samples)
    rows = weak_rows(samples, found, _library)
    X, y = rows.columns / found.sigma[0], rows.sides[:, 0] / found.sigma[0]
    coefficients = least_squares(X, y)
    inverse: FloatArray = np.asarray(np.linalg.inv(X.T @ X), dtype=np.float64)
    errors = np.sqrt(np.diag(inverse))
    assert (np.abs(coefficients - [1.0, -2.0, 0.0]) < 4.0 * errors).all()
