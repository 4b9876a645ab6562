"""Names of models on the command line and in study files."""

from typing import Any, cast

import pytest
from study.problems import GRAMMAR, GUESSES

from alder.errors import BadStudy
from alder.proposers.hybrid import Hybrid
from alder.proposers.llm.naming import model_proposer
from alder.proposers.llm.proposer import ModelProposer
from alder.proposers.llm.server import Server
from alder.proposers.search.proposer import Search
from alder.study.parts import as_proposer


def server_of(wanted: str) -> Server:
    proposer = model_proposer(wanted)
    assert isinstance(proposer, ModelProposer)
    return cast("Any", proposer.model).model


@pytest.mark.parametrize(
    ("wanted", "address", "model"),
    [
        ("llm:http://127.0.0.1:8080/v1:qwen", "http://127.0.0.1:8080/v1", "qwen"),
        ("llm:https://host/a/v1/:Org/name:8b", "https://host/a/v1", "Org/name:8b"),
        ("llm:ollama:llama3.1:8b", "http://127.0.0.1:11434/v1", "llama3.1:8b"),
        ("llm:anonymous:ollama:phi", "http://127.0.0.1:11434/v1", "phi"),
    ],
)
def test_a_server_is_read_from_its_name(wanted: str, address: str, model: str) -> None:
    server = server_of(wanted)
    assert (server.address, server.model) == (address, model)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("llm:", "names no model; write llm:openai:NAME"),
        ("llm", "names no model"),
        ("hybrid:search", "names no model"),
        ("llm:opnai:gpt", "is no provider of models.*Did you mean `openai`"),
        ("llm:ollama:", "write llm:ollama:NAME"),
        ("llm:http://127.0.0.1:8080", "followed by a colon and the name of a model"),
        ("llm:http://127.0.0.1:no/v1:m", "is no address"),
        ("llm:http:///v1:m", "followed by a colon"),
        ("llm:https://me:secret@host/v1:m", "may hold no password"),
        ("llm:https://host/v1?key=secret:m", "may hold no password"),
    ],
)
def test_a_name_that_cannot_be_read_gets_one_sentence(wanted: str, sentence: str) -> None:
    with pytest.raises(BadStudy, match=sentence) as error:
        model_proposer(wanted)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_hybrid_takes_turns_with_the_search() -> None:
    made = model_proposer("hybrid:llm:ollama:phi")
    assert isinstance(made, Hybrid)
    assert isinstance(made.second, Search)
    assert made.name.startswith("hybrid:llm:http://127.0.0.1:11434/v1:phi, brief 1")


def test_a_study_knows_a_model_by_its_name_and_brief() -> None:
    name, _ = as_proposer("llm:anonymous:ollama:phi", (), GRAMMAR)
    assert name == "llm:anonymous:http://127.0.0.1:11434/v1:phi, brief 1"
    after, _ = as_proposer("llm:ollama:phi", GUESSES, GRAMMAR)
    assert after.startswith("llm:http://127.0.0.1:11434/v1:phi, brief 1, from 2 guesses ")
