"""`alder bench boundary`: does verification refuse what a fixed library cannot say?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.boundary.named import named_cause
from alder.bench.boundary.predictors import (
    auroc,
    fit_predictors,
    gate_mean,
    is_admitted,
    nmse,
    shift_errors,
)
from alder.bench.boundary.regimes import REGIMES, Regime, draw

N_SEEDS, MOST_SEEDS = 20, 100
ERRORS = ("equation_nmse", "mlp_nmse", "always_nmse", "gated_nmse")

PAPER: Mapping[Regime, tuple[str, ...]] = {
    "complete": ("100", "", "4.2e-5", "0.0109", "3.45e-4", "4.2e-5"),
    "missing-smooth": ("0", "0.494", "0.217", "0.0133", "0.0038", "0.0145"),
    "missing-local": ("0", "0.969", "0.0485", "0.0308", "0.0191", "0.0185"),
    "hidden-local": ("0", "0.997", "0.108", "0.134", "0.183", "0.168"),
}
"""The paper's admissions in per cent, AUROC, and the four errors."""

CAUSES: Mapping[Regime, str] = {
    "complete": "admitted",
    "missing-smooth": "missing-operator",
    "missing-local": "missing-operator",
    "hidden-local": "missing-variable",
}
"""What a study of the six-term law should end with."""


def measure(job: Job) -> Iterator[Row]:
    """Fit and judge the regimes of one seed; the methods of this benchmark are its regimes."""
    number, seed = int(job.case.removeprefix("seed-")), int(job.settings["seed"])
    for regime in REGIMES:
        if regime in job.methods:
            yield measure_regime(regime, seed, number)


def measure_regime(regime: Regime, seed: int, number: int) -> Row:
    """Return what became of one regime of one seed."""
    rows = draw(regime, seed, number)
    fitted = fit_predictors(rows["train"], np.random.default_rng([seed, number, 9]))
    validation, shift = rows["validation"], rows["shift"]
    gate = fitted.gate_probability(shift.inputs)
    return {
        "admitted": is_admitted(fitted, validation),
        "validation_nmse": nmse(fitted.equation(validation.inputs), validation.noisy),
        "gate_mean": gate_mean(fitted, validation),
        "auroc": auroc(gate, shift.is_local),
        **shift_errors(fitted, shift),
        "named": named_cause(rows, seed),
    }


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the rates and means of one regime; a row that failed counts as admitted wrongly."""
    regime = cast(Regime, rows[0]["method"])
    failed_counts = regime != "complete"
    good = [row for row in rows if "error" not in row]
    found: dict[str, float] = {
        "seeds": len(rows),
        "admitted": sum(bool(row.get("admitted", failed_counts)) for row in rows) / len(rows),
        "named": sum(row.get("named") == CAUSES[regime] for row in rows) / len(rows),
    }
    for name in ("auroc", *ERRORS):
        values = [float(row[name]) for row in good]
        found[name] = float(np.mean(values)) if values else 1e30
        found[f"{name}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    found["auroc_min"] = min((float(row["auroc"]) for row in good), default=0.0)
    return found


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set our figures beside the paper's, each regime with the paper's line below it."""
    lines = [
        f"{'':16} {'admitted %':>10} {'AUROC':>7} {'equation':>9} {'MLP':>9} {'always':>9} "
        f"{'gated':>9} {'cause named %':>14}"
    ]
    for regime, paper in PAPER.items():
        if regime not in figures:
            continue
        f = figures[regime]
        errors = " ".join(f"{f[name]:9.2e}" for name in ERRORS)
        lines += [
            f"{regime:16} {100.0 * f['admitted']:10.1f} {f['auroc']:7.3f} {errors} "
            f"{100.0 * f['named']:14.1f}",
            f"{'  paper':16} {paper[0]:>10} {paper[1]:>7} "
            + " ".join(f"{figure:>9}" for figure in paper[2:]),
        ]
    return lines


BENCHMARK = Benchmark(
    name="boundary",
    home=__name__,
    cases=tuple(f"seed-{number:02}" for number in range(MOST_SEEDS)),
    default_cases=str(N_SEEDS),
    methods=REGIMES,
    measure=measure,
    figures=figures,
    table=table,
)
"""`alder bench boundary`."""
