"""SymPy says the same as the reference wherever mathematics says anything."""

import math
from typing import Any

import numpy as np
import sympy  # pyright: ignore[reportMissingTypeStubs]

from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.nodes import Apply, Const, Expr, parameters, walk
from alder.expr.sample import random_tree
from alder.expr.symbolic import to_sympy

NAMES = ("x", "y")
N_DRAWS = 160


def test_random_laws_are_worth_the_same_in_sympy() -> None:
    rng = np.random.default_rng(20261116)
    compared = 0
    for _ in range(N_DRAWS):
        law = random_tree(rng, int(rng.integers(3, 16)), NAMES, n_parameters=3)
        row = {name: float(rng.uniform(0.3, 2.5)) for name in NAMES}
        point = {name: float(rng.uniform(0.2, 2.0)) for name in parameters(law)}
        columns = {name: [value] for name, value in row.items()}
        if not _inside(law, columns, point):
            continue
        expected = float(evaluate(law, columns, point)[0])
        bound = float(rounding_bound(law, columns, point)[0])
        exact: Any = to_sympy(law)
        exact = exact.subs({sympy.Symbol(n, real=True): v for n, v in {**row, **point}.items()})
        assert abs(float(sympy.re(exact.evalf(30))) - expected) <= 1e-12 * bound
        compared += 1
    assert compared > 0.4 * N_DRAWS


def _inside(law: Expr, columns: dict[str, list[float]], point: dict[str, float]) -> bool:
    """Whether every operator is inside its domain, away from steps, and nothing is extreme."""
    for node in walk(law):
        if not isinstance(node, Apply):
            continue
        a, *rest = (float(evaluate(part, columns, point)[0]) for part in node.arguments)
        name, value = node.operator.name, float(evaluate(node, columns, point)[0])
        exponent = node.arguments[1] if name == "pow" else None
        whole = isinstance(exponent, Const) and exponent.value.is_integer()
        outside = (
            (name in ("log", "sqrt", "powp") and a <= 1e-3)
            or (name == "pow" and not whole and a <= 1e-3)
            or (name in ("asin", "acos") and abs(a) > 0.999)
            or (name in ("sign", "where", "pow", "abs") and abs(a) < 1e-3)
            or (name == "div" and abs(rest[0]) < 1e-3)
            or (name in ("max", "min") and abs(a - rest[0]) < 1e-6)
        )
        if outside or not math.isfinite(value) or abs(value) > 1e6:
            return False
    return True
