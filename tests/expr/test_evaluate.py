import operator as op
from collections.abc import Mapping
from importlib import import_module
from typing import Any, assert_never

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import PARAMETERS, TAME_NUMBERS, VARIABLES, exprs

from alder.arrays import FloatArray
from alder.errors import UnknownVariable
from alder.expr.evaluate import evaluate, gradient, jacobian, rounding_bound
from alder.expr.nodes import Apply, Const, Expr, Param, Var, depth, parameters, size, walk
from alder.expr.operators import OPERATORS, Floors
from alder.expr.sample import random_tree
from alder.expr.text import parse

COLUMNS: dict[str, list[float]] = {"x": [0.7, 1.3, 0.2], "y": [1.9, 0.4, 0.6], "r": [0.3, 1.1, 0.9]}
VALUES: dict[str, float] = {"k": 1.7, "c": -0.9, "p0": 0.4, "x": 2.2}
mpmath: Any = import_module("mpmath")  # it has no types


def _softsign(x: Any) -> Any:
    return x / (1 + abs(x))


def _gate(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return yes if condition > 0 else no


FUNCTIONS = ("exp", "log", "sqrt", "tanh", "sin", "cos", "asin", "acos", "atan", "sign")
# The mathematical meaning of every operator in fifty digits, without floors or saturation.
ORACLE: dict[str, Any] = {
    "add": op.add,
    "sub": op.sub,
    "mul": op.mul,
    "div": op.truediv,
    "neg": op.neg,
    "pow": op.pow,
    "powp": op.pow,
    "softsign": _softsign,
    "gate": _gate,
    "where": _where,
    "abs": abs,
    "max": max,
    "min": min,
    **{name: getattr(mpmath, name) for name in FUNCTIONS},
}


class Undefined(Exception):
    """The point lies outside the domain, or too near a switch to be sure of its side."""


def oracle(expr: Expr, row: Mapping[str, float], values: Mapping[str, float]) -> Any:
    match expr:
        case Const(value):
            return mpmath.mpf(value)
        case Param(name):
            return mpmath.mpf(values[name])
        case Var(name):
            return mpmath.mpf(row[name])
        case Apply(operator, arguments):
            numbers = [oracle(argument, row, values) for argument in arguments]
            _require_domain(operator.name, numbers)
            return ORACLE[operator.name](*numbers)
        case _:
            assert_never(expr)


def _require_domain(name: str, numbers: list[Any]) -> None:
    first, last = numbers[0], numbers[-1]
    integer = name == "pow" and last == int(last)
    outside = any(abs(number) > 1e6 for number in numbers)
    if name in ("log", "sqrt", "powp") or (name == "pow" and not integer):
        outside |= first < 1e-6
    if name in ("asin", "acos"):
        outside |= abs(first) > 0.999
    if name in ("sign", "where", "abs", "div", "pow"):
        outside |= min(abs(first if name != "div" else last), 1.0) < 1e-6
    if name in ("max", "min"):
        outside |= abs(first - last) < 1e-6
    if name in ("exp", "pow", "powp"):
        outside |= abs(last) > 100
    if outside:
        raise Undefined


@given(exprs(numbers=TAME_NUMBERS, max_leaves=8))
def test_values_agree_with_fifty_digits_away_from_floors(expr: Expr) -> None:
    value = evaluate(expr, COLUMNS, VALUES)
    bound = rounding_bound(expr, COLUMNS, VALUES)
    with mpmath.workdps(50):
        for index in range(3 if value.size == 3 else 1):
            row = {name: column[index] for name, column in COLUMNS.items()}
            try:
                exact = oracle(expr, row, VALUES)
            except Undefined:
                continue
            assert abs(exact - value[index]) <= 1e-13 * bound[index] + 1e-290


@given(exprs(), st.lists(st.floats(-1e300, 1e300), min_size=7, max_size=7))
def test_a_law_is_finite_for_finite_rows(expr: Expr, numbers: list[float]) -> None:
    columns: dict[str, list[float]] = {
        name: [number] for name, number in zip(VARIABLES, numbers[:3], strict=True)
    }
    values: dict[str, float] = dict(zip(PARAMETERS, numbers[3:], strict=True))
    assert np.isfinite(evaluate(expr, columns, values)).all()
    bent = Floors(denominator=1e-6, base=1e-6, exponent=30.0, saturation=1e6)
    assert np.isfinite(evaluate(expr, columns, values, bent)).all()


@given(
    exprs(
        numbers=TAME_NUMBERS,
        operators=("add", "sub", "mul", "div", "pow", "powp", "exp", "tanh", "sin", "gate"),
        max_leaves=8,
    )
)
def test_derivatives_agree_with_differences(expr: Expr) -> None:
    names = ("k", "c", "p0")
    value, slopes = jacobian(expr, COLUMNS, VALUES, names)
    assume(bool(np.all(np.abs(value) < 1e3)) and bool(np.all(np.abs(slopes) < 1e3)))
    for column, name in enumerate(names):
        ups: list[FloatArray] = []
        for h in (1e-5, 1e-4):
            up = evaluate(expr, COLUMNS, VALUES | {name: VALUES[name] + h})
            down = evaluate(expr, COLUMNS, VALUES | {name: VALUES[name] - h})
            ups.append((up - down) / (2 * h))
        # Where two steps disagree the difference itself is not to be trusted.
        sure = np.abs(ups[0] - ups[1]) < 1e-6
        assert np.all((np.abs(slopes[:, column] - ups[0]) < 1e-5)[sure])


def test_gradients_are_taken_by_variables_not_by_parameters_of_the_same_name() -> None:
    law = parse("@x*x^2", ["x"])
    value, slopes = gradient(law, {"x": [3.0]}, {"x": 2.0}, ["x"])
    assert value[0] == 18.0
    assert slopes[0, 0] == 12.0
    assert jacobian(law, {"x": [3.0]}, {"x": 2.0}, ["x"])[1][0, 0] == 9.0


def test_a_law_without_variables_is_as_long_as_the_rows() -> None:
    assert evaluate(parse("k + 1", []), {"x": [1.0, 2.0, 3.0]}, {"k": 1.0}).tolist() == [2.0] * 3
    assert evaluate(parse("k + 1", []), {}, {"k": 1.0}).tolist() == [2.0]


def test_missing_and_uneven_columns_are_told() -> None:
    law = parse("x + y", ["x", "y"])
    with pytest.raises(UnknownVariable, match="The law needs y; the rows have x"):
        evaluate(law, {"x": [1.0]}, {})
    with pytest.raises(UnknownVariable, match="different lengths"):
        evaluate(law, {"x": [1.0], "y": [1.0, 2.0]}, {})


def test_the_rounding_bound_grows_with_cancellation() -> None:
    law = parse("(x + 1e8) - 1e8", ["x"])
    assert rounding_bound(law, {"x": [1.0]}, {})[0] > 1e8


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_random_trees_have_the_size_asked_for(n_nodes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_nodes, VARIABLES)
    assert n_nodes - 1 <= size(tree) <= n_nodes
    assert depth(tree) <= n_nodes
    assert set(parameters(tree)) <= {f"p{i}" for i in range(6)}
    again = random_tree(np.random.default_rng(seed), n_nodes, VARIABLES)
    assert again == tree
    used = {node.operator.name for node in walk(tree) if isinstance(node, Apply)}
    assert used <= set(OPERATORS)
