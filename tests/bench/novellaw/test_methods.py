from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alder.bench.benchmark import Job, Row
from alder.bench.novellaw import baselines, studies
from alder.bench.novellaw.run import BENCHMARK, figures, measure
from alder.bench.novellaw.scoring import score
from alder.bench.novellaw.table import compare, table
from alder.bench.novellaw.variation import OPTIONS, Case, varied_case

SETTINGS: dict[str, Any] = {"seed": 4, **OPTIONS}


@pytest.fixture(scope="module")
def case() -> Case:
    return varied_case("development-01a", SETTINGS)


def test_the_oracle_recovers_by_the_strict_criterion_and_the_library_does_not(case: Case) -> None:
    found, fixed = baselines.oracle(case), baselines.library(case)
    assert found["recovered_1e5"]
    assert found["shift_nmse"] < 1e-4
    assert not fixed["admitted"]
    assert fixed["functional_nmse"] > 0.01


def test_the_oracle_recovers_in_other_units() -> None:
    for factor in (1e-3, 1e6):
        scaled = varied_case("development-01a", {**SETTINGS, "rescale": factor})
        assert baselines.oracle(scaled)["recovered_1e5"]


@pytest.mark.parametrize("noise", [0.001, 0.02, 0.05])
def test_the_oracle_is_admitted_at_every_noise(noise: float) -> None:
    noisy = varied_case("development-01a", {**SETTINGS, "noise": noise})
    assert baselines.oracle(noisy)["admitted"]


def test_the_network_learns_what_public_rows_show(case: Case) -> None:
    pytest.importorskip("sklearn")
    row = baselines.mlp(case)
    assert row["functional_nmse"] < 0.3
    assert not row["recovered_1e5"]


def test_recovery_requires_admission(case: Case) -> None:
    exact = case.draw.target.value
    refused, admitted = (score(case, exact, admitted=said) for said in (False, True))
    assert refused["functional_nmse"] < 1e-20
    assert not refused["recovered_1e3"]
    assert admitted["recovered_1e5"]
    assert not admitted["wrong_admitted"]


def test_an_admitted_law_that_errs_on_the_test_is_wrong(case: Case) -> None:
    row = score(case, lambda rows: np.zeros(len(rows["r"])), admitted=True)
    assert row["wrong_admitted"]
    assert not row["recovered_1e3"]


def test_a_method_without_a_law_has_no_error_and_is_no_recovery(case: Case) -> None:
    row = score(case, None, admitted=False)
    assert (row["functional_nmse"], row["recovered_1e3"]) == (None, False)
    assert figures([{**row, "case": "iid-01a"}])["shift_nmse_median"] == 1e30


@pytest.mark.slow
def test_one_shot_is_the_first_proposal_of_the_paired_run(case: Case, tmp_path: Path) -> None:
    ledger = tmp_path / "run.alder"
    whole = studies.study(case, "alder", 0, ledger)
    first = studies.one_shot(case, ledger)
    assert first["ledger"] == whole["ledger"]
    assert (first["proposals"], first["queries"]) == (1, 0)
    if whole["proposals"] == 1:
        assert first["functional_nmse"] == whole["functional_nmse"]
        assert first["admitted"] == whole["admitted"]
    assert whole["proposals"] <= studies.PROPOSALS
    assert whole["queries"] <= studies.QUERIES


def test_no_row_shows_a_law_of_the_hidden_form_set(tmp_path: Path) -> None:
    settings = {**SETTINGS, "forms": "c"}
    (row,) = measure(Job("development-01a", ("library",), settings, tmp_path))
    assert "law" not in row
    assert "law" in next(measure(Job("development-01a", ("library",), SETTINGS, tmp_path)))


def rows_of(method: str, errors: list[float | None]) -> list[Row]:
    cases = BENCHMARK.cases[: len(errors)]
    return [
        {"case": c, "method": method, "error": "it crashed"} if e is None else
        {"case": c, "method": method, "shift_nmse": e, "functional_nmse": e, "queries": 24,
         "admitted": True, "recovered_1e3": e < 1e-3, "recovered_1e5": e < 1e-5,
         "wrong_admitted": e >= 1e-3, "depth": "short", "cpu_s": 1.0}
        for c, e in zip(cases, errors, strict=True)
    ]  # fmt: skip


def test_failures_stay_in_the_denominators() -> None:
    found = figures(rows_of("alder", [1e-6, 1e-4, 0.5, None]))
    assert found["recovery_1e3"] == 0.5
    assert found["recovery_1e5"] == 0.25
    assert found["recovery_iid"] == 0.5
    assert (found["wrong_admitted"], found["admitted"], found["failed"]) == (0.25, 0.75, 0.25)
    assert found["queries_total"] == 72


def test_comparisons_pair_the_same_cases() -> None:
    rows = rows_of("alder", [1e-6, 1e-6, 0.5]) + rows_of("mlp", [1e-2, 1e-6, 1e-4])
    found = compare(rows, "alder", "mlp")
    assert (found["wins"], found["ties"], found["losses"]) == (1, 1, 1)
    assert found["shift_ratio"] == 1.0


def test_the_table_sets_our_figures_beside_those_of_the_paper() -> None:
    rows = rows_of("alder", [1e-6, 1e-6]) + rows_of("one-shot", [1e-2, 1e-6])
    by_method = {m: figures([r for r in rows if r["method"] == m]) for m in ("alder", "one-shot")}
    text = "\n".join(table(rows, by_method))
    assert "85.0" in text
    assert "43.3" in text
    assert "alder against" in text


def test_the_names_of_the_summary_are_those_promised() -> None:
    promised = {
        "recovery_1e3", "recovery_1e5", "recovery_iid", "recovery_compositional",
        "recovery_stress", "shift_nmse_median", "queries_median", "queries_total",
        "cpu_s_median", "admitted", "wrong_admitted",
    }  # fmt: skip
    every = rows_of("alder", [1e-6] * 60)
    assert promised <= set(figures(every))
    assert set(BENCHMARK.methods) == {
        "library", "sindy", "mlp", "one-shot", "revision-only", "random-query", "alder", "oracle",
    }  # fmt: skip
