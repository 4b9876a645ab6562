"""Structure that a fitted law leaves behind."""

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.fit import fit
from alder.fitting.residuals import find_misfits
from alder.records.evidence import Misfit

NAMES = ("x", "v")


def rows(n: int, seed: int, noise: float = 0.05, ripple: float = 0.0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    x, v = rng.uniform(0.5, 3.0, (2, n))
    y = 2.0 * x + v + ripple * np.sin(3.0 * x) + noise * rng.standard_normal(n)
    return {"x": x, "v": v, "y": y}


def misfits(law: str, table: dict[str, FloatArray]) -> tuple[Misfit, ...]:
    return find_misfits(fit(law, table, target="y"), table, NAMES)


def test_a_law_that_holds_leaves_nothing_in_99_of_100_fits() -> None:
    found = [misfits("a*x + b*v + c", rows(40, seed)) for seed in range(100)]
    assert sum(map(bool, found)) <= 1


def test_the_variable_along_which_a_law_fails_is_named() -> None:
    worst, *_ = misfits("a*x + b*v + c", rows(40, 1, ripple=2.0))
    assert worst.along == "x"
    assert worst.strength > 6.0
    assert "x" in worst.where


def test_a_variable_the_law_does_not_use_is_looked_at_too() -> None:
    worst, *_ = misfits("a*x + b", rows(40, 1))
    assert worst.along == "v"


def test_more_rows_make_the_same_structure_stronger() -> None:
    few, many = (misfits("a*x + b*v", rows(n, 1, ripple=1.0))[0].strength for n in (40, 400))
    assert many > 2.0 * few


def test_an_exact_law_of_exact_rows_leaves_nothing() -> None:
    assert misfits("a*x + b*v", rows(40, 1, noise=0.0)) == ()
