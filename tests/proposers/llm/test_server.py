"""Models behind an OpenAI-compatible server, and patience with it."""

from collections.abc import Mapping
from typing import Any

import pytest
from network import served

from alder.errors import ModelFailed
from alder.ports import Form, Message, Reply
from alder.proposers.llm.patient import Patient
from alder.proposers.llm.server import KEY, Server
from alder.testing import ScriptedModel

ASKED = [Message("system", "Propose."), Message("user", "{}")]
FORM = Form({"type": "object"}, 'root ::= "{}"', 77)
REPLY = {
    "choices": [{"message": {"content": '{"var": "x"}'}}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 5},
}


class Played:
    """A server that keeps what it was asked and answers from a list."""

    def __init__(self, *answers: tuple[int, Mapping[str, str], object], owner: str = "me") -> None:
        self.answers = list(answers)
        self.owner = owner
        self.bodies: list[Any] = []
        self.headers: list[Mapping[str, str]] = []

    def __call__(self, path: str, headers: Mapping[str, str], body: Any) -> Any:
        self.headers.append(headers)
        if path.endswith("/models"):
            return 200, {}, {"data": [{"id": "m", "owned_by": self.owner}]}
        self.bodies.append(body)
        return self.answers.pop(0)


def test_a_reply_comes_with_its_tokens() -> None:
    played = Played((200, {}, REPLY))
    with served(played) as address:
        assert Server(address, "m").reply(ASKED, FORM) == Reply('{"var": "x"}', 12, 5)
    (body,) = played.bodies
    assert body["messages"][1] == {"role": "user", "content": "{}"}
    assert body["max_tokens"] == 77
    assert body["response_format"]["json_schema"]["schema"] == FORM.schema


def test_a_llama_cpp_server_is_sent_gbnf() -> None:
    played = Played((200, {}, REPLY), owner="llamacpp")
    with served(played) as address:
        Server(address, "m").reply(ASKED, FORM)
    assert played.bodies[0]["grammar"] == FORM.gbnf
    assert "response_format" not in played.bodies[0]


@pytest.mark.parametrize("content", [None, 3, ["text"]])
def test_a_model_that_declines_gives_an_empty_reply(content: object) -> None:
    answer = {"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": True}}
    with served(Played((200, {}, answer))) as address:
        assert Server(address, "m").reply(ASKED, FORM) == Reply("", 0, 0)


@pytest.mark.parametrize(
    ("status", "content", "retry"),
    [
        (503, b"busy", True),
        (429, b"slow down", True),
        (401, b"who are you", False),
        (302, b"elsewhere", False),
        (200, b"<html>", False),
        (200, b"[" * 100_000, False),
        (200, b'{"choices": []}', False),
    ],
)
def test_anything_but_a_reply_is_a_failure(status: int, content: bytes, retry: bool) -> None:
    played = Played((status, {"Location": "http://192.0.2.1/"}, content))
    with served(played) as address, pytest.raises(ModelFailed) as failure:
        Server(address, "m").reply(ASKED, FORM)
    assert failure.value.retry is retry


def test_a_server_that_hangs_up_is_a_failure_worth_a_retry() -> None:
    # Fewer bytes come than were announced.
    headers = {"Content-Length": "9", "Connection": "close"}
    cut = served(lambda path, seen, body: (200, headers, b""))
    with cut as address, pytest.raises(ModelFailed, match="is the server running") as failure:
        Server(address, "m").reply(ASKED, FORM)
    assert failure.value.retry


def test_a_key_is_sent_to_the_server_and_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-very-secret")
    played = Played((400, {}, b"bad key sk-very-secret"))
    with served(played) as address:
        server = Server(address, "m")
        with pytest.raises(ModelFailed) as failure:
            server.reply(ASKED, FORM)
    assert played.headers[-1]["Authorization"] == "Bearer sk-very-secret"
    assert "secret" not in f"{failure.value}{failure.value.__cause__}{server}{server.name}"


def test_a_key_never_leaves_this_machine_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-very-secret")
    with pytest.raises(ModelFailed, match="use https"):
        Server("http://192.0.2.1/v1", "m").reply(ASKED, FORM)


def test_a_failed_connection_is_tried_again_after_longer_and_longer_waits() -> None:
    gone = ModelFailed("gone", retry=True)
    slept: list[float] = []
    model = ScriptedModel([gone, ModelFailed("slow", retry=True, after=30.0), gone, "p0*x"])
    assert Patient(model, sleep=slept.append).reply(ASKED, FORM).text == "p0*x"
    assert slept == [1.0, 30.0, 4.0]


def test_patience_ends() -> None:
    gone = ModelFailed("gone for good", retry=True, after=1e9)
    slept: list[float] = []
    with pytest.raises(ModelFailed, match="gone for good"):
        Patient(ScriptedModel([gone] * 9), tries=3, sleep=slept.append).reply(ASKED, FORM)
    assert slept == [60.0, 60.0]


def test_what_cannot_get_better_is_not_tried_again() -> None:
    model = ScriptedModel([ModelFailed("no such model"), "p0*x"])
    with pytest.raises(ModelFailed, match="no such model"):
        Patient(model, sleep=lambda seconds: pytest.fail("it waited")).reply(ASKED, FORM)
