"""Trees over two variables: distinct functions, each of both variables."""

import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr
from alder.expr.text import parse
from alder.proposers.search.arithmetic import arithmetic, pairs
from alder.proposers.search.growth import power

ALL = frozenset({"add", "sub", "mul", "div"})
# Points of our own: trees that agreed at the points of the search only would differ here.
POINTS = {name: np.random.default_rng(k).uniform(1.0, 3.0, 9) for k, name in enumerate("xy")}


def values(tree: Expr, points: dict[str, FloatArray]) -> FloatArray:
    return evaluate(tree, points, {})


@pytest.mark.parametrize("allowed", [ALL, frozenset({"add", "mul"}), frozenset({"div"})])
def test_no_two_trees_are_the_same_function_up_to_scale(allowed: frozenset[str]) -> None:
    found = [values(tree, POINTS) for _, tree in arithmetic(allowed)]
    units = np.array([one / np.linalg.norm(one) for one in found])
    closeness = np.abs(units @ units.T) - np.eye(len(units))
    assert len(found) > 0
    assert closeness.max() < 1.0 - 1e-10


@pytest.mark.parametrize("name", ["x", "y"])
def test_every_tree_depends_on_both_variables(name: str) -> None:
    moved = {**POINTS, name: 1.5 * POINTS[name]}
    assert all(not np.allclose(values(t, moved), values(t, POINTS)) for _, t in arithmetic(ALL))


def test_every_tree_scales_with_its_variables() -> None:
    doubled = {name: 2.0 * column for name, column in POINTS.items()}
    for _, tree in arithmetic(ALL):
        ratio = values(tree, doubled) / values(tree, POINTS)
        np.testing.assert_allclose(ratio, ratio[0])


def test_variables_of_different_units_are_not_added_as_they_are() -> None:
    shapes = pairs(("x", "y"), POINTS, {*ALL}, alike=False)
    total = parse("x + y", ("x", "y"))
    assert total in [one.expr for one in pairs(("x", "y"), POINTS, {*ALL}, alike=True)]
    assert total not in [one.expr for one in shapes]


@pytest.mark.parametrize("exponent", [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("allowed", [{"pow"}, {"mul", "div", "sqrt"}, {"div", "sqrt", "pow"}])
def test_a_power_is_that_power_whatever_it_is_written_with(
    exponent: float, allowed: set[str]
) -> None:
    written = power(parse("x", ("x",)), exponent, allowed)
    assert written is not None
    np.testing.assert_allclose(values(written, POINTS), POINTS["x"] ** exponent)


def test_a_power_without_an_operator_for_it_is_not_written() -> None:
    assert power(parse("x", ("x",)), 2.5, {"mul", "div", "sqrt"}) is None
