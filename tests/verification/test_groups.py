"""Rows that share an offset: true laws are admitted in new groups, and wrong ones are not."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy.special import bdtrc  # pyright: ignore[reportMissingTypeStubs]

from alder.arrays import FloatArray
from alder.fitting import fit
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.verdict import Category
from alder.verification.admit import Sealed, admit, error_bound
from alder.verification.criteria import Reference
from alder.verification.groups import contrasts, independent_rows
from alder.verification.terms import Terms

Rows = dict[str, FloatArray]
N_TRIALS = 40


def grouped(
    rng: np.random.Generator, n_groups: int, n_each: int, *, offset: float, first: int = 0
) -> Rows:
    """Rows of y = 1 + 2x + 0.5x^2 with an offset for each group."""
    g = np.repeat(np.arange(first, first + n_groups, dtype=np.float64), n_each)
    offsets = offset * rng.normal(size=n_groups)
    x = rng.uniform(0.0, 2.0, len(g))
    y = 1.0 + 2.0 * x + 0.5 * x**2 + offsets[(g - first).astype(int)]
    return {"x": x, "y": y + 0.1 * rng.normal(size=len(g)), "g": g}


def judged(text: str, public: Rows, protected: Rows, group: str | None = "g") -> Category:
    law = fit(text, public, target="y", group="g").law
    terms = Terms(("x",), "y", (Reference(float(np.mean(public["y"]))),), group=group)
    return admit(Sealed({"admission": protected}, terms), law, []).category


def answers(text: str, n_groups: int, group: str | None = "g") -> list[Category]:
    found: list[Category] = []
    for trial in range(N_TRIALS):
        rng = np.random.default_rng([3, n_groups, trial])
        public = grouped(rng, n_groups, 12, offset=0.4)
        protected = grouped(rng, 5, 20, offset=0.4, first=100)
        found.append(judged(text, public, protected, group))
    return found


@pytest.mark.parametrize("n_groups", [2, 4, 12])
def test_a_true_law_is_admitted_in_new_groups(n_groups: int) -> None:
    refused = [one for one in answers("a + b*x + c*x^2", n_groups) if one != "accept"]
    most = next(k for k in range(N_TRIALS) if float(bdtrc(k, N_TRIALS, 0.05)) < 1e-3)
    assert len(refused) <= most, refused


def test_without_the_offsets_the_same_laws_are_refused() -> None:
    assert answers("a + b*x + c*x^2", 4, group=None).count("accept") < N_TRIALS / 4


def test_a_law_that_is_wrong_within_groups_is_refused() -> None:
    assert answers("a + b*x", 12).count("accept") <= 1


def test_an_offset_as_large_as_those_seen_is_forgiven_and_a_far_larger_one_is_not() -> None:
    rng = np.random.default_rng(0)
    public = grouped(rng, 30, 12, offset=0.2)
    protected = grouped(rng, 8, 20, offset=0.2, first=100)
    assert judged("a + b*x + c*x^2", public, protected) == "accept"
    far = {**protected, "y": protected["y"] + np.where(protected["g"] == 100.0, 2.5, 0.0)}
    assert judged("a + b*x + c*x^2", public, far) == "inaccurate"


def friction(rng: np.random.Generator, signs: list[float], first: int = 0) -> Rows:
    """Rows of sliding one way or the other in each group, or both (0), with an offset for each."""
    way = np.array(signs)
    g = np.repeat(np.arange(len(way)), 30)
    turned = np.where(way[g] == 0.0, rng.choice([-1.0, 1.0], len(g)), way[g])
    x: FloatArray = turned * rng.uniform(0.1, 1.0, len(g))
    y = -1.5 * np.sign(x) + 0.1 * (rng.normal(size=len(way))[g] + rng.normal(size=len(g)))
    return {"x": x, "y": y, "g": g.astype(np.float64) + first}


def test_a_reference_that_is_right_in_most_groups_by_chance_does_not_stop_a_law() -> None:
    rng = np.random.default_rng(0)
    public = friction(rng, [1.0] * 2 + [0.0] * 6)
    protected = friction(rng, [1.0] * 15 + [-1.0] * 4, first=100)
    law = fit("a*sign(x)", public, target="y", group="g").law
    flat = fit("a + b*x", public, target="y", group="g").law
    one_way = Terms(("x",), "y", (Reference(-1.5),), group="g")
    assert admit(Sealed({"admission": protected}, one_way), law, []).accepted
    assert not admit(Sealed({"admission": protected}, one_way), flat, []).accepted
    constant = fit("a + 0*x", public, target="y", group="g").law
    assert admit(Sealed({"admission": protected}, one_way), constant, []).category == (
        "no-better-than-reference"
    )


def test_contrasts_are_free_of_offsets_and_keep_the_noise() -> None:
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(500.0), 4)
    noise = rng.normal(size=2000)
    shifted = noise + np.repeat(10.0 * rng.normal(size=500), 4)
    np.testing.assert_allclose(contrasts(shifted, g), contrasts(noise, g), atol=1e-9)
    found = contrasts(noise, g).reshape(500, 3)
    np.testing.assert_allclose(np.cov(found.T), np.eye(3), atol=0.15)


def test_rows_of_one_group_are_worth_less() -> None:
    rng = np.random.default_rng(0)
    g = np.repeat(np.arange(10.0), 20)
    alone = rng.normal(size=200)
    together = np.repeat(rng.normal(size=10), 20)
    assert independent_rows(together, g, 0.0) < 30.0
    assert independent_rows(alone, g, 0.0) > 60.0
    assert independent_rows(alone, g, 1.0) == pytest.approx(10.0)
    assert independent_rows(alone, np.zeros(200), 0.0) == 1.0


def test_the_bound_holds_for_rows_that_share_offsets() -> None:
    rng, alpha, n_trials = np.random.default_rng(0), 0.05, 400
    g = np.repeat(np.arange(8.0), 10)
    broken = naive = 0
    for _ in range(n_trials):
        errors = np.repeat(rng.normal(size=8), 10) + 0.3 * rng.normal(size=80)
        alike = 1.0 / 1.09
        broken += error_bound(errors, alpha, independent_rows(errors, g, alike)) < 1.09**0.5
        naive += error_bound(errors, alpha) < 1.09**0.5
    assert broken <= n_trials * alpha + 3.0 * (n_trials * alpha) ** 0.5
    assert naive > 2 * n_trials * alpha


def test_a_fit_says_how_offsets_scatter() -> None:
    rng = np.random.default_rng(0)
    found = fit("a + b*x + c*x^2", grouped(rng, 60, 12, offset=0.4), target="y", group="g")
    assert found.noise.n_groups == 60
    assert found.noise.between == pytest.approx(0.4, rel=0.3)
    alone = dataclasses.replace(found.law, noise=Noise(0.1))
    assert found.law.digest != alone.digest


def test_a_saved_law_keeps_the_scatter_of_offsets(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    law = fit("a + b*x", grouped(rng, 6, 12, offset=0.4), target="y", group="g").law
    law.save(tmp_path / "law.json")
    assert Law.load(tmp_path / "law.json").noise == law.noise
