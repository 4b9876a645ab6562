"""Random laws over all operators, for the tests of exports."""

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.nodes import Expr, parameters, variables
from alder.expr.operators import OPERATORS, Floors
from alder.expr.sample import random_tree
from alder.expr.text import parse
from alder.records.coefficient import Coefficient
from alder.records.law import Law
from alder.records.noise import Noise
from alder.records.scope import Scope
from alder.records.variable import Variable

NAMES = ("r", "θ", "exp", "double", "m 1")


def law_of(structure: Expr, values: dict[str, float], floors: Floors | None = None) -> Law:
    """Build a law with given coefficients and a scope of -2 to 2 for every variable."""
    names = parameters(structure)
    return Law(
        structure=structure,
        target=Variable("a", unit="m/s^2"),
        variables=tuple(Variable(name) for name in NAMES),
        coefficients=tuple(
            Coefficient(name, values[name], 0.1, values[name] - 0.2, values[name] + 0.2, "free")
            for name in names
        ),
        covariance=0.01 * np.eye(len(names)),
        residual_df=20,
        noise=Noise(0.1),
        scope=Scope(dict.fromkeys(variables(structure), (-2.0, 2.0))),
        floors=floors or Floors(),
        n_rows=25,
    )


def random_law(rng: np.random.Generator, n_nodes: int, floors: Floors | None = None) -> Law:
    """Draw a law over all operators."""
    structure = random_tree(rng, n_nodes, NAMES, tuple(OPERATORS))
    values = {f"p{i}": float(rng.normal(scale=2.0)) for i in range(6)}
    return law_of(structure, values, floors)


def law_of_a_vanishing_power() -> Law:
    """Return the sign of a power of the floor, which is zero by the rules of the operators."""
    return law_of(parse("sign((-abs(r))^p0)", NAMES), {"p0": 2.0037393140128352})


def law_divided_by_a_root_of_zero() -> Law:
    """Return an inverse of the root of minus zero, which is zero and has no other sign."""
    return law_of(parse("atan(1/sqrt(0*r))", NAMES), {})


def random_rows(rng: np.random.Generator, n_rows: int) -> dict[str, FloatArray]:
    """Draw rows, a few of them far outside any scope."""
    scale = np.where(np.arange(n_rows) % 5 == 4, 1e3, 1.5)
    return {name: rng.normal(size=n_rows) * scale for name in NAMES}


def assert_agrees(law: Law, rows: dict[str, FloatArray], got: FloatArray) -> int:
    """Compare with `evaluate` to 1e-12 of the rounding bound; return how many rows were compared.

    Rows near a switch point are left out: there, moving the inputs and coefficients by a few
    rounding errors moves the value by more than the bound allows.
    """
    expected = evaluate(law.structure, rows, law.values, law.floors)
    bound = rounding_bound(law.structure, rows, law.values, law.floors)
    steady = np.isfinite(bound)
    for shift in (1.0 - 4e-13, 1.0 + 4e-13):
        moved = {name: column * shift for name, column in rows.items()}
        values = {name: value * shift for name, value in law.values.items()}
        steady &= np.abs(evaluate(law.structure, moved, values, law.floors) - expected) <= (
            1e-12 * bound
        )
    assert np.isfinite(got).all()
    assert (np.abs(got - expected)[steady] <= 1e-12 * bound[steady]).all()
    return int(steady.sum())
