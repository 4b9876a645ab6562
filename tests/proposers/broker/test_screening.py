"""What an agent may ask of a model through the broker, and what it may not."""

from typing import Any

import pytest

from alder.proposers.broker.screening import Refused, place_of, screened
from alder.proposers.broker.tally import Tally

IMAGE = "data:image/png;base64,AAAA"


@pytest.mark.parametrize(
    "kind",
    ["web_search", "web_search_20250305", "web_fetch_20250910", "code_execution_20250522", "mcp",
     "file_search", "code_interpreter", "image_generation", "computer_use_preview", "shell"],
)  # fmt: skip
def test_tools_that_are_run_elsewhere_are_taken_away(kind: str) -> None:
    own = [{"type": "function", "name": "sh"}, {"name": "Bash"}, {"type": "bash_20250124"}]
    nested = {"type": "namespace", "name": "more", "tools": [{"type": kind}, own[0]]}
    found = screened({"tools": [*own, {"type": kind, "name": "x"}, nested]})
    assert found["tools"] == [*own, {**nested, "tools": [own[0]]}]


@pytest.mark.parametrize(
    "request_",
    [
        {"input": [{"content": [{"type": "input_image", "image_url": "https://192.0.2.1/x"}]}]},
        {"messages": [{"content": [{"image_url": {"url": "http://192.0.2.1/?rows=1"}}]}]},
        {"messages": [{"content": [{"source": {"type": "url", "url": "https://192.0.2.1"}}]}]},
        {"input": [{"content": [{"type": "input_file", "file_id": "file-1"}]}]},
        {"mcp_servers": [{"name": "out"}]},
        {"previous_response_id": "resp_1"},
        {"tools": "web_search"},
        {"tools": ["web_search"]},
    ],
)
def test_what_would_be_fetched_or_lies_with_the_provider_is_refused(request_: Any) -> None:
    with pytest.raises(Refused):
        screened(request_)


def test_a_conversation_of_an_agent_passes_as_it_is() -> None:
    asked: dict[str, Any] = {
        "model": "m",
        "stream": True,
        "previous_response_id": None,
        "input": [{"role": "user", "content": [{"type": "input_image", "image_url": IMAGE}]}],
        "messages": [
            # What a tool was called with is a record, and a schema names its arguments as it likes.
            {"content": [{"type": "tool_use", "name": "Fetch", "input": {"url": "https://x"}}]}
        ],
        "tools": [{"name": "Fetch", "input_schema": {"properties": {"url": {"type": "string"}}}}],
    }
    assert screened(asked) == asked


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/files"),
        ("POST", "/v1/files"),
        ("DELETE", "/v1/responses"),
        ("GET", "/v1/responses"),
        ("POST", "/v1/responses/../files"),
        ("POST", "/v1/responses?x=1"),
        ("POST", "http://192.0.2.1/v1/responses"),
        ("POST", "/responses"),
        ("GET", "/v1/organization/usage"),
    ],
)
def test_other_places_than_questions_are_refused(method: str, target: str) -> None:
    with pytest.raises(Refused):
        place_of(method, target)


def test_questions_are_passed_on() -> None:
    assert place_of("POST", "/v1/responses") == "/responses"
    assert place_of("POST", "/v1/messages?beta=true") == "/messages?beta=true"


@pytest.mark.parametrize(
    ("events", "parts", "tokens"),
    [
        (False, [b'{"usage": {"prompt_tokens"', b': 9, "completion_tokens": 3}}'], 12),
        (False, [b'{\n "usage": {\n "input_tokens": 9,\n "output_tokens": 3}\n}'], 12),
        (
            True,
            [
                b'event: message_start\ndata: {"message": {"usage": {"input_tokens": 7,',
                b' "cache_read_input_tokens": 5, "output_tokens": 1}}}\n\n',
                b'data: {"usage": {"output_tokens": 30}}\n\ndata: [DONE]\n\n',
            ],
            42,
        ),
        (True, [b'data: {"response": {"usage": {"input_tokens": 4, "output_tokens": 2}}}'], 6),
        (True, [b"data: " + b"[" * 100_000 + b"\n", b'data: {"usage": 3}\n'], 0),
        (False, [b"<html>"], 0),
    ],
)
def test_tokens_are_counted_while_an_answer_passes(
    events: bool, parts: list[bytes], tokens: int
) -> None:
    tally = Tally(events)
    for part in parts:
        tally.take(part)
    tally.end()
    assert tally.tokens == tokens
