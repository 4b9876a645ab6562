import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TAME_NUMBERS, VARIABLES, exprs

from alder.expr.edits import (
    Position,
    at,
    factor,
    fresh_parameter,
    positions,
    prune,
    replace,
    share,
    unwrap,
    wrap,
)
from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.nodes import Const, Expr, Param, Var, parameters, size, walk
from alder.expr.operators import OPERATORS
from alder.expr.text import parse, to_text

NAMES = ("x", "y", "z")


def shown(expr: Expr | None) -> str | None:
    return None if expr is None else to_text(expr)


@given(exprs())
def test_positions_are_those_of_the_walk(expr: Expr) -> None:
    assert [at(expr, position) for position in positions(expr)] == list(walk(expr))


@given(exprs(), st.data())
def test_replacing_a_node_by_itself_changes_nothing(expr: Expr, data: st.DataObject) -> None:
    position = data.draw(st.sampled_from(positions(expr)))
    node = at(expr, position)
    assert node is not None
    assert replace(expr, position, node) == expr


@given(exprs(), exprs(max_leaves=3), st.data())
def test_a_replacement_stands_where_it_was_put_or_nothing_is_returned(
    expr: Expr, new: Expr, data: st.DataObject
) -> None:
    position = data.draw(st.sampled_from(positions(expr)))
    changed = replace(expr, position, new)
    assert changed is None or at(changed, position) == new


@given(
    exprs(),
    st.lists(st.integers(-1, 3), max_size=4).map(tuple),
    st.sampled_from([*OPERATORS, "nope"]),
    st.lists(exprs(max_leaves=2), max_size=3),
    st.integers(-1, 4),
)
def test_no_edit_ever_raises(
    expr: Expr, position: Position, name: str, siblings: list[Expr], slot: int
) -> None:
    for edited in (
        wrap(expr, position, name, siblings=siblings, slot=slot),
        prune(expr, position),
        unwrap(expr, position),
        factor(expr, position),
        replace(expr, position, Var("x")),
        share(expr, "k", "c"),
    ):
        assert edited is None or parse(to_text(edited, VARIABLES), VARIABLES) == edited


@given(exprs(), st.data())
def test_pruning_never_grows_a_law_by_more_than_a_sign(expr: Expr, data: st.DataObject) -> None:
    pruned = prune(expr, data.draw(st.sampled_from(positions(expr))))
    assert pruned is None or size(pruned) <= size(expr)


@given(exprs(parameters=("k",), numbers=TAME_NUMBERS, operators=("add", "sub", "mul", "sin")))
def test_factoring_keeps_the_value(expr: Expr) -> None:
    columns, values = {"x": [0.7, -1.3], "y": [1.9, 0.4], "r": [0.3, -2.7]}, {"k": 1.7}
    for position in positions(expr):
        factored = factor(expr, position)
        if factored is not None:
            gap = np.abs(evaluate(expr, columns, values) - evaluate(factored, columns, values))
            bound = rounding_bound(expr, columns, values)
            bound = bound + rounding_bound(factored, columns, values)
            assert np.all(gap <= 1e-12 * bound)


@pytest.mark.parametrize(
    ("text", "position", "result"),
    [
        ("x + y", (0,), "y"),
        ("x - y", (1,), "x"),
        ("x - y", (0,), "-y"),
        ("x/y", (0,), "1/y"),
        ("x/y", (1,), "x"),
        ("k*x*y", (0, 1), "k*y"),
        ("exp(x)", (), "x"),
        ("exp(sin(x))", (0,), "exp(x)"),
        ("exp(x) + y", (0,), "y"),
        ("(x + y)^2", (), "x + y"),
        ("x^2", (1,), None),
        ("where(x, y, z)", (0,), None),
        ("x", (), None),
        ("x + y", (7,), None),
    ],
)
def test_pruning(text: str, position: Position, result: str | None) -> None:
    assert shown(prune(parse(text, NAMES), position)) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("k*x + k*y", "k*(x + y)"),
        ("x*k - k", "k*(x - 1)"),
        ("k*x*y + y*k*z", "k*y*(x + z)"),
        ("x + y", None),
        ("k*x", None),
    ],
)
def test_factoring(text: str, result: str | None) -> None:
    assert shown(factor(parse(text, NAMES))) == result


def test_wrapping_keeps_the_rules_of_exponents() -> None:
    law = parse("k*x", NAMES)
    assert shown(wrap(law, (1,), "powp", siblings=[Param("p")])) == "k*x^p"
    assert shown(wrap(law, (1,), "pow", siblings=[Const(2.0)])) == "k*x^2"
    assert wrap(law, (1,), "pow", siblings=[Param("p")]) is None
    assert wrap(law, (1,), "powp", siblings=[Param("p")], slot=1) is None
    assert wrap(parse("x^p", NAMES), (1,), "neg") is None


def test_sharing_makes_one_parameter_of_two() -> None:
    law = parse("a*x + b*y", NAMES)
    assert shown(share(law, "b", "a")) == "a*x + a*y"
    assert share(law, "a", "a") is None
    assert share(law, "a", "c") is None


@given(exprs())
def test_a_fresh_parameter_is_fresh(expr: Expr) -> None:
    assert fresh_parameter(expr, "k").name not in parameters(expr)
