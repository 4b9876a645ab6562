"""Models that stand in for others."""

from pathlib import Path

import pytest

from alder.errors import BadStudy, ModelFailed
from alder.ports import Form, Message, Reply
from alder.testing import RecordedModel, ScriptedModel

ASKED = [Message("user", "{}")]
FORM = Form({"type": "object"}, "", 10)


def test_a_recorded_reply_is_repeated_without_the_model(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    reply = Reply("p0*x", 3, 4, 0.5)
    model = ScriptedModel([reply])
    assert RecordedModel(path, model).reply(ASKED, FORM) == reply
    assert RecordedModel(path, model).reply(ASKED, FORM) == reply
    assert RecordedModel(path).reply(ASKED, FORM) == reply
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("messages", "form"),
    [([Message("user", "[]")], FORM), (ASKED, Form({}, "", 10)), (ASKED, Form(FORM.schema, "", 9))],
)
def test_what_was_not_recorded_is_an_error(
    messages: list[Message], form: Form, tmp_path: Path
) -> None:
    path = tmp_path / "replies.jsonl"
    RecordedModel(path, ScriptedModel(["p0*x"])).reply(ASKED, FORM)
    with pytest.raises(ModelFailed, match=r"replies\.jsonl holds no reply"):
        RecordedModel(path).reply(messages, form)


def test_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    RecordedModel(path, ScriptedModel([Reply("?", money=None)])).reply(ASKED, FORM)
    assert RecordedModel(path).reply(ASKED, FORM).money is None


@pytest.mark.parametrize("line", ["{", "[]", '{"digest": 3, "text": ""}'])
def test_a_line_that_is_no_reply_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(BadStudy, match=r"Line 2 of replies\.jsonl"):
        RecordedModel(path).reply(ASKED, FORM)


def test_a_script_ends() -> None:
    with pytest.raises(ModelFailed, match="has 0 replies"):
        ScriptedModel([]).reply(ASKED, FORM)
