"""Random structures of the NovelLaw grammar, and rows to fit them to, for speed measurements.

Each structure is a sum of three terms; a term is a coefficient times a function of distance times
a function of masses or radii times a function of speed or action, where a factor of one is left
out. Variables, operators (literal powers only) and the limit of 31 nodes are those of the grammar.
At most three parameters enter nonlinearly, all with bounds 0.1 to 5. What they are fitted to is
one law of the same kind with noise of 0.5 %, so that a few structures fit and most do not, as in a
search.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from alder.expr.nodes import Apply, Const, Expr, Param, Var, parameters, size
from alder.expr.operators import OPERATORS

VARIABLES = ("r", "v", "m1", "m2", "R1", "R2", "u")
N_TERMS = 3
MOST_NONLINEAR = 3
MAX_NODES = 31
NONLINEAR_BOUNDS = (0.1, 5.0)

r, v, m1, m2, R1, R2, u = map(Var, VARIABLES)
ONE = Const(1.0)
MINUS = Const(-1.0)
Part = Callable[[Callable[[], Param]], Expr]


def op(name: str, *arguments: Expr) -> Expr:
    """Apply an operator by name."""
    return Apply(OPERATORS[name], arguments)


def _distance() -> tuple[Part, ...]:
    return (
        lambda p: ONE,
        lambda p: r,
        lambda p: op("pow", r, Const(-1.5)),
        lambda p: op("pow", r, Const(-0.7)),
        lambda p: op("exp", op("div", r, op("mul", MINUS, p()))),
        lambda p: op(
            "mul", op("exp", op("div", r, op("mul", MINUS, p()))), op("pow", r, Const(-1.3))
        ),
        lambda p: (lambda q: op("div", r, op("add", op("mul", r, r), op("mul", q, q))))(p()),
        lambda p: op("tanh", op("div", op("sub", r, Const(1.5)), p())),
        lambda p: op("tanh", op("div", op("sub", r, p()), p())),
        lambda p: op("div", ONE, op("add", ONE, op("div", r, p()))),
        lambda p: op("exp", op("div", op("mul", r, r), op("mul", MINUS, p()))),
    )


def _context() -> tuple[Part, ...]:
    total = op("add", m1, m2)
    return (
        lambda p: ONE,
        lambda p: op("div", m1, total),
        lambda p: op("div", m2, total),
        lambda p: op("div", op("sub", m1, m2), total),
        lambda p: op("div", R1, op("add", R1, R2)),
        lambda p: op("mul", m1, m2),
        lambda p: op("div", ONE, total),
    )


def _response() -> tuple[Part, ...]:
    return (
        lambda p: ONE,
        lambda p: v,
        lambda p: u,
        lambda p: op("tanh", op("div", u, p())),
        lambda p: op("mul", v, v),
        lambda p: op("mul", v, u),
        lambda p: op("mul", v, op("pow", op("add", op("mul", v, v), p()), Const(0.5))),
    )


def random_structure(rng: np.random.Generator, max_nodes: int = MAX_NODES) -> Expr:
    """Draw one structure with at most three nonlinear parameters."""
    while True:
        count = 0

        def fresh() -> Param:
            nonlocal count
            count += 1
            return Param(f"p{count}")

        terms: list[Expr] = []
        for term in range(N_TERMS):
            parts = [family[int(rng.integers(len(family)))](fresh)
                     for family in (_distance(), _context(), _response())]  # fmt: skip
            product: Expr = Param(f"c{term}")
            for part in parts:
                product = product if part == ONE else op("mul", product, part)
            terms.append(product)
        law = op("add", op("add", terms[0], terms[1]), terms[2])
        if count <= MOST_NONLINEAR and size(law) <= max_nodes:
            return law


def distinct_structures(count: int, max_nodes: int = MAX_NODES, seed: int = 3) -> list[Expr]:
    """Draw that many different structures."""
    rng = np.random.default_rng(seed)
    found: dict[Expr, None] = {}
    while len(found) < count:
        found[random_structure(rng, max_nodes)] = None
    return list(found)


def bounds_of(structure: Expr) -> dict[str, tuple[float, float]]:
    """Return the bounds of the nonlinear parameters."""
    return {name: NONLINEAR_BOUNDS for name in parameters(structure) if name.startswith("p")}


def rows(n: int, seed: int = 1) -> dict[str, NDArray[np.float64]]:
    """Return rows of a screened power with mass contrast, damped speed and saturating action."""
    rng = np.random.default_rng(seed)
    columns = {
        "r": rng.uniform(0.6, 3.0, n),
        "v": rng.normal(0.0, 1.0, n),
        "m1": rng.uniform(0.5, 3.0, n),
        "m2": rng.uniform(0.5, 3.0, n),
        "R1": rng.uniform(0.2, 1.0, n),
        "R2": rng.uniform(0.2, 1.0, n),
        "u": rng.uniform(-2.0, 2.0, n),
    }
    contrast = (columns["m1"] - columns["m2"]) / (columns["m1"] + columns["m2"])
    a = (
        -2.0 * np.exp(-columns["r"] / 1.7) * columns["r"] ** -1.3 * contrast
        - 0.4 * columns["v"] / (1.0 + columns["r"])
        + 1.2 * np.tanh(columns["u"] / 0.8)
    )
    columns["a"] = a + 0.005 * a.std() * rng.normal(size=n)
    return columns
