import numpy as np
import pytest

from alder.arrays import FloatArray, freeze
from alder.errors import BadTable
from alder.expr.text import parse
from alder.fitting.standing import LEVEL, judge
from alder.records.coefficient import Coefficient
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

SIGMA = 0.1


def observed(rng: np.random.Generator, n_rows: int) -> dict[str, FloatArray]:
    x = rng.uniform(0.0, 2.0, n_rows)
    return {"x": x, "y": 1.0 + 2.0 * x + rng.normal(0.0, SIGMA, n_rows)}


def least_squares(rows: dict[str, FloatArray]) -> Law:
    """Fit a line by the textbook formulas, independent of our fitter."""
    J = np.stack([np.ones_like(rows["x"]), rows["x"]], axis=1)
    inverse = np.linalg.inv(J.T @ J)
    values = inverse @ J.T @ rows["y"]
    df = len(J) - 2
    variance = float(np.sum(np.square(rows["y"] - J @ values))) / df
    return Law(
        structure=parse("a + b*x", ["x"]),
        target=Variable("y"),
        variables=(Variable("x"),),
        coefficients=tuple(
            Coefficient(name, float(value), 0.1, float(value) - 0.2, float(value) + 0.2, "free")
            for name, value in zip("ab", values, strict=True)
        ),
        covariance=freeze(variance * inverse),
        residual_df=df,
        noise=Noise(variance**0.5),
        scope=Scope({"x": (0.0, 2.0)}),
    )


@pytest.mark.parametrize(("n_fit", "n_new"), [(8, 40), (30, 5), (20, 200)])
def test_a_true_law_is_called_broken_as_rarely_as_promised(n_fit: int, n_new: int) -> None:
    rng = np.random.default_rng(n_fit)
    n_trials = 1500
    alarms = sum(
        not judge(least_squares(observed(rng, n_fit)), observed(rng, n_new)).holds
        for _ in range(n_trials)
    )
    # Binomial: three standard deviations around the promised rate.
    slack = 3.0 * (n_trials * LEVEL * (1.0 - LEVEL)) ** 0.5
    assert abs(alarms - n_trials * LEVEL) <= slack


def test_a_drift_is_found_and_located() -> None:
    rng = np.random.default_rng(0)
    law, rows = least_squares(observed(rng, 40)), observed(rng, 60)
    rows["y"] = rows["y"] + np.where(rows["x"] > 1.4, 0.5, 0.0)
    standing = judge(law, rows)
    assert not standing.holds
    assert standing.worst is not None
    assert standing.worst.low > 1.0
    assert standing.bias_score > 3.0


def test_rows_outside_scope_and_incomplete_rows_are_counted_not_judged() -> None:
    rng = np.random.default_rng(1)
    rows = observed(rng, 20)
    x, y = np.append(rows["x"], [9.0, np.nan, 1.0]), np.append(rows["y"], [0.0, 1.0, np.nan])
    standing = judge(least_squares(observed(rng, 40)), {"x": x, "y": y})
    assert (standing.n_judged, standing.n_outside, standing.n_missing) == (20, 1, 2)
    assert standing.holds


def test_error_bars_of_the_rows_take_the_place_of_the_noise() -> None:
    rng = np.random.default_rng(2)
    law, rows = least_squares(observed(rng, 40)), observed(rng, 40)
    assert judge(law, {**rows, "bar": np.full(40, SIGMA)}, sigma="bar").holds
    assert not judge(law, {**rows, "bar": np.full(40, SIGMA / 5.0)}, sigma="bar").holds


def test_error_bars_must_be_positive() -> None:
    rng = np.random.default_rng(2)
    law, rows = least_squares(observed(rng, 40)), observed(rng, 5)
    with pytest.raises(BadTable, match="Error bars must be positive"):
        judge(law, {**rows, "bar": np.array([0.1, 0.1, 0.0, 0.1, 0.1])}, sigma="bar")


def test_rows_none_of_which_are_in_scope_cannot_judge() -> None:
    law = least_squares(observed(np.random.default_rng(3), 10))
    with pytest.raises(BadTable, match="None of the 2 complete rows"):
        judge(law, {"x": [5.0, 6.0], "y": [1.0, 1.0]})
