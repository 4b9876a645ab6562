import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from alder.arrays import FloatArray
from alder.bench.benchmark import Row
from alder.bench.boundary.predictors import auroc, fit_predictors, is_admitted, nmse
from alder.bench.boundary.regimes import INPUTS, LIBRARY, NOISE, REGIMES, draw, library
from alder.bench.boundary.run import BENCHMARK, figures, table
from alder.expr.evaluate import evaluate
from alder.expr.text import parse

SEED = 70


def test_regimes_share_inputs_and_noise() -> None:
    drawn = [draw(regime, SEED, 0)["train"] for regime in REGIMES]
    for rows in drawn[1:]:
        assert np.array_equal(rows.inputs, drawn[0].inputs)
        assert np.allclose(rows.noisy - rows.clean, drawn[0].noisy - drawn[0].clean)


def test_the_library_as_a_law_says_what_the_library_computes() -> None:
    inputs = draw("complete", SEED, 0)["shift"].inputs
    coefficients = {f"c{i}": 0.3 * (i - 2) for i in range(6)}
    columns: dict[str, FloatArray] = {name: inputs[:, i] for i, name in enumerate(INPUTS)}
    said = evaluate(parse(LIBRARY, INPUTS), columns, coefficients)
    assert np.allclose(said, library(inputs) @ np.array(list(coefficients.values())))


@pytest.mark.parametrize("regime", ["missing-local", "hidden-local"])
def test_the_local_part_is_larger_than_the_noise_only_where_rows_are_marked(regime: str) -> None:
    whole, rows = (draw(name, SEED, 1)["shift"] for name in ("complete", regime))  # type: ignore[arg-type]
    missing = np.abs(rows.clean - whole.clean)
    assert missing[~rows.is_local].max() <= 4.0 * NOISE
    assert np.mean(missing[rows.is_local] > 4.0 * NOISE) > 0.9


def test_the_complete_equation_is_admitted_and_one_with_a_hidden_state_is_not() -> None:
    fates: dict[str, bool] = {}
    for regime in ("complete", "hidden-local"):
        rows = draw(regime, SEED, 2)
        fitted = fit_predictors(rows["train"], np.random.default_rng(0))
        fates[regime] = is_admitted(fitted, rows["validation"])
    assert fates == {"complete": True, "hidden-local": False}


def test_without_a_boundary_label_the_gate_is_closed_and_corrects_nothing() -> None:
    rows = draw("complete", SEED, 3)
    fitted = fit_predictors(rows["train"], np.random.default_rng(0))
    said = fitted.predictions(rows["shift"].inputs)
    assert fitted.gate is None
    assert np.array_equal(said["gated"], said["equation"])


def test_nmse_of_the_mean_is_one() -> None:
    y = np.array([1.0, 2.0, 6.0])
    assert nmse(np.full(3, 3.0), y) == pytest.approx(1.0)


@given(
    arrays(np.float64, 12, elements=st.integers(0, 4).map(float)),
    arrays(np.bool_, 12, elements=st.booleans()),
)
def test_auroc_counts_pairs_in_the_right_order(scores: FloatArray, positive: np.ndarray) -> None:
    pairs = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a in scores[positive]
        for b in scores[~positive]
    ]
    expected = float(np.mean(pairs)) if pairs else 0.5
    assert auroc(scores, positive) == pytest.approx(expected)


def _row(regime: str, **more: object) -> Row:
    errors = dict.fromkeys(("equation_nmse", "mlp_nmse", "always_nmse", "gated_nmse"), 0.1)
    return {"case": "seed-00", "method": regime, "auroc": 0.9, "named": "", **errors, **more}


def test_a_row_that_failed_counts_against_its_regime() -> None:
    failed: Row = {"case": "seed-01", "method": "missing-local", "error": "it crashed"}
    refused = figures([_row("missing-local", admitted=False), failed])
    assert refused["admitted"] == 0.5
    failed_complete: Row = {**failed, "method": "complete"}
    assert figures([_row("complete", admitted=True), failed_complete])["admitted"] == 0.5


def test_the_table_sets_the_paper_below_each_regime() -> None:
    rows = [_row(regime, admitted=regime == "complete") for regime in REGIMES]
    lines = table(rows, {regime: figures([row]) for regime, row in zip(REGIMES, rows, strict=True)})
    assert len(lines) == 1 + 2 * len(BENCHMARK.methods)
    assert sum("paper" in line for line in lines) == len(REGIMES)
