"""Intervals cover what they say they cover, as often as they say."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from alder import Fit, Noise, fit
from alder.arrays import FloatArray

LEVEL = 0.95
Draw = Callable[[np.random.Generator], dict[str, FloatArray]]


def line(rng: np.random.Generator) -> dict[str, FloatArray]:
    x = rng.uniform(0.0, 2.0, 12)
    return {"x": x, "y": 1.0 + 2.0 * x + rng.normal(0.0, 0.3, 12)}


def power(rng: np.random.Generator) -> dict[str, FloatArray]:
    r, v = rng.uniform(1.0, 3.0, 40), rng.uniform(-1.0, 1.0, 40)
    return {"r": r, "v": v, "y": 2.0 * r**-1.5 - 0.3 * v + rng.normal(0.0, 0.05, 40)}


def saturating(rng: np.random.Generator) -> dict[str, FloatArray]:
    s = rng.uniform(0.1, 5.0, 60)
    return {"s": s, "y": 4.0 * s / (0.8 + s) + rng.normal(0.0, 0.1, 60)}


def proportional(rng: np.random.Generator) -> dict[str, FloatArray]:
    s = rng.uniform(0.1, 5.0, 120)
    f = 3.0 * s**2
    return {"s": s, "y": f + Noise(0.05, 0.1).sigma(f) * rng.normal(size=120)}


def grouped(rng: np.random.Generator) -> dict[str, FloatArray]:
    x, g = rng.uniform(0.2, 2.0, 40), rng.integers(0, 4, 40)
    y = 1.0 + 2.0 * x**1.5 + np.array([0.5, -0.2, 0.1, 0.9])[g] + rng.normal(0.0, 0.2, 40)
    return {"x": x, "g": g.astype(np.float64), "y": y}


def with_error_bars(rng: np.random.Generator) -> dict[str, FloatArray]:
    x, s = rng.uniform(0.0, 2.0, 15), rng.uniform(0.1, 0.5, 15)
    return {"x": x, "s": s, "y": 1.0 + 2.0 * x + s * rng.normal(size=15)}


def assert_nominal(hits: float, n_trials: int, level: float = LEVEL) -> None:
    """Three binomial standard deviations, and a point for curvature the intervals leave out."""
    slack = 3.0 * (level * (1.0 - level) / n_trials) ** 0.5 + 0.01
    assert abs(hits / n_trials - level) < slack


CASES: list[tuple[Draw, str, dict[str, float], dict[str, Any], int]] = [
    (line, "a + b*x", {"a": 1.0, "b": 2.0}, {}, 250),
    (power, "k*r^p - c*v", {"k": 2.0, "p": -1.5, "c": 0.3}, {}, 250),
    (saturating, "m*s/(K + s)", {"m": 4.0, "K": 0.8}, {}, 250),
    (proportional, "m*s^p", {"m": 3.0, "p": 2.0}, {}, 80),
    (grouped, "a + b*x^p", {"b": 2.0, "p": 1.5}, {"group": "g"}, 250),
    (with_error_bars, "a + b*x", {"a": 1.0, "b": 2.0}, {"sigma": "s"}, 250),
]


@pytest.mark.parametrize(("draw", "text", "truth", "roles", "n_trials"), CASES)
def test_intervals_of_coefficients_cover_at_their_nominal_rate(
    draw: Draw, text: str, truth: dict[str, float], roles: dict[str, Any], n_trials: int
) -> None:
    rng = np.random.default_rng(11)
    hits = dict.fromkeys(truth, 0)
    for _ in range(n_trials):
        found = fit(text, draw(rng), target="y", **roles)
        for c in found.coefficients:
            if c.name in truth:
                hits[c.name] += c.lower <= truth[c.name] <= c.upper
    for count in hits.values():
        assert_nominal(count, n_trials)


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize(
    ("draw", "text", "n_trials"),
    [
        (line, "a + b*x", 150),
        (power, "k*r^p - c*v", 150),
        (proportional, "m*s^p", 30),
    ],
)
def test_prediction_intervals_cover_new_observations(
    draw: Draw, text: str, n_trials: int, level: float
) -> None:
    rng = np.random.default_rng(12)
    inside = total = 0
    for _ in range(n_trials):
        law = fit(text, draw(rng), target="y").law
        fresh = draw(rng)
        lower, upper = law.predict_interval(fresh, level)
        inside += int(np.sum((fresh["y"] >= lower) & (fresh["y"] <= upper)))
        total += len(fresh["y"])
    # Rows of one trial share a law, so the number of trials bounds the certainty.
    assert_nominal(inside / total * n_trials, n_trials, level)


def test_intervals_cover_rows_of_a_group_the_fit_has_not_seen() -> None:
    rng = np.random.default_rng(17)
    n_trials, hits = 250, 0
    for _ in range(n_trials):
        x, g = rng.uniform(0.2, 2.0, 60), np.arange(60) // 10
        y = 1.0 + 2.0 * x + rng.normal(0.0, 0.5, 6)[g] + rng.normal(0.0, 0.2, 60)
        known = {"x": x[:50], "g": g[:50], "y": y[:50]}
        law = fit("a + b*x", known, target="y", group="g").law
        lower, upper = law.predict_interval({"x": x[50:51]})
        hits += int(lower[0] <= y[50] <= upper[0])
    assert_nominal(hits, n_trials)


def test_intervals_of_the_mean_cover_the_law_behind_the_data() -> None:
    rng = np.random.default_rng(13)
    at = {"r": np.array([1.2, 2.0, 2.8]), "v": np.array([0.5, -0.5, 0.0])}
    truth = 2.0 * at["r"] ** -1.5 - 0.3 * at["v"]
    hits = np.zeros(3)
    for _ in range(250):
        found = fit("k*r^p - c*v", power(rng), target="y")
        lower, upper = found.law.predict_interval(at, noise=False)
        hits += (truth >= lower) & (truth <= upper)
    for count in hits:
        assert_nominal(float(count), 250)


def test_an_undetermined_product_still_predicts_with_a_finite_interval() -> None:
    rows = line(np.random.default_rng(0))
    whole: Fit = fit("a + b*x", rows, target="y")
    split = fit("a + k*c*x", rows, target="y")
    for ends, expected in zip(
        split.law.predict_interval(rows), whole.law.predict_interval(rows), strict=True
    ):
        np.testing.assert_allclose(ends, expected, rtol=1e-2)


def test_the_covariance_is_ordered_as_the_coefficients() -> None:
    found = fit("k*r^p - c*v", power(np.random.default_rng(1)), target="y", fixed={"p": -1.5})
    errors = np.sqrt(np.diag(found.covariance))
    np.testing.assert_allclose(errors, [c.standard_error for c in found.coefficients])
    assert found.covariance[1].tolist() == [0.0, 0.0, 0.0]
