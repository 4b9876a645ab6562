import numpy as np

from alder import fit
from alder.arrays import FloatArray
from alder.verification.demands import EnoughGroups, NoTermLeft, TypicalError


def rows(n_groups: int, seed: int, curve: float = 0.0, noise: float = 0.1) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(float(n_groups)), 30)
    x = rng.uniform(-1.0, 1.0, len(g))
    offset = 0.3 * rng.standard_normal(n_groups)[g.astype(int)]
    y = 1.0 + 2.0 * x + curve * x**2 + noise * (offset / 0.3 + rng.standard_normal(len(g)))
    return {"x": x, "y": y, "g": g}


def test_a_law_that_lacks_a_declared_term_is_refused_and_the_whole_one_is_not() -> None:
    demand = NoTermLeft(("1", "x", "x^2"), 0.01, "g")
    refused = 0
    for seed in range(20):
        law = fit("a + b*x", rows(8, seed), target="y", group="g").law
        refused += demand.violated(law, rows(20, 100 + seed), "admission")
        assert demand.violated(law, rows(20, 100 + seed, curve=0.5), "admission")
    assert refused <= 1


def test_a_mean_of_few_offsets_is_no_missing_constant() -> None:
    demand = NoTermLeft(("1", "x"), 0.01, "g")
    refused = sum(
        demand.violated(
            fit("a + b*x", rows(8, seed, noise=0.3), target="y", group="g").law,
            rows(19, 1000 + seed, noise=0.3),
            "admission",
        )
        for seed in range(400)
    )
    assert refused <= 4


def test_few_groups_are_not_enough() -> None:
    law = fit("a + b*x", rows(4, 0), target="y", group="g").law
    assert EnoughGroups(5).violated(law, {}, "admission")
    assert not EnoughGroups(4).violated(law, {}, "admission")


def test_one_wild_row_spoils_no_typical_error_and_a_missing_term_does() -> None:
    x = np.linspace(-1.0, 1.0, 60)
    law = fit("a + b*x", {"x": x, "y": 1.0 + 2.0 * x}, target="y").law
    wild = {"x": x, "y": np.where(np.arange(60) == 3, 50.0, 1.0 + 2.0 * x)}
    assert not TypicalError(1e-4).violated(law, wild, "admission")
    assert TypicalError(1e-4).violated(law, {"x": x, "y": 1.0 + 2.0 * x + 0.01 * x**2}, "shift")
