"""Smoothed states and rates, from irregular and noisy samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.fitting.samples import Samples
from alder.fitting.smoothing import smooth


def _waves(seed: int, noise: float) -> tuple[Samples, FloatArray]:
    """Sample six sines at irregular times; return them and the true rates."""
    rng = np.random.default_rng(seed)
    trajectories: list[tuple[FloatArray, FloatArray]] = []
    rates: list[FloatArray] = []
    for phase in range(6):
        t = np.sort(rng.uniform(0.0, 2.0, 40))
        x = np.sin(3.0 * t + phase)[:, None]
        trajectories.append((t, x + noise * rng.normal(size=x.shape)))
        rates.append(3.0 * np.cos(3.0 * t + phase)[:, None])
    return Samples.of(trajectories), np.concatenate(rates)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), noise=st.sampled_from([0.003, 0.01, 0.05]))
def test_the_noise_of_irregular_samples_is_estimated(seed: int, noise: float) -> None:
    samples, _ = _waves(seed, noise)
    assert smooth(samples).sigma[0] == pytest.approx(noise, rel=0.25)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_errors_of_rates_are_as_large_as_their_standard_errors_say(seed: int) -> None:
    samples, rates = _waves(seed, 0.02)
    found = smooth(samples)
    score = (found.slopes() - rates) / found.slope_errors()
    assert 0.1 < float(np.mean(np.square(score))) < 3.0


def test_a_polynomial_of_second_degree_passes_unchanged() -> None:
    t = np.array([0.0, 0.1, 0.35, 0.4, 0.8, 0.9, 1.3, 1.31, 2.0])
    x = np.stack([1.0 - 2.0 * t + 0.5 * t**2, 3.0 * t], axis=1)
    found = smooth(Samples.of([(t, x)]))
    assert found.values() == pytest.approx(x, abs=1e-6)
    assert found.slopes() == pytest.approx(np.stack([t - 2.0, 3.0 + 0.0 * t], axis=1), abs=1e-5)


@settings(max_examples=15, deadline=None)
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-5.0, 5.0))
def test_units_of_the_state_do_not_matter(scale: float, shift: float) -> None:
    samples, _ = _waves(3, 0.02)
    found = smooth(samples)
    other = smooth(samples.with_states(scale * samples.states + shift))
    assert other.values() == pytest.approx(
        scale * found.values() + shift, abs=1e-6 * (scale + abs(shift))
    )


def test_times_that_go_back_are_refused_with_their_row() -> None:
    t = np.array([0.0, 1.0, 0.5])
    with pytest.raises(BadTable, match="must increase; they do not at row 3"):
        Samples.of([(t, t[:, None])])
