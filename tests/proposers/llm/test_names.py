"""The names a model sees, and the way back."""

import json

from hypothesis import given
from hypothesis import strategies as st
from strategies import ODD_NAMES, TAME_NUMBERS, exprs

from alder.checking import read_proposal
from alder.expr.json import to_json
from alder.expr.nodes import Expr
from alder.expr.text import to_text
from alder.proposers.llm.names import choose_names
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.records.variable import Variable

NAMES = ("x1", "x0", "flow rate", "r")
GRAMMAR = Grammar(
    [Variable(name) for name in NAMES], target=Variable("x0 and more"), max_nodes=1000, max_depth=90
)
TREES = exprs(NAMES, ("k", "x1"), numbers=TAME_NUMBERS)


@given(TREES, st.booleans(), st.booleans())
def test_a_law_written_in_shown_names_is_read_in_true_ones(
    tree: Expr, hidden: bool, as_text: bool
) -> None:
    names = choose_names(GRAMMAR, hidden=hidden)
    shown = names.rename(tree)
    reply = to_text(shown, names.shown_variables) if as_text else json.dumps(to_json(shown))
    read = read_proposal(names.read(reply), GRAMMAR)
    assert read == Proposal(tree)


@given(st.lists(st.sampled_from([*ODD_NAMES, "x0", "x1", "y", "r"]), unique=True, min_size=1))
def test_no_two_columns_share_a_shown_name(columns: list[str]) -> None:
    grammar = Grammar([Variable(name) for name in columns], target=Variable("the target"))
    for hidden in (False, True):
        shown = choose_names(grammar, hidden=hidden).shown
        assert len(set(shown.values())) == len(columns) + 1
        assert all(name.isidentifier() and name.isascii() for name in shown.values())


def test_plain_names_are_shown_as_they_are_unless_hidden() -> None:
    assert choose_names(GRAMMAR).shown["r"] == "r"
    assert choose_names(GRAMMAR, hidden=True).shown["r"] == "x3"


@given(st.text())
def test_any_reply_is_read_without_an_error(text: str) -> None:
    assert isinstance(choose_names(GRAMMAR, hidden=True).read(text), str)


def test_a_reply_that_cannot_be_read_stays_as_it_is() -> None:
    names = choose_names(GRAMMAR, hidden=True)
    for text in ("", "{", '{"var": "x0", "var": "x1"}', "[" * 1000, "I propose x0."):
        assert names.read(text) == text


def test_the_fence_around_a_reply_is_taken_off() -> None:
    assert choose_names(GRAMMAR).read('```json\n{"var": "r"}\n```\n') == '{"var": "r"}'
