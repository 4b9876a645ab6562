"""Hosted models, with the clients of their providers but no provider."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest

from alder.errors import BadStudy, MissingExtra, ModelFailed
from alder.ports import Message, Reply
from alder.proposers.llm.form import make_form
from alder.proposers.llm.hosted import PROVIDERS, Hosted, hosted
from alder.records.grammar import Grammar
from alder.records.variable import Variable

pydantic_ai = pytest.importorskip("pydantic_ai")
from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior, UserError  # noqa: E402
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart  # noqa: E402
from pydantic_ai.models.function import AgentInfo, FunctionModel  # noqa: E402
from pydantic_ai.usage import RequestUsage  # noqa: E402

ASKED = [Message("system", "Propose."), Message("user", "{}")]
FORM = make_form(Grammar([Variable("x")], target=Variable("y")), ("x",), 77)


def model(answer: Callable[[list[ModelMessage], AgentInfo], ModelResponse]) -> Hosted:
    return Hosted(
        "openai:some", FunctionModel(answer, profile={"supports_json_schema_output": True})
    )


def test_a_reply_comes_with_its_tokens_and_price() -> None:
    seen: list[tuple[list[ModelMessage], AgentInfo]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append((messages, info))
        usage = RequestUsage(input_tokens=1000, output_tokens=50)
        return ModelResponse([TextPart('{"var": "x"}')], usage=usage)

    reply = model(answer).reply(ASKED, FORM)
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ('{"var": "x"}', 1000, 50)
    assert reply.money is None  # nobody knows the price of a function
    ((messages, info),) = seen
    parts: Any = messages[0].parts
    assert [part.content for part in parts] == ["Propose.", "{}"]
    assert info.model_settings is not None
    assert info.model_settings.get("max_tokens") == 77
    shape: Any = info.model_request_parameters.output_object
    assert shape.json_schema["properties"].keys() == {"rationale", "structure"}


def test_a_notebook_with_its_own_event_loop_may_ask_too() -> None:
    one = model(lambda messages, info: ModelResponse([TextPart("p0*x")]))

    async def cell() -> Reply:
        return one.reply(ASKED, FORM)

    assert asyncio.run(cell()).text == "p0*x"


@pytest.mark.parametrize(
    ("error", "retry"),
    [
        (ModelHTTPError(429, "some", headers={"retry-after": "7"}), True),
        (ModelHTTPError(401, "some", body="bad key sk-very-secret"), False),
        (UserError("no such setting"), False),
    ],
)
def test_no_reply_is_a_failure(
    error: Exception, retry: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise error

    with pytest.raises(ModelFailed) as failure:
        model(answer).reply(ASKED, FORM)
    assert failure.value.retry is retry
    assert failure.value.after == (7.0 if retry else 0.0)
    assert "secret" not in str(failure.value)


def test_a_reply_that_was_filtered_is_an_empty_reply() -> None:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise UnexpectedModelBehavior("filtered")

    assert model(answer).reply(ASKED, FORM).text == ""


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_missing_key_is_named(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in PROVIDERS[provider]:
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(BadStudy, match=PROVIDERS[provider][0]):
        hosted(provider, "some")


@pytest.mark.filterwarnings("ignore:invalid escape sequence")  # in Google's client, once compiled
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_of_each_provider_is_made_without_asking_it(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROVIDERS[provider][0], "sk-very-secret")
    made = hosted(provider, "some")
    assert made.name == f"{provider}:some"
    assert "secret" not in repr(made)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setitem(sys.modules, "pydantic_ai.models", None)
    with pytest.raises(MissingExtra, match=r"pip install 'alder\[llm\]'"):
        hosted("openai", "some")
