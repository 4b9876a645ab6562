"""A state that does not move, and one that moves too quickly to be followed."""

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.fitting.samples import Samples
from alder.fitting.smoothing import smooth
from alder.proposers.states.excitation import Unmoved, unmoved_state

N = 500
T = 0.1 * np.arange(N, dtype=np.float64)


def _asked(x: FloatArray, u: FloatArray | None = None) -> Unmoved | None:
    samples = Samples.of([(T, x[:, None])], None if u is None else [u[:, None]])
    smoothed = smooth(samples)
    return unmoved_state(("x",), smoothed.values(), smoothed.sigma, samples)


def _relaxed(u: FloatArray) -> FloatArray:
    """Sample x' = u - x every two time constants."""
    x, kept = np.zeros(N), np.exp(-2.0)
    for k in range(N - 1):
        x[k + 1] = kept * x[k] + (1.0 - kept) * u[k]
    return x


def _spiked(rng: np.random.Generator) -> FloatArray:
    x = 20.0 + 0.05 * rng.normal(size=N)
    x[rng.permutation(N)[:10]] += 8.0
    return x


@pytest.mark.parametrize(("level", "noise"), [(20.0, 0.1), (0.003, 0.03), (5.0, 0.0)])
def test_a_constant_under_noise_does_not_move(level: float, noise: float) -> None:
    rng = np.random.default_rng(0)
    still = _asked(level + noise * rng.normal(size=N))
    assert still is not None
    assert not still.quick


@pytest.mark.parametrize("kind", ["alternates", "spikes", "thermostat"])
def test_what_changes_within_a_sample_is_no_constant(kind: str) -> None:
    rng = np.random.default_rng(1)
    x = {
        "alternates": 1.18 * (-1.0) ** np.arange(N),
        "spikes": _spiked(rng),
        "thermostat": 19.0 + 2.0 * np.abs((5.3 * T) % 2.0 - 1.0),
    }[kind]
    quick = _asked(x + 0.01 * rng.normal(size=N))
    assert quick is not None
    assert quick.quick
    assert quick.low == pytest.approx(x.min(), abs=0.1)
    assert quick.high == pytest.approx(x.max(), abs=0.1)


def test_what_follows_an_input_is_no_constant_though_it_looks_like_noise() -> None:
    rng = np.random.default_rng(2)
    u = rng.normal(size=N)
    quick = _asked(_relaxed(u) + 0.01 * rng.normal(size=N), u)
    assert quick is not None
    assert quick.quick


def test_a_state_that_moves_is_left_alone() -> None:
    rng = np.random.default_rng(3)
    assert _asked(np.sin(T) + 0.1 * rng.normal(size=N)) is None
