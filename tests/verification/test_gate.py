"""Thresholds with noise keep the promise of thresholds without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

from alder.verification.gate import Gate, fair_threshold, score
from alder.verification.spending import AlphaSpending, Thresholdout


@pytest.mark.parametrize(("limit", "scale"), [(0.01, 0.5), (0.02, 0.2), (0.2, 3.0)])
def test_a_law_that_holds_is_refused_as_often_as_promised(limit: float, scale: float) -> None:
    draws, n = np.random.default_rng(0), 400_000
    noisy = fair_threshold(limit, scale) + draws.laplace(0.0, scale, n)
    missed = float(np.mean(draws.normal(size=n) < noisy))
    assert missed == pytest.approx(limit, abs=4.0 * (limit / n) ** 0.5)


def test_through_the_gate_a_uniform_p_value_is_refused_as_often_as_promised() -> None:
    limit, n = 0.05, 3000
    p = np.random.default_rng(1).uniform(size=n)
    gates = [Gate(Thresholdout(), 0.05, b"secret", i) for i in range(n)]
    refused = sum(not gate.is_consistent(one, limit) for gate, one in zip(gates, p, strict=True))
    assert abs(refused - n * limit) <= 4.0 * (n * limit) ** 0.5


@given(st.floats(1e-6, 0.4), st.floats(1e-3, 5.0))
def test_noise_lowers_the_threshold(limit: float, scale: float) -> None:
    assert fair_threshold(limit, scale) <= fair_threshold(limit, 0.0) + 1e-9


def test_without_noise_levels_are_compared_as_they_are() -> None:
    gate = Gate(AlphaSpending(), 0.04, b"", 0)
    assert gate.is_consistent(0.02, 0.02)
    assert not gate.is_consistent(0.019, 0.02)
    assert gate.beats_reference(0.02)
    assert not gate.beats_reference(0.021)


@given(st.floats(1e-12, 1.0 - 1e-12))
def test_a_score_is_the_quantile_of_its_p_value(p: float) -> None:
    assert float(ndtr(score(p))) == pytest.approx(p, rel=1e-6, abs=1e-9)
