import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TAME_NUMBERS, exprs

from alder.checking import check, read_proposal
from alder.expr.json import to_json
from alder.expr.nodes import Apply, Const, Expr, Param, Var, depth, parameters, size
from alder.expr.operators import OPERATORS, Floors
from alder.expr.text import parse
from alder.records.grammar import Grammar, Nesting
from alder.records.problem import Problem
from alder.records.proposal import Bounds, Proposal
from alder.records.variable import Variable

NAMES = ("r", "v", "u")
FREE = Grammar([Variable(name) for name in NAMES], target=Variable("a"), max_nodes=200)
GRAMMAR = Grammar(
    [Variable("r", unit="m"), Variable("v", unit="m/s"), Variable("u", unit="N")],
    target=Variable("a", unit="m/s^2"),
    operators=("add", "sub", "mul", "div", "neg", "pow", "powp", "exp", "tanh"),
    max_depth=8,
)
R = {"var": "r"}
K_R = {"op": "mul", "args": [{"param": "k"}, R]}


def found(proposal: object, grammar: Grammar = GRAMMAR) -> list[tuple[str, str]]:
    return [(problem.code, problem.pointer) for problem in check(proposal, grammar)]


def only(proposal: object, grammar: Grammar = GRAMMAR) -> Problem:
    (problem,) = check(proposal, grammar)
    return problem


@given(exprs(NAMES, max_leaves=12))
def test_a_valid_tree_has_no_problem_in_any_form(tree: Expr) -> None:
    expected = Proposal(tree)
    for source in (
        tree,
        to_json(tree),
        json.dumps(to_json(tree)),
        json.dumps(to_json(tree)).encode(),
    ):
        assert read_proposal(source, FREE) == expected
    assert read_proposal({"structure": to_json(tree)}, FREE) == expected
    assert read_proposal(expected, FREE) == expected


@given(exprs(NAMES, ("k", "c"), numbers=TAME_NUMBERS, max_leaves=8), st.data())
def test_bounds_and_words_are_kept(tree: Expr, data: st.DataObject) -> None:
    ends = st.one_of(st.none(), st.floats(-1e6, 0.0), st.integers(-5, 0))
    bounds = {name: {"lower": data.draw(ends), "upper": 1} for name in parameters(tree)}
    source = {
        "structure": to_json(tree),
        "parameters": bounds,
        "rationale": "drag",
        "scope": "slow",
    }
    read = read_proposal(json.dumps(source), FREE)
    assert isinstance(read, Proposal)
    assert (read.rationale, read.scope) == ("drag", "slow")
    for name, bound in read.bounds.items():
        lower = bounds[name]["lower"]
        assert bound == Bounds(-math.inf if lower is None else float(lower), 1.0)
    assert read_proposal(read, FREE) == read


@given(exprs(NAMES, max_leaves=12), st.integers(1, 20), st.integers(1, 6))
def test_the_limits_of_the_grammar_hold(tree: Expr, max_nodes: int, max_depth: int) -> None:
    grammar = Grammar(FREE.variables, target=FREE.target, max_nodes=max_nodes, max_depth=max_depth)
    codes = {problem.code for problem in check(tree, grammar)}
    assert ("too-deep" in codes) == (depth(tree) > max_depth)
    if depth(tree) <= max_depth:
        assert ("too-large" in codes) == (size(tree) > max_nodes)


def test_the_human_syntax_is_read() -> None:
    assert read_proposal("k*r^-1.5 - c*v", GRAMMAR) == Proposal(parse("k*r^-1.5 - c*v", NAMES))


def test_a_text_that_is_no_law_is_a_problem() -> None:
    assert found("k*(r") == [("bad-shape", "")]


@pytest.mark.parametrize(
    ("proposal", "code", "pointer"),
    [
        ('{"structure": ', "not-json", ""),
        ("", "not-json", ""),
        (b"\xff\xfe", "not-json", ""),
        ('{"var": "r", "var": "v"}', "duplicate-key", ""),
        ({"op": "neg", "args": [3]}, "bad-shape", "/args/0"),
        ({"op": "neg", "args": R}, "bad-shape", "/args"),
        ({"op": "neg"}, "bad-shape", ""),
        ({"var": "r", "param": "k"}, "bad-shape", ""),
        ({"structure": K_R, "reason": "x"}, "bad-shape", "/reason"),
        ({"parameters": {}}, "bad-shape", ""),
        ({"structure": K_R, "rationale": 3}, "bad-shape", "/rationale"),
        ({"structure": K_R, "scope": "\ud800"}, "bad-shape", "/scope"),
        ({"param": ""}, "bad-shape", "/param"),
        ({"param": "a\x1b"}, "bad-shape", "/param"),
        ({"param": 3}, "bad-shape", "/param"),
        ({"var": 3}, "bad-shape", "/var"),
        ([], "bad-shape", ""),
        (None, "bad-shape", ""),
        ({"op": "foo", "args": []}, "unknown-operator", "/op"),
        ({"op": 3, "args": []}, "unknown-operator", "/op"),
        ({"op": "mul", "args": [{"op": "sin", "args": [{"const": 1}]}, {"param": "k"}]},
         "operator-not-in-grammar", "/args/0/op"),
        ({"op": "mul", "args": [{"param": "k"}, {"var": "z"}]}, "unknown-variable", "/args/1/var"),
        ({"var": "a"}, "unknown-variable", "/var"),
        ({"op": "add", "args": [K_R]}, "wrong-arity", "/args"),
        ({"op": "pow", "args": [R, {"param": "p"}]}, "bad-exponent", "/args/1"),
        ({"op": "powp", "args": [R, {"const": 2}]}, "bad-exponent", "/args/1"),
        ({"op": "mul", "args": [K_R, {"const": True}]}, "bad-number", "/args/1/const"),
        ({"op": "mul", "args": [K_R, {"const": 10**400}]}, "bad-number", "/args/1/const"),
        ({"op": "mul", "args": [K_R, {"const": math.nan}]}, "bad-number", "/args/1/const"),
        ({"op": "mul", "args": [K_R, {"const": "1"}]}, "bad-number", "/args/1/const"),
        ('{"const": Infinity}', "bad-number", "/const"),
        ('{"const": 1e999}', "bad-number", "/const"),
        ({"structure": K_R, "parameters": {"k": {"lower": 1, "upper": 1}}}, "bad-bound",
         "/parameters/k"),
        ({"structure": K_R, "parameters": {"k": {"lower": math.nan}}}, "bad-bound",
         "/parameters/k/lower"),
        ({"structure": K_R, "parameters": {"k": {"upper": True}}}, "bad-bound",
         "/parameters/k/upper"),
        ({"structure": K_R, "parameters": {"k": {"upper": 10**400}}}, "bad-bound",
         "/parameters/k/upper"),
        ({"structure": K_R, "parameters": {"k": [0, 1]}}, "bad-shape", "/parameters/k"),
        ({"structure": K_R, "parameters": {"c/~": {}}}, "unknown-parameter", "/parameters/c~1~0"),
        ("r + v", "wrong-unit", ""),
        ({"structure": {"op": "add", "args": [K_R, {"op": "exp", "args": [R]}]}}, "wrong-unit",
         "/structure/args/1"),
    ],
)  # fmt: skip
def test_each_mistake_has_its_code_and_place(proposal: object, code: str, pointer: str) -> None:
    assert (code, pointer) in found(proposal)


def test_all_mistakes_are_reported_together() -> None:
    tree = {"op": "add", "args": [{"op": "foo", "args": [{"var": "z"}]}, {"const": None}]}
    proposal = {"structure": tree, "parameters": {"q": {"lower": 2, "upper": 1}}}
    assert [code for code, _ in found(proposal)] == [
        "unknown-operator",
        "unknown-variable",
        "bad-number",
        "unknown-parameter",
        "bad-bound",
    ]


def test_at_most_twenty_problems_are_reported() -> None:
    tree: object = {"var": "z"}
    for _ in range(40):
        tree = {"op": "add", "args": [{"var": "z"}, tree]}
    assert len(check(tree, FREE)) == 20


def test_a_misspelt_variable_gets_a_suggestion() -> None:
    grammar = Grammar([Variable("velocity")], target=Variable("a"))
    assert "Did you mean `velocity`?" in only({"var": "velocty"}, grammar).message


def test_a_look_alike_is_named() -> None:
    grammar = Grammar([Variable("a")], target=Variable("y"))
    message = only({"var": "а"}, grammar).message
    assert "`а` (CYRILLIC SMALL LETTER A) looks like `a`" in message


def test_a_look_alike_operator_is_named() -> None:
    assert "CYRILLIC" in only({"op": "ехр", "args": [{"const": 1}]}).message


def test_an_invisible_character_is_named() -> None:
    message = only({"var": "r\u200b"}, FREE).message
    assert "`\\u200b` (ZERO WIDTH SPACE) cannot be seen; write `r`." in message


def test_more_parameters_than_the_kernel_holds_are_too_large() -> None:
    tree: Expr = Param("p0")
    for i in range(1, 63):
        tree = Apply(OPERATORS["add"], (Param(f"p{i}"), tree))
    grammar = Grammar(FREE.variables, target=FREE.target, max_nodes=200, max_depth=90)
    assert found(tree, grammar) == [("too-large", "")]


def test_strict_units_refuse_what_parameters_would_absorb() -> None:
    strict = Grammar(GRAMMAR.variables, target=GRAMMAR.target, units="strict")
    assert found("k*r") == []
    assert found("k*r", strict) == [("wrong-unit", "")]


def test_composition_constraints_are_checked() -> None:
    grammar = Grammar(
        [Variable("theta", unit="rad"), Variable("on", kind="indicator"), Variable("r")],
        target=Variable("a"),
        angles_in_trig=True,
        indicators_as_factors=True,
        nesting=[Nesting("exp", "exp")],
    )
    assert found("sin(theta)*on", grammar) == []
    assert found("k*theta + on + exp(exp(r))", grammar) == [
        ("bad-composition", "/args/0/args/0/args/1"),
        ("bad-composition", "/args/0/args/1"),
        ("bad-composition", "/args/1"),
    ]


ROWS = {"r": np.linspace(0.5, 2.0, 50), "v": np.linspace(-1.0, 1.0, 50)}


def executable(proposal: object, rows: dict[str, object], grammar: Grammar = FREE) -> bool:
    problems = check(proposal, grammar, rows)  # pyright: ignore[reportArgumentType]
    assert all(problem.code == "not-executable" for problem in problems)
    return not problems


def test_a_law_runs_on_rows_that_have_its_columns() -> None:
    assert executable("k*r^p - c*v", {**ROWS})
    assert executable("k", {**ROWS})
    assert not executable("k*u", {**ROWS})


def test_a_law_that_overflows_for_every_parameter_is_not_executable() -> None:
    assert not executable("exp(600*r)^9", {**ROWS})
    assert executable("exp(k*r)^9", {"r": 1e4 * ROWS["r"]})


def test_trial_parameters_lie_inside_the_bounds() -> None:
    floors = Floors(saturation=100.0)
    grammar = Grammar(FREE.variables, target=FREE.target, floors=floors)
    law = parse("k*r", NAMES)
    assert executable(Proposal(law, {"k": Bounds(0.0, 200.0)}), {**ROWS}, grammar)
    assert not executable(Proposal(law, {"k": Bounds(300.0, math.inf)}), {**ROWS}, grammar)
    assert not executable(Proposal(law, {"k": Bounds(-math.inf, -300.0)}), {**ROWS}, grammar)


def test_rows_without_finite_numbers_run_nothing() -> None:
    assert executable("r", {"r": [1.0, math.nan]})
    assert not executable("r", {"r": [math.nan, math.inf]})
    assert not executable("r", {"r": ["one", "two"]})
    assert not executable("r + v", {"r": [1.0], "v": [1.0, 2.0]})


def test_many_rows_are_thinned() -> None:
    assert executable("k*r", {"r": np.ones(100_000)})


def test_a_node_built_by_hand_is_checked_like_json() -> None:
    assert found(Var("z"), FREE) == [("unknown-variable", "/var")]
    assert found(Apply(OPERATORS["neg"], (Const(1.0),)), FREE) == []
