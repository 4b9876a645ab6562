from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.selection.information import Information, distances, information
from alder.selection.sensitivity import sensitivity
from selection.worlds import draw_pool, make_evidence, some_candidates

SEEDS = st.integers(0, 2**32 - 1)


def exact_information(mean: FloatArray, variance: FloatArray, w: FloatArray) -> float:
    """Integrate the mutual information of a mixture of Gaussians on a fine grid."""
    sd = np.sqrt(variance)
    low, high = float((mean - 9.0 * sd).min()), float((mean + 9.0 * sd).max())
    y = np.linspace(low, high, 200_001)
    each = np.exp(-0.5 * ((y[:, None] - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    mixture = each @ w
    ratio = np.log(np.maximum(each, 1e-300) / np.maximum(mixture, 1e-300)[:, None])
    return float((each * ratio @ w).sum() * (y[1] - y[0]))


@settings(max_examples=20)
@given(SEEDS)
def test_the_bound_lies_below_the_information_and_not_far(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_laws = int(rng.integers(2, 6))
    mean = rng.normal(0.0, 10.0 ** rng.uniform(-1.0, 1.5), n_laws)
    variance = rng.uniform(1.0, 4.0, n_laws)
    w = rng.dirichlet(np.ones(n_laws))
    bound = float(information(distances(mean[None, None], variance[None, None]), w)[0])
    exact = exact_information(mean, variance, w)
    assert -1e-9 <= bound <= exact + 1e-6
    assert exact - bound <= 0.35


def test_laws_far_apart_tell_the_entropy_of_their_weights() -> None:
    w = np.array([0.5, 0.3, 0.2])
    B = distances(np.array([[[0.0, 1e3, -1e3]]]), np.ones((1, 1, 3)))
    np.testing.assert_allclose(information(B, w), -(w * np.log(w)).sum())


def test_sensitivity_squares_to_the_variance_of_the_prediction() -> None:
    world = draw_pool(1, unsafe=0.0)
    positions = np.arange(len(world.offered))
    for candidate in some_candidates():
        small = replace(candidate.law, covariance=1e-6 * candidate.law.covariance)
        found = np.square(sensitivity(small, world, positions)).sum(axis=(1, 2))
        expected = np.square(small.standard_error(world.offered.columns))
        np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_uncertain_coefficients_make_a_difference_less_telling() -> None:
    sharp = tuple(
        replace(c, law=replace(c.law, covariance=np.zeros_like(c.law.covariance)))
        for c in some_candidates()
    )
    world, rng = draw_pool(1, unsafe=0.0), np.random.default_rng(0)
    select = Information().select
    (known,) = select(sharp, make_evidence(), world, 1, rng)
    (unknown,) = select(some_candidates(), make_evidence(), world, 1, rng)
    assert unknown.score < known.score
    assert "nats" in known.reason


def test_later_choices_tell_less() -> None:
    world, rng = draw_pool(1, n=300, unsafe=0.0, costs=(1.0,)), np.random.default_rng(0)
    choices = Information().select(some_candidates(), make_evidence(), world, 4, rng)
    scores = [choice.score for choice in choices]
    assert scores == sorted(scores, reverse=True)
