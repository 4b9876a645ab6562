"""Random well-formed trees of a given size, for tests, benchmarks and rivals."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import OPERATORS

# Literal exponents a person would write; integers of both signs and the common fractions.
EXPONENTS = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.5, 1.5, 2.0, 3.0, 4.0)

_Slots: TypeAlias = list[int]


def random_tree(
    rng: np.random.Generator,
    n_nodes: int,
    variables: Sequence[str],
    operators: Sequence[str] = tuple(OPERATORS),
    n_parameters: int = 6,
) -> Expr:
    """Draw a tree of exactly `n_nodes` nodes where the operators allow that size.

    Leaves are variables, parameters (of at most `n_parameters` names) and literals; a size no
    operator can reach exactly gives a tree that is one node smaller.
    """
    return _draw(rng, n_nodes, variables, operators, n_parameters)


def _draw(
    rng: np.random.Generator,
    n_nodes: int,
    variables: Sequence[str],
    operators: Sequence[str],
    n_parameters: int,
) -> Expr:
    fitting = [OPERATORS[name] for name in operators if OPERATORS[name].arity < n_nodes]
    if n_nodes < 2 or not fitting:
        return _leaf(rng, variables, n_parameters)
    operator = fitting[int(rng.integers(len(fitting)))]
    name = f"p{int(rng.integers(n_parameters))}"
    if operator.name in ("pow", "powp"):
        base = _draw(rng, n_nodes - 2, variables, operators, n_parameters)
        exponent = Const(float(rng.choice(EXPONENTS))) if operator.name == "pow" else Param(name)
        return Apply(operator, (base, exponent))
    shares = _split(rng, n_nodes - 1, operator.arity)
    return Apply(
        operator,
        tuple(_draw(rng, share, variables, operators, n_parameters) for share in shares),
    )


def _split(rng: np.random.Generator, total: int, parts: int) -> _Slots:
    """Split a total into that many parts of at least one, uniformly."""
    cuts = np.sort(rng.choice(np.arange(1, total), size=parts - 1, replace=False))
    edges = [0, *(int(cut) for cut in cuts), total]
    return [edges[i + 1] - edges[i] for i in range(parts)]


def _leaf(rng: np.random.Generator, variables: Sequence[str], n_parameters: int) -> Expr:
    kind = rng.random()
    if kind < 0.5 and variables:
        return Var(variables[int(rng.integers(len(variables)))])
    if kind < 0.9:
        return Param(f"p{int(rng.integers(n_parameters))}")
    return Const(float(np.round(rng.normal(scale=3.0), 3)))
