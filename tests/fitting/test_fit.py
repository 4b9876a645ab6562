from importlib import import_module
from typing import Any

import numpy as np
import pytest

from alder import Bounds, Effort, Noise, Proposal, Variable, fit, parse
from alder.arrays import FloatArray
from alder.errors import AlderError, BadParameter, BadTable, MalformedLaw
from alder.expr.evaluate import evaluate, jacobian

optimize: Any = import_module("scipy.optimize")  # it has no types
N_ROWS = 60


def motion(seed: int = 0, noise: float = 0.05) -> dict[str, FloatArray]:
    """Draw rows of a force that falls with distance, and drag."""
    rng = np.random.default_rng(seed)
    r, v = rng.uniform(1.0, 3.0, N_ROWS), rng.uniform(-1.0, 1.0, N_ROWS)
    return {"r": r, "v": v, "a": 2.0 * r**-1.5 - 0.3 * v + rng.normal(0.0, noise, N_ROWS)}


def power(rows: FloatArray, k: float, p: float, c: float) -> FloatArray:
    return k * rows[0] ** p - c * rows[1]


def saturation(rows: FloatArray, m: float, K: float) -> FloatArray:
    return m * rows[0] / (K + rows[0])


def decay(rows: FloatArray, A: float, T: float, b: float) -> FloatArray:
    return A * np.exp(-rows[0] / T) + b


@pytest.mark.parametrize(
    ("text", "model", "truth"),
    [
        ("k*r^p - c*v", power, [2.0, -1.5, 0.3]),
        ("m*r/(K + r)", saturation, [4.0, 0.8]),
        ("A*exp(-r/T) + b", decay, [3.0, 0.7, -0.5]),
    ],
)
def test_coefficients_and_covariance_agree_with_scipy(
    text: str, model: Any, truth: list[float]
) -> None:
    rows = motion()
    x = np.array([rows["r"], rows["v"]])
    y = model(x, *truth) + np.random.default_rng(1).normal(0.0, 0.05, N_ROWS)
    found = fit(text, {**rows, "a": y}, target="a", noise=None)
    best, covariance = optimize.curve_fit(model, x, y, p0=truth, xtol=1e-14, ftol=1e-14)
    order = [found.law.coefficients.index(c) for c in found.coefficients]
    assert order == list(range(len(truth)))
    assert found.noise.proportional == 0.0
    np.testing.assert_allclose(list(found.values.values()), best, rtol=1e-5)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-3)


def test_a_fit_is_the_same_every_time() -> None:
    first, second = (fit("k*r^p - c*v", motion(), target="a") for _ in range(2))
    assert first.values == second.values
    assert first.law.digest == second.law.digest


def test_a_fit_says_how_good_it_is() -> None:
    rows = motion()
    found = fit("k*r^p - c*v", rows, target="a")
    residuals = rows["a"] - found.law.predict(rows)
    np.testing.assert_allclose(found.loss, np.mean(np.square(residuals)))
    np.testing.assert_allclose(found.nmse, found.loss / np.var(rows["a"]))
    assert found.n_rows == N_ROWS
    assert found.residual_df == N_ROWS - 3
    np.testing.assert_allclose(
        found.noise.additive, np.sqrt(np.sum(np.square(residuals)) / (N_ROWS - 3))
    )
    assert 1.0 <= found.condition < 1e3
    assert found.reason == "converged"


def test_exact_data_leave_nothing_unexplained() -> None:
    found = fit("k*r^p - c*v", motion(noise=0.0), target="a")
    assert found.nmse < 1e-24
    assert found.converged
    np.testing.assert_allclose(list(found.values.values()), [2.0, -1.5, 0.3], rtol=1e-10)


@pytest.mark.parametrize(
    "structure",
    [
        "k*r^p - c*v",
        parse("k*r^p - c*v", ["r", "v"]),
        Proposal(parse("k*r^p - c*v", ["r", "v"]), {"p": Bounds(-3.0, 0.0)}),
    ],
)
def test_text_trees_and_proposals_are_fitted_alike(structure: Any) -> None:
    found = fit(structure, motion(noise=0.0), target="a")
    np.testing.assert_allclose(list(found.values.values()), [2.0, -1.5, 0.3], rtol=1e-9)


def test_a_fixed_parameter_stays_and_costs_no_degree_of_freedom() -> None:
    rows = motion()
    found = fit("k*r^p - c*v", rows, target="a", fixed={"p": -1.5})
    A = np.stack([rows["r"] ** -1.5, -rows["v"]], axis=1)
    expected = np.linalg.lstsq(A, rows["a"], rcond=None)[0]
    assert found.values["p"] == -1.5
    np.testing.assert_allclose([found.values["k"], found.values["c"]], expected, rtol=1e-9)
    fixed = next(c for c in found.coefficients if c.name == "p")
    assert (fixed.state, fixed.standard_error) == ("fixed", 0.0)
    assert fixed.lower == fixed.upper == -1.5
    assert found.residual_df == N_ROWS - 2


def test_a_law_with_every_parameter_fixed_is_judged_as_it_is() -> None:
    rows = motion()
    values = {"k": 2.0, "p": -1.5, "c": 0.3}
    found = fit("k*r^p - c*v", rows, target="a", fixed=values)
    assert found.values == values
    residuals = rows["a"] - evaluate(found.structure, {"r": rows["r"], "v": rows["v"]}, values)
    np.testing.assert_allclose(found.loss, np.mean(np.square(residuals)))
    assert found.residual_df == N_ROWS


@pytest.mark.parametrize(
    ("bounds", "active", "state"),
    [
        ({"c": (0.5, 2.0)}, ("c",), "at lower bound"),
        ({"c": (-2.0, 0.1)}, ("c",), "at upper bound"),
        ({"p": (-1.0, 0.0)}, ("p",), "at lower bound"),
        ({"p": (-3.0, 0.0)}, (), "free"),
    ],
)
def test_active_bounds_are_told(
    bounds: dict[str, tuple[float, float]], active: tuple[str, ...], state: str
) -> None:
    found = fit("k*r^p - c*v", motion(), target="a", bounds=bounds)
    name = next(iter(bounds))
    coefficient = next(c for c in found.coefficients if c.name == name)
    assert found.active_bounds == active
    assert coefficient.state == state
    assert (coefficient.standard_error == 0.0) == bool(active)
    assert bounds[name][0] <= coefficient.value <= bounds[name][1]


def test_weights_are_repeated_rows() -> None:
    rows = motion()
    times = np.random.default_rng(3).integers(1, 4, N_ROWS)
    weighted = fit("k*r^p - c*v", {**rows, "w": times.astype(float)}, target="a", weight="w")
    repeated = {name: np.repeat(column, times) for name, column in rows.items()}
    several = fit("k*r^p - c*v", repeated, target="a")
    np.testing.assert_allclose(
        list(weighted.values.values()), list(several.values.values()), rtol=1e-6
    )
    np.testing.assert_allclose(weighted.nmse, several.nmse, rtol=1e-9)


def test_rows_of_weight_zero_do_not_count() -> None:
    rows = motion()
    spoilt = {**rows, "a": np.where(np.arange(N_ROWS) < 5, 100.0, rows["a"])}
    weight = np.where(np.arange(N_ROWS) < 5, 0.0, 1.0)
    found = fit("k*r^p - c*v", {**spoilt, "w": weight}, target="a", weight="w")
    kept = fit("k*r^p - c*v", {name: column[5:] for name, column in rows.items()}, target="a")
    np.testing.assert_allclose(list(found.values.values()), list(kept.values.values()), rtol=1e-6)


def test_error_bars_give_an_absolute_covariance() -> None:
    rng = np.random.default_rng(5)
    rows = motion()
    sigma = rng.uniform(0.02, 0.2, N_ROWS)
    x = np.array([rows["r"], rows["v"]])
    y = power(x, 2.0, -1.5, 0.3) + sigma * rng.normal(size=N_ROWS)
    found = fit("k*r^p - c*v", {**rows, "a": y, "s": sigma}, target="a", sigma="s")
    best, covariance = optimize.curve_fit(
        power, x, y, p0=[2.0, -1.5, 0.3], sigma=sigma, absolute_sigma=True, xtol=1e-14
    )
    np.testing.assert_allclose(list(found.values.values()), best, rtol=1e-5)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-3)
    k = found.coefficients[0]
    np.testing.assert_allclose((k.upper - k.lower) / 2.0, 1.959964 * k.standard_error, rtol=1e-5)
    assert found.noise.origin == "given"


def test_given_noise_gives_an_absolute_covariance() -> None:
    rows = motion()
    found = fit("k*r^p - c*v", rows, target="a", noise=Noise(0.7, origin="given"))
    columns = {"r": rows["r"], "v": rows["v"]}
    _, J = jacobian(found.structure, columns, found.values, ["k", "p", "c"])
    np.testing.assert_allclose(found.covariance, 0.49 * np.linalg.inv(J.T @ J), rtol=1e-6)


def test_units_of_coefficients_make_the_law_consistent() -> None:
    rows = motion(noise=0.0)
    found = fit(
        "k*r^p - c*v", rows, target=Variable("a", unit="m/s^2"), fixed={"p": -2.0},
        variables=[Variable("r", unit="m"), Variable("v", unit="m/s")],
    )  # fmt: skip
    units = {c.name: c.unit for c in found.coefficients}
    assert units["k"] in ("m^3/s^2", "m³/s²", "m^3*s^-2")
    assert units["c"] in ("1/s", "s^-1")


SCALES = (("r", 1e-3), ("r", 1e6), ("v", 1e4), ("a", 1e-5), ("a", 1e3))


@pytest.mark.parametrize(("column", "scale"), SCALES)
@pytest.mark.parametrize(
    "text", ["k*r^p - c*v", "A*exp(-r/T) + b*v", "m*r/(K + r) + d", "A*tanh(w*v + u*r)"]
)
def test_predictions_do_not_change_with_units(text: str, column: str, scale: float) -> None:
    rows = motion()
    scaled = {**rows, column: rows[column] * scale}
    before, after = fit(text, rows, target="a"), fit(text, scaled, target="a")
    target_scale = scale if column == "a" else 1.0
    np.testing.assert_allclose(
        after.law.predict(scaled) / target_scale, before.law.predict(rows), rtol=2e-5, atol=2e-6
    )
    np.testing.assert_allclose(after.nmse, before.nmse, rtol=1e-6)


def test_coefficients_and_their_errors_follow_a_change_of_units() -> None:
    rows = motion()
    km = {**rows, "r": rows["r"] / 1000.0, "a": rows["a"] / 1000.0, "v": rows["v"] / 1000.0}
    bounds = {"k": (0.0, 10.0), "c": (0.0, 5.0)}
    before = fit("k*r^p - c*v", rows, target="a", bounds=bounds)
    ratio = 1000.0 ** (before.values["p"] - 1.0)
    in_km = {"k": (0.0, 10.0 * ratio), "c": (0.0, 5.0)}
    after = fit("k*r^p - c*v", km, target="a", bounds=in_km)
    for name, factor in {"k": ratio, "p": 1.0, "c": 1.0}.items():
        np.testing.assert_allclose(after.values[name], factor * before.values[name], rtol=1e-4)
    by_name = {c.name: c for c in after.coefficients}
    for c in before.coefficients[1:]:
        np.testing.assert_allclose(by_name[c.name].standard_error, c.standard_error, rtol=1e-3)


def test_a_fit_that_ran_out_of_passes_says_so() -> None:
    effort = Effort(pool=1, starts=1, iterations=1, tolerance=1e-12)
    found = fit("A*exp(-r/T) + b", motion(), target="a", effort=effort)
    assert not found.converged
    assert "iteration limit" in found.reason


def test_a_fit_that_is_nowhere_finite_says_so() -> None:
    rows = {"x": np.linspace(-3.0, -1.0, 20), "y": np.arange(20.0)}
    found = fit("x^-1.5 + 0*k", rows, target="y")
    assert not found.converged
    assert "narrow the bounds" in found.reason


def test_incomplete_rows_are_left_out() -> None:
    rows = motion()
    holes = {name: column.copy() for name, column in rows.items()}
    holes["r"][3], holes["a"][7] = np.nan, np.nan
    keep = [i for i in range(N_ROWS) if i not in (3, 7)]
    found = fit("k*r^p - c*v", holes, target="a")
    kept = fit("k*r^p - c*v", {name: column[keep] for name, column in rows.items()}, target="a")
    assert found.n_rows == N_ROWS - 2
    assert found.values == kept.values


def test_a_hole_in_a_column_the_law_does_not_use_costs_nothing() -> None:
    rows = motion()
    found = fit("k*r^p", {**rows, "z": np.full(N_ROWS, np.nan)}, target="a")
    assert found.n_rows == N_ROWS


def test_as_many_rows_as_coefficients_leave_no_degrees_of_freedom() -> None:
    rows = {name: column[:3] for name, column in motion().items()}
    found = fit("k + c*r + d*v", rows, target="a")
    assert found.residual_df == 0
    assert found.nmse < 1e-20
    lower, upper = found.law.predict_interval(rows)
    assert np.isinf(lower).all()
    assert np.isinf(upper).all()


def test_without_degrees_of_freedom_nothing_is_known_of_the_errors() -> None:
    rows = {name: column[:3] for name, column in motion().items()}
    found = fit("k + c*r + d*v", rows, target="a")
    assert all(np.isinf(c.upper - c.lower) for c in found.coefficients)


def test_given_noise_has_normal_quantiles_for_coefficients_too() -> None:
    rows = {name: column[:6] for name, column in motion().items()}
    found = fit("k + c*r + d*v", rows, target="a", noise=Noise(0.05, origin="given"))
    k = found.coefficients[0]
    np.testing.assert_allclose((k.upper - k.lower) / 2.0, 1.959964 * k.standard_error, rtol=1e-5)


@pytest.mark.parametrize("law", ["k/c*r", "k*c*r + b*d*v"])
def test_a_redundant_parameter_does_not_keep_a_fit_from_converging(law: str) -> None:
    assert fit(law, motion(), target="a").converged


def test_well_determined_fits_converge() -> None:
    rng = np.random.default_rng(0)
    ends: set[str] = set()
    for seed in range(60):
        r = motion(seed)["r"]
        y = 4.0 * r / (0.8 + r) + rng.normal(0.0, 0.05, N_ROWS)
        ends.add(fit("m*r/(K + r)", {"r": r, "a": y}, target="a").reason)
    assert ends == {"converged"}


def test_fewer_rows_than_coefficients_leave_some_undetermined() -> None:
    rows = {name: column[:2] for name, column in motion().items()}
    found = fit("k + c*r + d*v", rows, target="a")
    assert found.undetermined
    assert all(c.state == "undetermined" for c in found.coefficients)


MISUSES: list[tuple[dict[str, Any], type[AlderError], str]] = [
    ({"bounds": {"kk": (0.0, 1.0)}}, BadParameter, "`kk` is not a parameter.*Did you mean `k`"),
    ({"fixed": {"q": 1.0}}, BadParameter, "`q` is not a parameter of the law; it has k, p, c"),
    ({"bounds": {"k": (1.0, 0.0)}}, BadParameter, "lower bound must lie below"),
    (
        {"bounds": {"k": (0.0, 1.0)}, "fixed": {"k": 2.0}},
        BadParameter,
        "`k` is fixed at 2, outside its bounds 0 to 1",
    ),
    ({"sigma": "v"}, BadTable, "Error bars must be positive; column `v` has others"),
    ({"weight": "v"}, BadTable, "Weights must not be negative; column `v` has others"),
    ({"target": "acc"}, BadTable, "acc"),
    ({"sigma": "sigm"}, BadTable, "sigm"),
    ({"structure": "k*r^p -"}, MalformedLaw, "k.r.p -"),
]


@pytest.mark.parametrize(("change", "error", "sentence"), MISUSES)
def test_misuse_is_told_in_one_sentence(
    change: dict[str, Any], error: type[AlderError], sentence: str
) -> None:
    # With `v` in a role it is no variable, so the law becomes one of r alone.
    text = "k*r^p - c" if "v" in change.values() else "k*r^p - c*v"
    call: dict[str, Any] = {"structure": text, "rows": motion(), "target": "a", **change}
    with pytest.raises(error, match=sentence):
        fit(call.pop("structure"), call.pop("rows"), **call)


def test_a_constant_target_is_refused() -> None:
    with pytest.raises(BadTable, match="`a` is 2 in every row"):
        fit("k*r", {**motion(), "a": np.full(N_ROWS, 2.0)}, target="a")


def test_rows_that_all_miss_a_value_are_refused() -> None:
    with pytest.raises(BadTable, match="nothing is left"):
        fit("k*r", {**motion(), "a": np.full(N_ROWS, np.nan)}, target="a")


def test_infinite_values_are_refused_or_left_out() -> None:
    rows = motion()
    rows["a"] = rows["a"].copy()
    rows["a"][0] = np.inf
    with pytest.raises(BadTable):
        fit("k*r^p - c*v", rows, target="a")
