"""Exact data are fitted to the last digits, whatever their scale."""

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.text import parse
from alder.records.effort import FULL, THOROUGH, Effort
from alder.records.proposal import Bounds
from kernel.points import solved

N_ROWS = 100
NAMES = ("r", "v", "t")


def exact_rows(scale: float = 1.0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(7)
    return {
        "r": scale * rng.uniform(0.5, 3.0, N_ROWS),
        "v": rng.uniform(-2.0, 2.0, N_ROWS),
        "t": rng.uniform(0.0, 4.0, N_ROWS),
    }


def nmse_of(text: str, truth: dict[str, float], columns: dict[str, FloatArray]) -> float:
    """Fit a law to its own values; return the error of what was found by the reference."""
    law = parse(text, NAMES)
    target = evaluate(law, columns, truth)
    found = solved([law], columns, target, FULL)
    residuals = target - evaluate(law, columns, found.of(0))
    return float(np.mean(np.square(residuals)) / np.var(target))


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("k*r^p - c*v", {"k": 2.0, "p": -1.5, "c": 0.3}),
        ("a + b*r + c*v", {"a": 1.0, "b": -2.0, "c": 0.5}),
        ("A*exp(-t/T) + b", {"A": 3.0, "T": 1.7, "b": -0.4}),
        ("m*r/(K + r)", {"m": 4.0, "K": 0.8}),
        ("A*tanh(w*v) - c*v^3", {"A": 2.0, "w": 0.7, "c": 0.1}),
    ],
)
def test_exact_data_are_fitted_to_the_last_digits(text: str, truth: dict[str, float]) -> None:
    assert nmse_of(text, truth, exact_rows()) < 1e-24


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0, 1e5, 1e11])
def test_powers_are_fitted_exactly_over_many_decades_of_scale(scale: float) -> None:
    rows = exact_rows(scale)
    rows["t"] = 1e3 * (rows["t"] + 0.5)
    assert nmse_of("k*r^p*t^q", {"k": 6.7e-11, "p": -2.0, "q": 1.5}, rows) < 1e-12


def test_a_column_that_spans_many_decades_is_fitted_exactly() -> None:
    rows = exact_rows()
    rows["r"] = np.geomspace(1e-6, 1e6, N_ROWS)
    assert nmse_of("k*r^p", {"k": 3e-4, "p": 0.75}, rows) < 1e-12


def test_a_search_passes_over_the_rows_no_more_often_than_its_effort_allows() -> None:
    columns = exact_rows()
    target = np.random.default_rng(0).normal(size=N_ROWS)
    effort = Effort(pool=8, starts=3, iterations=5, tolerance=1e-9)
    law = parse("A*tanh(w*v + b)*r^p", NAMES)
    found = solved([law], columns, target, effort)
    assert found.reports[0, 2] <= 3 * 5 + 8
    assert found.reports[0, 1] in (0.0, 1.0, 2.0)


@pytest.mark.parametrize(
    "text",
    [
        "a - (r*b)^p",
        "a - r^p",
    ],
)
def test_a_huge_offset_that_cancels_is_not_taken_for_an_exact_fit(text: str) -> None:
    rows = {"r": -exact_rows()["r"]}  # a floored base: the power is one huge number on every row
    target = np.random.default_rng(0).normal(size=N_ROWS)
    law = parse(text, ("r",))
    found = solved([law], rows, target, THOROUGH)
    residuals = target - evaluate(law, rows, found.of(0))
    assert float(np.mean(np.square(residuals))) < 1.001 * float(np.var(target))


def test_bounds_hold_where_no_start_gives_a_finite_fit() -> None:
    columns = {"r": np.array([-1.0, -2.0, 1.0, 2.0]), "v": np.ones(4)}
    bounds = {"p": Bounds(2.0, 3.0)}
    law = parse("where(v, r, p)^-1.5", ("r", "v"))
    found = solved([law], columns, np.arange(4.0), FULL, bounds=[bounds])
    assert 2.0 <= found.of(0)["p"] <= 3.0


def test_the_loss_of_more_starts_is_never_worse() -> None:
    columns = exact_rows()
    rng = np.random.default_rng(3)
    target = np.tanh(2.0 * columns["v"]) * columns["r"] + rng.normal(0.0, 0.1, N_ROWS)
    laws = [parse("A*tanh(w*v + b)*r^p", NAMES), parse("A*sin(w*t + b)", NAMES)]
    sums = [
        solved(
            laws, columns, target, Effort(pool=8, starts=starts, iterations=60, tolerance=1e-9)
        ).reports[:, 0]
        for starts in (1, 8)
    ]
    assert np.all(sums[1] <= sums[0] * (1.0 + 1e-9))
