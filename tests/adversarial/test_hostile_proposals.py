"""A check never raises and never runs the proposal's code, whatever the proposal is."""

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import exprs

from alder.checking import read_proposal
from alder.expr.json import to_json
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import OPERATORS
from alder.records.grammar import Grammar
from alder.records.problem import Problem
from alder.records.proposal import Proposal
from alder.records.variable import Variable

NAMES = ("r", "v")
GRAMMAR = Grammar(
    [Variable("r", unit="m"), Variable("v", unit="m/s")], target=Variable("a", unit="m/s^2")
)
ROWS = {"r": [1.0, 2.0], "v": [0.5, -0.5]}


def assert_answers(source: object) -> tuple[Problem, ...]:
    """Whatever comes back is a proposal or problems that can be printed and stored."""
    read = read_proposal(source, GRAMMAR, ROWS)
    if isinstance(read, Proposal):
        return ()
    assert read
    for problem in read:
        assert str(problem).isprintable()
        assert len(problem.message) < 600
        assert problem.pointer == "" or problem.pointer.startswith("/")
    return read


def code(source: object) -> str:
    return assert_answers(source)[0].code


keys = st.sampled_from(
    (
        "op",
        "args",
        "var",
        "param",
        "const",
        "structure",
        "parameters",
        "lower",
        "upper",
        "rationale",
    )
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from((*NAMES, *OPERATORS, "k", "\ud800", "\x00", "а", 10**400, -(10**4000))),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(keys, st.text(max_size=4)), inner, max_size=5),
        st.fixed_dictionaries(
            {"op": st.sampled_from(tuple(OPERATORS)), "args": st.lists(inner, max_size=3)}
        ),
    ),
    max_leaves=20,
)


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf{}")
def test_arbitrary_bytes(source: bytes) -> None:
    assert_answers(source)


@given(st.text(max_size=200))
def test_arbitrary_text(source: str) -> None:
    assert_answers(source)


@given(values)
def test_arbitrary_values(value: object) -> None:
    assert_answers(value)


@given(values)
def test_arbitrary_values_in_place_of_a_structure(value: object) -> None:
    assert_answers({"structure": value, "parameters": value})


@given(values)
def test_arbitrary_json(value: object) -> None:
    try:
        text = json.dumps(value)
    except ValueError:  # an integer too long to be written
        return
    assert_answers(text)


@given(exprs(NAMES, max_leaves=8), st.data())
def test_a_valid_text_with_one_place_changed(tree: Expr, data: st.DataObject) -> None:
    text = json.dumps({"structure": to_json(tree), "parameters": {}})
    place = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 6))
    assert_answers(text[:place] + data.draw(st.text(max_size=4)) + text[place + cut :])


@given(exprs(NAMES, max_leaves=8), values, st.data())
def test_a_valid_tree_with_one_node_changed(tree: Expr, value: object, data: st.DataObject) -> None:
    root: dict[str, Any] = {"args": [to_json(tree)]}
    place = root
    while data.draw(st.booleans()) and place["args"][0].get("args"):
        place = place["args"][0]
    place["args"][0] = value
    assert_answers(root["args"][0])


def nested(depth: int, inner: object) -> object:
    for _ in range(depth):
        inner = {"op": "neg", "args": [inner]}
    return inner


def nested_tree(depth: int) -> Expr:
    tree: Expr = Var("r")
    for _ in range(depth):
        tree = Apply(OPERATORS["neg"], (tree,))
    return tree


def shared_tree(depth: int) -> Expr:
    tree: Expr = Var("r")
    for _ in range(depth):
        tree = Apply(OPERATORS["add"], (tree, tree))
    return tree


def cyclic() -> object:
    node: dict[str, object] = {"op": "neg"}
    node["args"] = [node]
    return node


def forged(kind: Any, **fields: object) -> object:
    """Return a node that its constructor never saw."""
    node: object = kind.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(node, name, value)
    return node


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x" * 10_000_000, "too-long"),
        (b"[" * 10_000_000, "too-long"),
        ("[" * 100_000, "too-deep"),
        ('{"op":"neg","args":[' * 5_000, "too-deep"),
        ("(" * 4_000, "bad-shape"),
        (nested(100_000, {"var": "r"}), "too-deep"),
        (nested_tree(100_000), "too-deep"),
        (cyclic(), "too-deep"),
        ({"structure": shared_tree(20)}, "too-large"),
        ('{"const":' + "9" * 5_000 + "}", "bad-number"),
        ('{"const":' + "9" * 399 + "}", "bad-number"),
        ({"const": 10**5000}, "bad-number"),
        ('{"op":"neg","op":"exp","args":[]}', "duplicate-key"),
        ({"var": "a" * 10_000_000}, "unknown-variable"),
        ({"op": "a" * 10_000_000, "args": []}, "unknown-operator"),
        ({"op": "add", "args": [0] * 1_000_000}, "wrong-arity"),
        ({"structure": {"var": "r"}, "rationale": "x" * 10_000_000}, "too-long"),
        (dict.fromkeys(map(str, range(100_000))), "too-large"),
        ({"structure": {"param": "k"}, "parameters": dict.fromkeys(map(str, range(2_000)))},
         "too-large"),
        ({1: 2}, "bad-shape"),
        ({"structure": {("op",): 1}}, "bad-shape"),
        ('{"var": "\\ud800"}', "unknown-variable"),
        ({"var": "\x1b[2J\ud800"}, "unknown-variable"),
        ({"const": -math.inf}, "bad-number"),
        (bytearray(b"{}"), "bad-shape"),
        (3.5, "bad-shape"),
        (object(), "bad-shape"),
        (type, "bad-shape"),
        (forged(Const, value="x"), "bad-number"),
        (forged(Const, value=math.nan), "bad-number"),
        (forged(Var, name=3), "bad-shape"),
        (forged(Apply, operator=None, arguments=[]), "unknown-operator"),
        (forged(Apply, operator=OPERATORS["neg"], arguments=()), "wrong-arity"),
        (Param("\ud800"), "bad-shape"),
        (forged(Apply), "unknown-operator"),
        (forged(Var), "bad-shape"),
    ],
)  # fmt: skip
def test_known_attacks_have_their_code(source: object, expected: str) -> None:
    assert code(source) == expected


class Hostile(type):
    """A class whose name, hash and equality run code of the proposal."""

    def __getattribute__(cls, name: str) -> object:
        raise AssertionError(f"the proposal's code ran: {name}")

    def __eq__(cls, other: object) -> bool:
        raise AssertionError("the proposal's code ran")

    def __hash__(cls) -> int:
        raise AssertionError("the proposal's code ran")


def _explode(*_: object) -> Any:
    raise AssertionError("the proposal's code ran")


TRAPS = dict.fromkeys(
    ("__getitem__", "__len__", "__iter__", "__eq__", "__bool__", "__repr__", "__str__",
     "__float__", "__getattr__", "__contains__", "keys", "items", "get"),
    _explode,
)  # fmt: skip


@pytest.mark.parametrize("parent", [object, dict, list, str, int, float])
def test_no_code_of_a_value_runs(parent: Any) -> None:
    trap: Any = Hostile("Trap", (parent,), {**TRAPS, "__hash__": parent.__hash__})
    hostile: object = parent.__new__(trap)
    sources: tuple[object, ...] = (
        hostile,
        {"structure": hostile},
        {"op": hostile, "args": []},
        {"op": "neg", "args": hostile},
        {"op": "neg", "args": [hostile]},
        {"var": hostile},
        {"param": hostile},
        {"const": hostile},
        {"structure": {"param": "k"}, "parameters": hostile},
        {"structure": {"param": "k"}, "parameters": {"k": hostile}},
        {"structure": {"param": "k"}, "parameters": {"k": {"lower": hostile}}},
        {"structure": {"param": "k"}, "rationale": hostile},
    )
    for source in sources:
        assert_answers(source)


class Key(str):
    """A key that equals every other and says so by running code."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the proposal's code ran")

    def __hash__(self) -> int:
        return hash("op")


def test_no_code_of_a_key_runs() -> None:
    assert code({Key("x"): 1}) == "bad-shape"


def test_names_of_the_target_and_of_functions_are_no_variables() -> None:
    assert code({"var": "exp"}) == "unknown-variable"
    assert code({"var": "a"}) == "unknown-variable"
