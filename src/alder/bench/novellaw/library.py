"""The initial library: six structures that everybody would try first. No target is among them."""

from functools import cache

import numpy as np

from alder.arrays import FloatArray
from alder.bench.novellaw.domains import TARGET, VARIABLES, Columns
from alder.expr.nodes import Expr
from alder.expr.text import parse
from alder.fitting import fit
from alder.records.grammar import Grammar
from alder.records.law import Law

LIBRARY = (
    "k/r^2",
    "k*m1*m2/r^2",
    "k*exp(q*r)/r",
    "k*r + l",
    "k*r + c*v + l",
    "k/r^2 + c*v + b*u",
)
"""Inverse square, gravity, Yukawa, spring, damped spring, and inverse square with drag and push."""


@cache
def structures() -> tuple[Expr, ...]:
    """Return the six structures as trees."""
    names = [variable.name for variable in VARIABLES]
    return tuple(parse(text, names) for text in LIBRARY)


def fit_target(structure: Expr, rows: Columns, grammar: Grammar) -> Law:
    """Fit a structure to public rows with the floors of the grammar."""
    return fit(
        structure, rows, target=grammar.target, variables=grammar.variables, floors=grammar.floors
    ).law


def nmse(law: Law, rows: Columns) -> float:
    r"""Return $\sum (y - \hat y)^2 / \sum (y - \bar y)^2$ over rows."""
    return error_of(law.predict(rows), rows[TARGET.name])


def error_of(predicted: FloatArray, y: FloatArray) -> float:
    """Return the normalised squared error of predictions; infinite where one is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.sum(np.square(y - predicted)) / np.sum(np.square(y - y.mean())))
    return error if np.isfinite(error) else float("inf")
