"""The brief: public, deterministic, within its tokens, and one document whatever the data say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proposers.evidence import evidence
from proposers.told import PLANTED, told
from study.problems import rows

from alder.errors import BadStudy
from alder.expr.text import parse
from alder.proposers.brief import VERSION, estimate_tokens, write_brief
from alder.proposers.llm.instructions import PROBLEMS, VERDICTS
from alder.proposers.llm.names import choose_names
from alder.proposers.llm.tables import spread
from alder.records.evidence import Evidence
from alder.records.experiment import Trajectory
from alder.records.problem import ProblemCode
from alder.records.roles import Roles
from alder.records.verdict import Category

SHORT = 1200
"""Tokens in which only the short brief fits."""


def document(seen: Evidence, *, hidden: bool = False, tokens: int = 6000) -> Any:
    names = choose_names(seen.grammar, hidden=hidden)
    return json.loads(write_brief(seen, names, tokens=tokens)[1].text)


def skeleton(value: Any) -> Any:
    """Return the structure of a document: its keys, and the kinds of what stands there."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: skeleton(one) for key, one in fields.items()}
    if isinstance(value, list):
        return [skeleton(one) for one in cast("list[Any]", value)]
    return type(value).__name__


def test_every_word_of_a_brief_is_that_of_its_version() -> None:
    seen = told()
    messages = [
        message
        for tokens in (6000, SHORT)
        for message in write_brief(seen, choose_names(seen.grammar), tokens=tokens)
    ]
    written = "\n".join(message.text for message in messages) + "\n"
    kept = Path(__file__).with_name(f"brief-{VERSION}.txt")
    assert kept.exists(), (
        f"write the briefs of version {VERSION} to {kept.name}, and keep the others"
    )
    assert written == kept.read_text("utf-8"), "a word has changed: raise VERSION"


@settings(max_examples=15)
@given(st.text(min_size=1, max_size=300), st.booleans(), st.sampled_from([SHORT, 6000]))
def test_the_structure_of_a_brief_does_not_depend_on_texts_in_the_data(
    text: str, hidden: bool, tokens: int
) -> None:
    planted = told(x=f"a {text}", meaning=text, target=f"b {text}", why=text)
    briefs = [document(seen, hidden=hidden, tokens=tokens) for seen in (planted, told())]
    assert skeleton(briefs[0]) == skeleton(briefs[1])


@pytest.mark.parametrize("tokens", [SHORT, 6000])
def test_instructions_planted_in_data_stand_quoted_and_shortened_where_texts_stand(
    tokens: int,
) -> None:
    seen = told(x=PLANTED, meaning=PLANTED * 5, target=PLANTED + "y", why=PLANTED)
    system, user = write_brief(seen, choose_names(seen.grammar), tokens=tokens)
    assert system == write_brief(told(), choose_names(told().grammar), tokens=tokens)[0]
    assert user.text.isascii()
    assert "\n" not in user.text
    assert len(document(seen, tokens=tokens)["variables"][0]["meaning"]) < 200
    assert document(seen, tokens=tokens)["variables"][0]["name"] == "x0"


def test_a_short_brief_tells_what_became_of_the_last_attempts() -> None:
    shown = document(told(), tokens=SHORT)
    assert [one["verdict"] for one in shown["attempts"]] == ["inaccurate", "unknown-variable"]
    assert shown["attempts"][0]["law"] == "a*v"
    assert 1 <= len(shown["rows"]["values"]) <= 6


def test_an_anonymous_brief_holds_no_name_and_no_meaning() -> None:
    seen = told(x="pressure", meaning="of the boiler", target="leak", why="the boiler burst")
    text = write_brief(seen, choose_names(seen.grammar, hidden=True))[1].text
    assert not [word for word in ("pressure", "boiler", "leak") if word in text]
    assert "pressure" in write_brief(seen, choose_names(seen.grammar))[1].text


def test_a_brief_is_a_function_of_the_evidence() -> None:
    names = choose_names(told().grammar)
    assert write_brief(told(), names) == write_brief(told(), names)


@pytest.mark.parametrize("tokens", [700, 1000, 2500, 3000, 6000, 20_000])
def test_a_brief_keeps_to_its_tokens(tokens: int) -> None:
    seen = evidence([parse("a*x + b*v", ("x", "v"))] * 12, table=rows(200, seed=1))
    messages = write_brief(seen, choose_names(seen.grammar), tokens=tokens)
    assert sum(estimate_tokens(one.text) for one in messages) <= tokens


def test_more_tokens_show_more_rows() -> None:
    seen = evidence([parse("a*x + b*v", ("x", "v"))], table=rows(200, seed=1))
    few, many = (document(seen, tokens=tokens)["rows"]["values"] for tokens in (2400, 6000))
    assert len(few) < len(many) <= 48


def test_a_brief_that_cannot_fit_is_misuse() -> None:
    with pytest.raises(BadStudy, match="Allow more"):
        write_brief(told(), choose_names(told().grammar), tokens=400)


def test_problems_misfits_verdicts_and_failures_are_told() -> None:
    shown = document(told())
    first, second = shown["attempts"]
    assert first["verdict"] == "inaccurate"
    assert first["misfits"][0] == {
        "along": "x",
        "strength": 7.0,
        "where": "where x < 1 rows lie above the law",
    }
    assert second["problems"][0]["code"] == "unknown-variable"
    assert second["problems"][0]["why"] == "`x` is not a variable."
    assert shown["experiments"]["last"][0]["failed_because"] == "stuck"


def test_the_best_law_is_told_however_long_ago_it_was() -> None:
    right = parse("a*x + b*v^2", ("x", "v"))
    seen = evidence([right, *[parse("a*v", ("v",))] * 20], table=rows(60, seed=1))
    assert document(seen, tokens=3000)["attempts"][0]["number"] == 1


def test_rows_carry_what_the_best_law_leaves() -> None:
    seen = evidence([parse("a*x + b*v^2", ("x", "v"))])
    table = document(seen)["rows"]
    assert table["columns"] == ["x", "v", "y", "residual"]
    assert max(abs(row[3]) for row in table["values"]) < 0.3


def test_rows_of_one_observation_are_shown_together() -> None:
    table = rows(200, seed=1)
    number = np.repeat(np.arange(50.0), 4)
    seen = replace(evidence(), roles=Roles(sums="o"), initial=Trajectory({**table, "o": number}))
    shown = document(seen)["rows"]
    observations = [row[0] for row in shown["values"]]
    assert shown["columns"][0] == "observation"
    assert all(observations.count(one) == 4 for one in observations)


@given(st.integers(0, 2**32 - 1))
def test_a_spread_sample_holds_the_corners(seed: int) -> None:
    points = np.random.default_rng(seed).uniform(0.2, 0.8, (100, 2))
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    chosen = spread(np.concatenate([points, corners]), 12)
    assert {100, 101, 102, 103} <= set(chosen.tolist())
    assert len(set(chosen.tolist())) == 12


def test_every_verdict_and_problem_has_its_words() -> None:
    assert set(VERDICTS) == set(get_args(Category))
    assert set(PROBLEMS) == set(get_args(ProblemCode))
