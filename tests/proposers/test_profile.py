"""What the rows ask of a factor, and products of shapes ranked by it."""

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.expr.operators import Floors
from alder.expr.text import to_text
from alder.proposers.search.gains import frame
from alder.proposers.search.growth import singles
from alder.proposers.search.knots import Knots
from alder.proposers.search.products import Products, products
from alder.proposers.search.profile import Profile
from alder.proposers.search.shapes import tabulate
from alder.proposers.search.table import Table
from alder.segments import Segments

N = 300
FLOORS = Floors()
OPERATORS = {"add", "sub", "mul", "div", "pow", "exp", "tanh"}


def columns_of(seed: int = 0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    return {"x": rng.uniform(0.6, 3.0, N), "z": rng.uniform(0.5, 2.0, N)}


def table_of(target: FloatArray, columns: dict[str, FloatArray]) -> Table:
    return Table(columns, target, np.ones(N), np.empty((N, 0)), Segments.of(None), FLOORS, N)


def products_of(column: FloatArray) -> Products:
    shapes = tabulate(singles("x", column, OPERATORS), {"x": column}, FLOORS)
    found = products("x", column, shapes, "any", FLOORS, multiply=True)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def columns() -> dict[str, FloatArray]:
    return columns_of()


@pytest.fixture(scope="module")
def found(columns: dict[str, FloatArray]) -> Products:
    return products_of(columns["x"])


def profile_of(
    target: FloatArray, columns: dict[str, FloatArray], knots: Knots, context: FloatArray
) -> Profile:
    begun = knots.coefficients(np.array([columns["x"], 1.0 / columns["x"]]))
    return Profile.of(
        frame(table_of(target, columns), np.empty((0, N))), knots.basis, context, begun
    )


def test_a_profile_is_the_factor_that_the_rows_ask_for(
    columns: dict[str, FloatArray], found: Products
) -> None:
    factor = columns["x"] ** -0.7 * np.exp(-0.4 * columns["x"])
    z = columns["z"]
    context = np.array([np.ones(N), z, z**2, z**3])
    profile = profile_of(factor * (1.0 - 0.3 * z**3), columns, found.knots, context)
    drawn = profile.best @ found.knots.basis
    assert np.corrcoef(drawn, factor)[0, 1] ** 2 == pytest.approx(1.0, abs=1e-9)


def test_the_cost_of_a_factor_is_what_it_gains_less(
    columns: dict[str, FloatArray], found: Products
) -> None:
    x = columns["x"]
    noise = 0.01 * np.random.default_rng(1).normal(size=N)
    profile = profile_of(np.exp(-x) / x + noise, columns, found.knots, np.ones((1, N)))
    others = found.knots.coefficients(np.array([np.exp(-1.05 * x) / x, np.exp(-x) / x**1.02]))
    less = profile.gain - profile.gains(others)
    assert profile.costs(others) == pytest.approx(less, rel=0.1)


@pytest.mark.parametrize(
    ("p", "q", "text"), [(-0.55, -0.32, "x^p*exp(p2*x^2)"), (-1.15, -0.43, "x^p*exp(p2*x)")]
)
def test_a_product_between_grid_points_comes_first_with_its_parameters(
    p: float, q: float, text: str, columns: dict[str, FloatArray], found: Products
) -> None:
    x, z = columns["x"], columns["z"]
    power = 2 if text.endswith("^2)") else 1
    target = x**p * np.exp(q * x**power) * np.tanh(z)
    context = np.array([z**k for k in range(5)])
    profile = profile_of(target, columns, found.knots, context)
    costs, points = found.best_points(profile, len(found))
    best = np.argsort(costs, kind="stable")[:64]
    for _ in range(2):
        _, _, points[best] = found.moved_again(best, points[best], profile)
    costs, _, _ = found.moved_again(best, points[best], profile)
    names = [to_text(found.shape(int(pair))[0].expr) for pair in best]
    place = names.index(text)
    assert np.sum(costs < costs[place]) < 16
    assert found.factor(int(best[place]), points[best[place]]).near == pytest.approx(
        (p, q), abs=0.05
    )


def test_products_of_an_odd_variable_are_odd() -> None:
    v = np.random.default_rng(2).uniform(-2.0, 2.0, N)
    shapes = tabulate(singles("v", v, OPERATORS), {"v": v}, FLOORS)
    found = products("v", v, shapes, "odd", FLOORS, multiply=True)
    assert found is not None
    values = found.singles.values[found.left] * found.singles.values[found.right]
    assert np.abs(values + values[:, ::-1]).max() < 1e-6
