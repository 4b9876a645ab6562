"""The form of a reply: what it lets through is a law of the grammar, up to size and units."""

import json
import random
import re
from typing import Any, cast

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TAME_NUMBERS, exprs

from alder.checking import read_proposal
from alder.expr.json import to_json
from alder.expr.nodes import Expr, depth
from alder.expr.operators import OPERATORS
from alder.proposers.llm.form import LEVELS, PARAMETERS, make_form, make_whole_form
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.records.variable import Variable

NAMES = ("x", "r")
GRAMMAR = Grammar([Variable(name) for name in NAMES], target=Variable("y"), max_nodes=10_000)
FORM = make_form(GRAMMAR, NAMES, 100)
VALIDATOR = jsonschema.Draft202012Validator(FORM.schema)
TREES = exprs(NAMES, PARAMETERS[:3], numbers=TAME_NUMBERS, max_leaves=5)

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+,\d+\}|[\w]+|[()|?]',
)


def _valid(tree: Any) -> bool:
    return VALIDATOR.is_valid({"rationale": "", "structure": tree})


class Gbnf:
    """Derives random texts from the few things of GBNF that we write."""

    def __init__(self, text: str, rng: random.Random) -> None:
        rules = (line.split(" ::= ", 1) for line in text.splitlines())
        self.rules = {name: _TOKEN.findall(body) for name, body in rules}
        self.rng = rng

    def derive(self, name: str = "root") -> str:
        return self.any_of(self.rules[name])

    def any_of(self, tokens: list[str]) -> str:
        """Choose one alternative, the first half of the time: trees stay small."""
        found: list[list[str]] = [[]]
        level = 0
        for token in tokens:
            level += {"(": 1, ")": -1}.get(token, 0)
            if token == "|" and level == 0:
                found.append([])
            else:
                found[-1].append(token)
        chosen = found[0] if self.rng.random() < 0.5 else self.rng.choice(found)
        text = ""
        while chosen:
            piece, chosen = self.repeated(chosen)
            text += piece
        return text

    def longest(self, name: str = "root") -> int:
        """Return how long the longest text of a rule is, which no choice of ours can exceed."""
        return self.longest_of(self.rules[name])

    def longest_of(self, tokens: list[str]) -> int:
        lengths, level, inner = [0], 0, list[str]()
        for i, token in enumerate(tokens):
            level += {"(": 1, ")": -1}.get(token, 0)
            if token == "|" and level == 0:
                lengths.append(0)
            elif level or token == ")":
                inner.append(token)
            elif token != "?" and not token.startswith("{"):
                n = int(tokens[i + 1].split(",")[1][:-1]) if _is_count(tokens, i + 1) else 1
                lengths[-1] += n * self.longest_item(token)
            if token == ")" and level == 0:
                lengths[-1] += self.longest_of(inner[1:-1])
                n_more = (
                    int(tokens[i + 1].split(",")[1][:-1]) - 1 if _is_count(tokens, i + 1) else 0
                )
                lengths[-1] += n_more * self.longest_of(inner[1:-1])
                inner = []
        return max(lengths)

    def longest_item(self, token: str) -> int:
        if token.startswith('"'):
            return len(token[1:-1].replace('\\"', '"'))
        return 1 if token.startswith("[") else self.longest(token)

    def repeated(self, tokens: list[str]) -> tuple[str, list[str]]:
        text, rest = self.item(tokens)
        if rest and rest[0] == "?":
            return self.rng.choice(["", text]), rest[1:]
        if rest and rest[0].startswith("{"):
            low, high = map(int, rest[0][1:-1].split(","))
            n = self.rng.randint(low, min(high, 4))
            return "".join(self.item(tokens)[0] for _ in range(n)), rest[1:]
        return text, rest

    def item(self, tokens: list[str]) -> tuple[str, list[str]]:
        first, rest = tokens[0], tokens[1:]
        if first == "(":
            end = rest.index(")")  # we write no brackets inside brackets
            return self.any_of(rest[:end]), rest[end + 1 :]
        if first.startswith('"'):
            return first[1:-1].replace('\\"', '"'), rest
        if first.startswith("[^"):
            return self.rng.choice("a [{}]."), rest
        if first.startswith("["):
            low, high = first[1], first[3]
            return chr(self.rng.randint(ord(low), ord(high))), rest
        return self.derive(first), rest


def _is_count(tokens: list[str], i: int) -> bool:
    return i < len(tokens) and tokens[i].startswith("{")


# A validator that tries every branch takes time exponential in the depth, which decoders do not.
@settings(max_examples=25)
@given(TREES)
def test_the_schema_takes_every_tree_up_to_its_depth_and_no_deeper_one(tree: Expr) -> None:
    assert _valid(to_json(tree)) == (depth(tree) <= LEVELS)


@pytest.mark.parametrize(
    "tree",
    [
        {"var": "y"},
        {"param": "k"},
        {"const": "1"},
        {"op": "add", "args": [{"var": "x"}]},
        {"op": "neg", "args": [{"var": "x"}, {"var": "x"}]},
        {"op": "import", "args": [{"var": "x"}]},
        {"var": "x", "param": "p0"},
        {},
    ],
)
def test_the_schema_takes_nothing_else(tree: object) -> None:
    assert not _valid(tree)


def _references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [one for item in cast("list[Any]", value) for one in _references(item)]
    if not isinstance(value, dict):
        return []
    fields = cast("dict[str, Any]", value)
    own = [str(fields["$ref"])] if "$ref" in fields else []
    return own + [one for item in fields.values() for one in _references(item)]


def test_the_schema_is_not_recursive() -> None:
    definitions: Any = FORM.schema["$defs"]
    for level in range(1, LEVELS + 1):
        below = {f"#/$defs/level{level - 1}"} if level > 1 else set[str]()
        assert set(_references(definitions[f"level{level}"])) == below


@settings(max_examples=50)
@given(st.integers(0, 10**9), st.sets(st.sampled_from(sorted(OPERATORS)), min_size=1))
def test_what_the_gbnf_derives_is_a_law_of_the_grammar(seed: int, operators: set[str]) -> None:
    grammar = Grammar(
        GRAMMAR.variables, GRAMMAR.target, operators=sorted(operators), max_nodes=10_000
    )
    form = make_form(grammar, NAMES, 100)
    text = Gbnf(form.gbnf, random.Random(seed)).derive()
    assert isinstance(read_proposal(text, grammar), Proposal), text
    assert list(json.loads(text)) == ["rationale", "structure"]


def test_a_grammar_without_depth_or_variables_has_a_form() -> None:
    grammar = Grammar([], target=Variable("y"), max_depth=1)
    form = make_form(grammar, (), 100)
    text = Gbnf(form.gbnf, random.Random(0)).derive()
    assert isinstance(read_proposal(text, grammar), Proposal)


def test_a_grammar_without_operators_has_a_whole_form() -> None:
    grammar = Grammar([], target=Variable("y"), operators=())
    text = Gbnf(make_whole_form(grammar, (), 1000).gbnf, random.Random(0)).derive()
    assert isinstance(read_proposal(text, grammar), Proposal)


@settings(max_examples=50)
@given(
    st.sets(st.sampled_from(sorted(OPERATORS)), min_size=1),
    st.integers(200, 5000),
    st.integers(0, 10**9),
)
def test_no_reply_of_a_whole_form_is_cut_off(operators: set[str], at_most: int, seed: int) -> None:
    grammar = Grammar(
        GRAMMAR.variables, GRAMMAR.target, operators=sorted(operators), max_nodes=10_000
    )
    form = make_whole_form(grammar, NAMES, at_most)
    gbnf = Gbnf(form.gbnf, random.Random(seed))
    text = gbnf.derive()
    assert isinstance(read_proposal(text, grammar), Proposal), text
    assert text.isascii()
    # The token that ends a reply takes room too.
    assert len(text) <= gbnf.longest() < at_most


def test_a_whole_form_is_as_deep_as_its_tokens_allow() -> None:
    depths = [
        len(cast("Any", make_whole_form(GRAMMAR, NAMES, n).schema["$defs"]))
        for n in (1, 300, 1000, 3200, 10**6)
    ]
    assert depths == sorted(depths)
    assert (depths[0], depths[2], depths[-1]) == (1, 4, LEVELS)
