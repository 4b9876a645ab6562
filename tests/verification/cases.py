"""Rows, terms and laws that several tests of the verifier share."""

import numpy as np

from alder.arrays import FloatArray, freeze
from alder.expr.text import parse
from alder.records.coefficient import Coefficient
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable
from alder.verification.criteria import Reference
from alder.verification.terms import Terms

SIGMA = 0.1


def observed(
    rng: np.random.Generator, n_rows: int, low: float = 0.0, high: float = 2.0
) -> dict[str, FloatArray]:
    """Rows of y = 1 + 2x, with a second column that has no part in it."""
    x, u = rng.uniform(low, high, n_rows), rng.normal(size=n_rows)
    return {"x": x, "u": u, "y": 1.0 + 2.0 * x + rng.normal(0.0, SIGMA, n_rows)}


def law_of(
    text: str,
    values: dict[str, float],
    *,
    noise: float = SIGMA,
    covariance: FloatArray | None = None,
    df: int = 50,
    target: str = "y",
    variables: tuple[str, ...] = ("x", "u"),
) -> Law:
    """A law with the coefficients given."""
    return Law(
        structure=parse(text, variables),
        target=Variable(target),
        variables=tuple(map(Variable, variables)),
        coefficients=tuple(Coefficient(n, v, 0.0, v, v, "free") for n, v in values.items()),
        covariance=freeze(np.zeros((len(values),) * 2) if covariance is None else covariance),
        residual_df=df,
        noise=Noise(noise),
        scope=Scope({}),
    )


def least_squares(rows: dict[str, FloatArray]) -> Law:
    """Fit the line by the textbook formulas, independent of our fitter."""
    J = np.stack([np.ones_like(rows["x"]), rows["x"]], axis=1)
    inverse = np.linalg.inv(J.T @ J)
    a, b = inverse @ J.T @ rows["y"]
    df = len(J) - 2
    variance = float(np.sum(np.square(rows["y"] - a - b * rows["x"]))) / df
    return law_of(
        "a + b*x",
        {"a": float(a), "b": float(b)},
        noise=variance**0.5,
        covariance=freeze(variance * inverse),
        df=df,
    )


TRUE = law_of("a + b*x", {"a": 1.0, "b": 2.0})
WRONG = law_of("a + b*x", {"a": 1.0, "b": 2.5})
TERMS = Terms(("x", "u"), "y", (Reference(3.0),))
