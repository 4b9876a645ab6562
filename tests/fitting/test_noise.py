import numpy as np

from alder import Noise, fit
from alder.arrays import FloatArray
from alder.fitting.noise import estimate_noise


def residuals(
    rng: np.random.Generator, n_rows: int, additive: float, proportional: float
) -> tuple[FloatArray, FloatArray]:
    """Draw residuals around predictions over two decades."""
    predictions = 10.0 ** rng.uniform(-1.0, 1.0, n_rows)
    sigma = Noise(additive, proportional).sigma(predictions)
    return sigma * rng.normal(size=n_rows), predictions


def test_both_parts_of_the_noise_are_recovered() -> None:
    rng = np.random.default_rng(0)
    found = [estimate_noise(*residuals(rng, 400, 0.1, 0.2), residual_df=400) for _ in range(40)]
    np.testing.assert_allclose(np.mean([n.additive for n in found]), 0.1, rtol=0.05)
    np.testing.assert_allclose(np.mean([n.proportional for n in found]), 0.2, rtol=0.05)


def test_additive_noise_seldom_looks_proportional() -> None:
    rng = np.random.default_rng(1)
    found = [estimate_noise(*residuals(rng, 50, 0.3, 0.0), residual_df=50) for _ in range(200)]
    assert sum(n.proportional > 0.0 for n in found) <= 7  # one in a hundred, and three deviations
    np.testing.assert_allclose(np.mean([n.additive for n in found]), 0.3, rtol=0.03)


def test_purely_proportional_noise_leaves_little_for_the_additive_part() -> None:
    rng = np.random.default_rng(2)
    found = estimate_noise(*residuals(rng, 2000, 0.0, 0.1), residual_df=2000)
    np.testing.assert_allclose(found.proportional, 0.1, rtol=0.1)
    assert found.additive < 0.01


def test_the_noise_follows_the_unit_of_the_target() -> None:
    rng = np.random.default_rng(3)
    e, f = residuals(rng, 300, 0.1, 0.2)
    small, large = estimate_noise(e, f, 298), estimate_noise(1e6 * e, 1e6 * f, 298)
    np.testing.assert_allclose(large.additive, 1e6 * small.additive, rtol=1e-6)
    np.testing.assert_allclose(large.proportional, small.proportional, rtol=1e-6)


def test_the_noise_is_corrected_for_the_coefficients_fitted() -> None:
    e, f = residuals(np.random.default_rng(4), 12, 0.3, 0.0)
    found = estimate_noise(e, f, residual_df=6)
    np.testing.assert_allclose(found.additive, np.sqrt(np.sum(e**2) / 6.0))


def test_no_degrees_of_freedom_give_no_noise() -> None:
    assert estimate_noise(np.ones(3), np.ones(3), residual_df=0) == Noise(0.0, origin="none")


def test_given_noise_may_be_purely_proportional() -> None:
    rng = np.random.default_rng(6)
    s = rng.uniform(0.5, 5.0, 80)
    f = 3.0 * s**2
    y = f * (1.0 + 0.1 * rng.normal(size=80))
    found = fit("m*s^2", {"s": s, "y": y}, target="y", noise=Noise(0.0, 0.1, origin="given"))
    # With weights 1 / (m s^2)^2 the coefficient is the mean of y / s^2, known to 10 % / sqrt(80).
    np.testing.assert_allclose(found.values["m"], np.mean(y / s**2), rtol=1e-3)
    error = found.coefficients[0].standard_error
    np.testing.assert_allclose(error, 0.1 * found.values["m"] / np.sqrt(80.0), rtol=1e-2)


def test_a_fit_weighs_rows_by_the_noise_it_finds() -> None:
    n_rows = 300
    rng = np.random.default_rng(5)
    truth = {"m": 3.0, "p": 2.0}
    plain: list[float] = []
    weighed: list[float] = []
    for _ in range(15):
        s = rng.uniform(0.1, 5.0, n_rows)
        f = truth["m"] * s ** truth["p"]
        rows = {"s": s, "y": f + Noise(0.02, 0.1).sigma(f) * rng.normal(size=n_rows)}
        found = fit("m*s^p", rows, target="y")
        assert 0.08 < found.noise.proportional < 0.12
        weighed.append(found.values["p"] - truth["p"])
        given = fit("m*s^p", rows, target="y", noise=Noise(1.0, origin="given"))
        plain.append(given.values["p"] - truth["p"])
    assert np.std(weighed) < 0.5 * np.std(plain)
