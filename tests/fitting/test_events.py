from importlib import import_module
from typing import Any

import numpy as np
import pytest

from alder import fit
from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.records.effort import FULL

optimize: Any = import_module("scipy.optimize")  # it has no types


def overlapping(seed: int = 0, n_rows: int = 300, shift: float = 0.0) -> dict[str, FloatArray]:
    """Draw events whose log-odds are a plane; `shift` makes them rare."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n_rows), rng.normal(size=n_rows)
    chance = 1.0 / (1.0 + np.exp(-(shift + 1.5 * x - z)))
    return {"x": x, "z": z, "hit": (rng.random(n_rows) < chance).astype(np.float64)}


def balanced_loss(scores: FloatArray, y: FloatArray) -> float:
    share = float(y.mean())
    w = np.where(y == 1.0, 0.5 / share, 0.5 / (1.0 - share))
    return float(np.mean(w * np.logaddexp(0.0, np.where(y == 1.0, -scores, scores))))


@pytest.mark.parametrize("shift", [0.0, -2.0])
def test_a_linear_score_agrees_with_an_independent_optimiser(shift: float) -> None:
    rows = overlapping(shift=shift)
    found = fit("b + a*x + c*z", rows, target="hit", objective="events")

    def loss(p: FloatArray) -> float:
        return balanced_loss(p[0] + p[1] * rows["x"] + p[2] * rows["z"], rows["hit"])

    oracle = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(found.loss, oracle.fun, rtol=1e-7)
    np.testing.assert_allclose(list(found.values.values()), oracle.x, rtol=1e-3, atol=1e-4)
    assert found.converged
    np.testing.assert_allclose(found.nmse, found.loss / np.log(2.0))


def test_a_nonlinear_score_agrees_with_an_independent_optimiser() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0.2, 3.0, 300)
    chance = 1.0 / (1.0 + np.exp(-(2.0 * x**1.7 - 4.0)))
    rows = {"x": x, "hit": (rng.random(300) < chance).astype(np.float64)}
    found = fit("k*x^p - c", rows, target="hit", objective="events")

    def loss(p: FloatArray) -> float:
        return balanced_loss(p[0] * x ** p[1] - p[2], rows["hit"])

    oracle = optimize.minimize(
        loss,
        [2.0, 1.7, 4.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 5000},
    )
    np.testing.assert_allclose(found.loss, oracle.fun, rtol=1e-6)


def test_rare_events_get_the_boundary_in_the_middle() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0.0, 1.0, 2000), rng.normal(2.0, 1.0, 40)])
    hit = np.concatenate([np.zeros(2000), np.ones(40)])
    found = fit("a*x + b", {"x": x, "hit": hit}, target="hit", objective="events")
    boundary = -found.values["b"] / found.values["a"]
    assert 0.8 < boundary < 1.2


def test_separable_events_end_with_finite_coefficients_and_say_so() -> None:
    x = np.linspace(-1.0, 1.0, 50)
    rows = {"x": x, "hit": (x > 0.2).astype(np.float64)}
    found = fit("a*x + b", rows, target="hit", objective="events")
    assert np.isfinite(list(found.values.values())).all()
    assert any("separates the rows without error" in note for note in found.undetermined)
    assert ((found.law.predict(rows) > 0.0) == (rows["hit"] == 1.0)).all()


def test_a_box_is_learnt_without_error() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.uniform(-2.0, 2.0, 400), rng.uniform(-2.0, 2.0, 400)
    rows = {"x": x, "y": y, "hit": (np.maximum(abs(x), abs(y)) < 1.3).astype(np.float64)}
    found = fit("s*(c - max(abs(x), abs(y)))", rows, target="hit", objective="events")
    assert ((found.law.predict(rows) > 0.0) == (rows["hit"] == 1.0)).all()
    assert 1.2 < found.values["c"] < 1.4


def test_bounds_and_fixed_values_hold_for_events() -> None:
    found = fit(
        "b + a*x + c*z", overlapping(), target="hit", objective="events",
        bounds={"a": (0.0, 0.5)}, fixed={"c": -0.25},
    )  # fmt: skip
    assert found.values["c"] == -0.25
    assert found.values["a"] == 0.5
    assert found.active_bounds == ("a",)


@pytest.mark.parametrize(
    "shift",
    [
        0.0,
        -3.5,
    ],
)
def test_intervals_of_slopes_cover_for_common_and_rare_events(shift: float) -> None:
    truth = {"a": 1.5, "c": -1.0}
    n_trials, hits = 60, 0
    for seed in range(n_trials):
        rows = overlapping(seed, n_rows=600, shift=shift)
        found = fit("b + a*x + c*z", rows, target="hit", objective="events", effort=FULL)
        by_name = {c.name: c for c in found.coefficients}
        hits += sum(by_name[n].lower <= value <= by_name[n].upper for n, value in truth.items())
    # Two coefficients a trial: three binomial standard deviations below 95 %.
    assert hits / (2 * n_trials) >= 0.89


def test_an_event_is_nought_or_one() -> None:
    rows = overlapping()
    rows["hit"] = rows["hit"] + 1.0
    with pytest.raises(BadTable, match="An event is 0 or 1; `hit` holds 2"):
        fit("a*x", rows, target="hit", objective="events")


def test_both_outcomes_must_occur() -> None:
    rows = overlapping()
    rows["hit"] = np.zeros(300)
    with pytest.raises(BadTable, match="`hit` is 0 in every row; both outcomes must occur"):
        fit("a*x", rows, target="hit", objective="events")
