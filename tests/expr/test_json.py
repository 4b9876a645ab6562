import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from strategies import ODD_NAMES, VARIABLES, exprs

from alder.errors import MalformedLaw
from alder.expr.json import MAX_DEPTH, from_json, proposal_schema, to_json, tree_schema
from alder.expr.nodes import Expr

TREES = Draft202012Validator(tree_schema())
PROPOSALS = Draft202012Validator(proposal_schema())
X = {"var": "x"}

json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["op", "args", "var", "param", "const", "z"]), inner)
        | st.fixed_dictionaries(
            {"op": st.sampled_from(["add", "neg", "pow", "powp", "nope"]), "args": st.lists(inner)}
        )
    ),
    max_leaves=8,
)


@given(exprs(variables=VARIABLES + ODD_NAMES))
def test_json_round_trips_through_text(expr: Expr) -> None:
    assert from_json(json.loads(json.dumps(to_json(expr)))) == expr


@given(exprs())
def test_what_is_written_fits_the_published_schema(expr: Expr) -> None:
    TREES.validate(to_json(expr))


def test_the_schemas_are_themselves_valid() -> None:
    Draft202012Validator.check_schema(tree_schema())
    Draft202012Validator.check_schema(proposal_schema())


@given(json_values)
def test_any_value_is_a_tree_or_malformed(value: object) -> None:
    try:
        expr = from_json(value)
    except MalformedLaw:
        return
    assert from_json(to_json(expr)) == expr


BAD_TREES: list[Any] = [
    None,
    [],
    {},
    X | {"param": "k"},
    {"var": ""},
    {"var": 1},
    {"const": True},
    {"const": "1"},
    {"op": "add", "args": [X]},
    {"op": "add", "args": X},
    {"op": "nope", "args": [X, X]},
    {"op": ["add"], "args": [X, X]},
    {"op": "add"},
    {"op": "pow", "args": [X, X]},
    {"op": "powp", "args": [X, {"const": 1.0}]},
    {"op": "neg", "args": [{"op": "neg", "args": [{"const": None}]}]},
]


@pytest.mark.parametrize("tree", BAD_TREES)
def test_reader_and_schema_refuse_the_same_shapes(tree: Any) -> None:
    assert not TREES.is_valid(tree)
    with pytest.raises(MalformedLaw):
        from_json(tree)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_numbers_float64_cannot_hold_are_refused(value: float) -> None:
    with pytest.raises(MalformedLaw, match="finite"):
        from_json({"const": value})


def test_the_place_of_a_mistake_is_a_json_pointer() -> None:
    with pytest.raises(MalformedLaw, match="/args/1/args/0/const"):
        from_json({"op": "add", "args": [X, {"op": "neg", "args": [{"const": "1"}]}]})


def test_depth_is_limited_before_the_stack_is() -> None:
    tree: dict[str, object] = dict(X)
    for _ in range(MAX_DEPTH - 1):
        tree = {"op": "neg", "args": [tree]}
    from_json(tree)
    for _ in range(10 * sys.getrecursionlimit()):
        tree = {"op": "neg", "args": [tree]}
    with pytest.raises(MalformedLaw, match="deeper"):
        from_json(tree)


def test_a_small_object_that_stands_in_too_many_places_is_refused() -> None:
    tree: dict[str, object] = dict(X)
    for _ in range(MAX_DEPTH - 1):
        tree = {"op": "add", "args": [tree, tree]}
    with pytest.raises(MalformedLaw, match="nodes"):
        from_json(tree)


def test_a_proposal_has_a_structure_and_nothing_unknown() -> None:
    whole = {
        "structure": {"op": "mul", "args": [{"param": "k"}, X]},
        "parameters": {"k": {"lower": 0, "upper": 10}},
        "rationale": "because",
        "scope": "x > 0",
    }
    assert PROPOSALS.is_valid(whole)
    assert PROPOSALS.is_valid({"structure": X})
    assert not PROPOSALS.is_valid({"rationale": "because"})
    assert not PROPOSALS.is_valid(whole | {"confidence": 1.0})
    assert not PROPOSALS.is_valid(whole | {"parameters": {"k": {"low": 0}}})
