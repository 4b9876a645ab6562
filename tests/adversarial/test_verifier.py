"""The verifier alone: laws that only look right are refused, true laws are admitted.

Both rates are asserted with their binomial bounds: a bound holds with 99.9 % where the rate is as
promised.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc  # pyright: ignore[reportMissingTypeStubs]

from alder.arrays import FloatArray
from alder.fitting import fit
from alder.records.law import Law
from alder.records.verdict import Category
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Reference
from alder.verification.spending import AlphaSpending, Spending, Thresholdout
from alder.verification.terms import Terms

Rows: TypeAlias = dict[str, FloatArray]
N_TRIALS = 40
# True laws are refused, and wrong ones admitted, at most this often.
RATE = 0.05
_SURE = 1e-3


def columns(rng: np.random.Generator, n_rows: int, low: float, high: float) -> Rows:
    return {"x": rng.uniform(low, high, n_rows), "v": rng.normal(size=n_rows)}


def observed(columns: Rows, f: FloatArray, rng: np.random.Generator, noise: float) -> Rows:
    return {**columns, "y": f + noise * rng.normal(size=len(f))}


def verdict(
    law: Law, public: Rows, protected: dict[str, Rows], spending: Spending | None = None
) -> Category:
    mean = Reference(float(np.mean(public["y"])))
    terms = Terms(("x", "v"), "y", (mean,), spending=spending or AlphaSpending())
    return admit(Sealed(protected, terms, b"secret"), law, []).category


def truth(rows: Rows) -> FloatArray:
    return 3.0 * rows["x"] ** -1.5 + 0.7 * rows["v"]


def sample(rng: np.random.Generator, n: int, low: float, high: float, noise: float = 0.1) -> Rows:
    inputs = columns(rng, n, low, high)
    return observed(inputs, truth(inputs), rng, noise)


def protected(rng: np.random.Generator, noise: float = 0.1) -> dict[str, Rows]:
    return {
        "admission": sample(rng, 150, 0.5, 2.0, noise),
        "shift": sample(rng, 150, 2.0, 4.0, noise),
    }


def true_law(rng: np.random.Generator) -> Category:
    public = sample(rng, 50, 0.5, 2.0)
    return verdict(fit("k*x^p + b*v", public, target="y").law, public, protected(rng))


def true_law_of_proportional_noise(rng: np.random.Generator) -> Category:
    def rows(n: int, low: float, high: float) -> Rows:
        inputs = columns(rng, n, low, high)
        f = truth(inputs)
        return {**inputs, "y": f + np.hypot(0.05, 0.1 * f) * rng.normal(size=n)}

    public = rows(150, 0.5, 2.0)
    law = fit("k*x^p + b*v", public, target="y").law
    return verdict(law, public, {"admission": rows(200, 0.5, 2.0), "shift": rows(200, 1.5, 2.5)})


def true_law_without_noise(rng: np.random.Generator) -> Category:
    public = sample(rng, 50, 0.5, 2.0, noise=0.0)
    return verdict(fit("k*x^p + b*v", public, target="y").law, public, protected(rng, noise=0.0))


def true_law_of_few_rows(rng: np.random.Generator) -> Category:
    public = sample(rng, 12, 0.5, 2.0)
    rows = {"admission": sample(rng, 20, 0.5, 2.0)}
    return verdict(fit("k*x^p + b*v", public, target="y").law, public, rows)


def true_law_behind_a_noisy_threshold(rng: np.random.Generator) -> Category:
    public = sample(rng, 50, 0.5, 2.0)
    law = fit("k*x^p + b*v", public, target="y").law
    return verdict(law, public, protected(rng), Thresholdout(scale=0.2))


def overfitted(rng: np.random.Generator) -> Category:
    """Fourteen terms for twenty rows."""
    public = sample(rng, 20, 0.5, 2.0, noise=0.5)
    text = "a+b*x+c*x^2+d*x^3+e*x^4+f*x^5+g*v+h*v^2+i*v^3+j*v^4+k*x*v+l*x^2*v+m*x*v^2+n*x^6"
    return verdict(fit(text, public, target="y").law, public, protected(rng, noise=0.5))


def aliased(rng: np.random.Generator) -> Category:
    """A sine that meets the true one on every point of the public grid."""
    step = 0.25

    def rows(x: FloatArray) -> Rows:
        inputs = {"x": x, "v": rng.normal(size=len(x))}
        return observed(inputs, 2.0 * np.sin(1.3 * x) + 0.5 * inputs["v"], rng, 0.05)

    public = rows(np.arange(48) / 4.0)
    frequency = 1.3 + 2.0 * np.pi / step
    law = fit(f"a*sin({frequency:.15g}*x) + b*v", public, target="y").law
    return verdict(law, public, {"admission": rows(rng.uniform(0.0, 12.0, 150))})


def right_on_the_grid(rng: np.random.Generator) -> Category:
    """The true law plus a wave whose zeros are the public grid."""
    x = np.linspace(0.5, 2.0, 31)
    inputs = {"x": x, "v": rng.normal(size=31)}
    public = observed(inputs, truth(inputs), rng, 0.1)
    law = fit(f"k*x^p + b*v + 0.6*sin({np.pi / 0.05:.15g}*(x - 0.5))", public, target="y").law
    return verdict(law, public, protected(rng))


def leaked(rng: np.random.Generator) -> Category:
    """Fitted to the admission rows themselves; the shift was not leaked."""
    hidden = protected(rng)
    text = "a+b*x+c*x^2+d*x^3+e*x^4+f*v+g*x*v"
    return verdict(fit(text, hidden["admission"], target="y").law, hidden["admission"], hidden)


def look_alike(rng: np.random.Generator) -> Category:
    """An exponential in place of a power: alike where rows are public, not beyond."""
    public = sample(rng, 50, 0.5, 2.0)
    return verdict(fit("k*exp(-q*x) + b*v + c", public, target="y").law, public, protected(rng))


def heavy_tailed(rng: np.random.Generator) -> Category:
    """Right on the few rows that dominate every mean, wrong on all others."""

    def rows(n: int) -> Rows:
        inputs = {"x": np.exp(2.5 * rng.normal(size=n)), "v": rng.normal(size=n)}
        return observed(inputs, inputs["x"] ** 2 + 3.0 * np.tanh(inputs["v"]), rng, 0.1)

    public = rows(100)
    return verdict(fit("k*x^2 + c", public, target="y").law, public, {"admission": rows(200)})


def of_a_heavy_tailed_target(rng: np.random.Generator) -> Category:
    """A wrong law whose stated noise is as large as the tail of the target."""

    def rows(n: int) -> Rows:
        inputs = columns(rng, n, 0.5, 2.0)
        y = truth(inputs) + 0.1 * rng.standard_t(1.5, size=n)
        return {**inputs, "y": y}

    public = rows(100)
    return verdict(fit("a + b*v", public, target="y").law, public, {"admission": rows(200)})


def unstable(rng: np.random.Generator) -> Category:
    """A pole inside the domain, so narrow that hardly a row meets it."""
    public = sample(rng, 50, 0.5, 2.0)
    law = fit("k*x^p + b*v + 0.0001/(x - 1.2345)", public, target="y").law
    return verdict(law, public, protected(rng))


def missing_a_variable(rng: np.random.Generator) -> Category:
    """Underfits everywhere, and states the noise that goes with it."""
    public = sample(rng, 50, 0.5, 2.0)
    return verdict(fit("k*x^p + c", public, target="y").law, public, protected(rng))


Case: TypeAlias = Callable[[np.random.Generator], Category]
TRUE: list[Case] = [
    true_law,
    true_law_of_proportional_noise,
    true_law_without_noise,
    true_law_of_few_rows,
    true_law_behind_a_noisy_threshold,
]
WRONG: list[Case] = [
    overfitted,
    aliased,
    right_on_the_grid,
    leaked,
    look_alike,
    heavy_tailed,
    of_a_heavy_tailed_target,
    unstable,
    missing_a_variable,
]


def answers(case: Case) -> list[Category]:
    return [case(np.random.default_rng([7, trial])) for trial in range(N_TRIALS)]


def at_most(rate: float) -> int:
    """Return the largest count that is no surprise at this rate."""
    return next(k for k in range(N_TRIALS + 1) if float(bdtrc(k, N_TRIALS, rate)) < _SURE)


@pytest.mark.parametrize("case", TRUE, ids=lambda case: case.__name__)
def test_true_laws_are_admitted(case: Case) -> None:
    refused = [answer for answer in answers(case) if answer != "accept"]
    assert len(refused) <= at_most(RATE), refused


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.__name__)
def test_laws_that_only_look_right_are_refused(case: Case) -> None:
    given = answers(case)
    assert given.count("accept") <= at_most(RATE), given


def test_the_counts_allowed_are_those_of_the_binomial_distribution() -> None:
    k = at_most(RATE)
    assert float(bdtr(k, N_TRIALS, RATE)) > 1.0 - _SURE
    assert float(bdtr(k - 1, N_TRIALS, RATE)) < 1.0 - _SURE
