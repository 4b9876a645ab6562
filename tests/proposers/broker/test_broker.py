"""An agent reaches its model through a broker: the key stays outside, and tokens are counted."""

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest
from network import served
from proposers.evidence import evidence
from sandboxes import PYTHON, needs_bubblewrap, needs_python_inside, processes_with
from study.problems import GUESSES, run

from alder.errors import BadStudy, SandboxFailed
from alder.ledger.store import read_events
from alder.proposers.agent import Agent, agent_from_text
from alder.proposers.broker.endpoint import Endpoint, brokered, endpoint_from_text
from alder.proposers.launch import Allowance
from alder.records.budget import Budget

KEY = "sk-nobody-inside-may-see-this"
SOURCE = str(Path(__file__).parents[3] / "src")
LAW = "a*x + b*v^2"

needs_socat = pytest.mark.skipif(
    shutil.which("socat") is None, reason="an agent reaches its model through socat"
)


def in_sandbox(test: Any) -> Any:
    """Skip a test where it cannot run, and say why."""
    return needs_bubblewrap(needs_socat(needs_python_inside(test)))


# Asks its model as any client would, at the address that the environment names.
ASK = """
import json, os, sys, urllib.request, urllib.error
def ask(path, body, method="POST"):
    sent = None if body is None else json.dumps(body).encode()
    address = os.environ["OPENAI_BASE_URL"] + path
    request = urllib.request.Request(address, sent, {"Authorization": "Bearer mine"}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
"""


@final
@dataclass
class Provider:
    """Stands in for a provider: answers with one law, and keeps what it was asked."""

    status: int = 200
    text: str = LAW
    asked: list[tuple[str, Mapping[str, str], Any]] = field(
        default_factory=list[tuple[str, Mapping[str, str], Any]]
    )

    def __call__(
        self, path: str, headers: Mapping[str, str], body: Any
    ) -> tuple[int, Mapping[str, str], object]:
        self.asked.append((path, headers, body))
        answer = {"text": self.text, "usage": {"input_tokens": 100, "output_tokens": 20}}
        return self.status, {"Content-Type": "application/json"}, answer


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDER_LLM_KEY", KEY)


def agent(address: str, code: str) -> Agent:
    return Agent(
        (PYTHON, "-I", "-c", ASK + code),
        Allowance(seconds=60.0),
        model=endpoint_from_text(address),
    )


def written(address: str, code: str) -> Any:
    """Run code in the sandbox that leaves JSON in the place of a proposal; return it."""
    found = agent(address, code).propose(evidence(), np.random.default_rng(0))
    assert found is not None
    assert isinstance(found.source, bytes), found
    return json.loads(found.source)


@in_sandbox
def test_an_agent_asks_its_model_and_the_tokens_are_charged(tmp_path: Path) -> None:
    provider, ledger = Provider(), tmp_path / "run.alder"
    code = (
        "status, text = ask('/responses', {'input': 'a law', 'tools': [{'type': 'web_search'}]})\n"
        "open('proposal.json', 'w').write(json.loads(text)['text'])"
    )
    with served(provider) as address:
        outcome = run(proposer=agent(address, code), guesses=(), ledger=ledger)
    direct = run(proposer="guesses", guesses=GUESSES[1:])
    assert outcome.law is not None
    assert direct.law is not None
    assert outcome.law.structure == direct.law.structure
    assert outcome.spent.tokens == 120 * outcome.spent.proposals
    path, headers, body = provider.asked[0]
    assert path == "/v1/responses"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {"input": "a law", "tools": []}
    content = [json.dumps(dict(event.content), default=str) for event in read_events(ledger)]
    assert not [text for text in content if KEY in text]


@in_sandbox
def test_the_key_is_nowhere_in_the_sandbox() -> None:
    # Also where the provider itself repeats it, as some do when they refuse a key.
    provider = Provider(status=401, text=f"bad key {KEY}")
    code = """
found = [ask("/responses", {}), ask("/models", None, "GET"), dict(os.environ)]
for place in ("/proc", "/tmp", "/case"):  # not /run, whose pipes would be waited for
    for folder, _, names in os.walk(place):
        for name in names:
            if name in ("environ", "cmdline") or not folder.startswith("/proc"):
                try: found.append(open(os.path.join(folder, name), "rb").read(9999).decode("latin"))
                except OSError: pass
json.dump(found, open("proposal.json", "w"))
"""
    with served(provider) as address:
        found = written(address, code)
    assert found[0][0] == 401
    assert "(key)" in found[0][1]
    assert KEY in provider.asked[0][1]["Authorization"]
    assert KEY not in json.dumps(found)


@in_sandbox
def test_what_is_no_question_never_leaves() -> None:
    provider = Provider()
    code = """
asked = [
    ask("/files", {"purpose": "x"}), ask("/responses", {"image_url": "https://192.0.2.1/rows"}),
    ask("/responses", None, "DELETE"), ask("/responses", None), ask("/responses", [1]),
]
json.dump([status for status, _ in asked], open("proposal.json", "w"))
"""
    with served(provider) as address:
        assert written(address, code) == [403, 403, 501, 400, 403]
    assert provider.asked == []


@in_sandbox
def test_an_agent_asks_no_more_than_the_tokens_of_the_study() -> None:
    code = """
asked = [ask("/responses", {})[0] for _ in range(4)]
json.dump(asked, open("proposal.json", "w"))
"""
    with served(Provider()) as address:
        outcome = run(
            proposer=agent(address, code),
            guesses=(),
            budget=Budget(proposals=9, queries=0, tokens=200),
        )
    assert outcome.spent.proposals == 1
    assert outcome.spent.tokens == 240


@in_sandbox
def test_a_budget_of_money_cannot_be_kept() -> None:
    with pytest.raises(BadStudy, match="budget of tokens instead"):
        run(
            proposer=agent("http://127.0.0.1:9/v1", ""),
            guesses=(),
            budget=Budget(money=1.0),
        )


@in_sandbox
def test_a_model_that_is_not_there_is_told_to_the_agent() -> None:
    with served(Provider()) as address:
        pass
    status, text = written(address, "json.dump(ask('/responses', {}), open('proposal.json', 'w'))")
    assert status == 502
    assert "did not answer" in text


def test_a_broker_ends_with_its_block_and_lets_only_its_owner_in(tmp_path: Path) -> None:
    endpoint = endpoint_from_text("http://127.0.0.1:9/v1")
    with brokered(endpoint, tmp_path, None, None) as running:
        assert running.socket.stat().st_mode & 0o777 == 0o600
        at_work = processes_with("alder.proposers.broker.serve")
        assert at_work
        for pid in at_work:
            shown = Path(f"/proc/{pid}/cmdline").read_bytes()
            assert KEY.encode() not in shown + Path(f"/proc/{pid}/environ").read_bytes()
    assert not set(processes_with("alder.proposers.broker.serve")) & set(at_work)


HARNESS = """
import sys
from pathlib import Path
from alder.proposers.broker.endpoint import brokered, endpoint_from_text
with brokered(endpoint_from_text("http://127.0.0.1:9/v1"), Path(sys.argv[1]), None, None):
    print("up", flush=True)
    sys.stdin.read()
"""


def test_a_broker_ends_with_the_harness_that_is_killed(tmp_path: Path) -> None:
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    assert harness.stdout is not None
    assert harness.stdout.readline() == b"up\n"
    children = Path(f"/proc/{harness.pid}/task/{harness.pid}/children").read_text().split()
    (broker,) = (os.pidfd_open(int(pid)) for pid in children)
    harness.kill()
    harness.communicate()
    assert select.select([broker], [], [], 20.0)[0], "it outlived its harness"
    os.close(broker)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("agent:model=opnai true", "Did you mean `openai`"),
        ("agent:model=ftp://x/v1 true", "no model for an agent"),
        ("agent:model=https://me:secret@x/v1 true", "no password and no query"),
        ("agent:model=openai true", "export OPENAI_API_KEY"),
        ("agent:model=anthropic true", "export ANTHROPIC_API_KEY"),
        ("agent:model=http://192.0.2.1/v1 true", "in the clear; use https"),
    ],
)
@needs_bubblewrap
@needs_socat
def test_a_model_that_cannot_be_asked_is_refused_before_the_study(
    text: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadStudy, match=sentence):
        agent_from_text(text)


@needs_bubblewrap
def test_without_socat_a_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from alder.proposers.broker import endpoint

    monkeypatch.setattr(endpoint, "_SYSTEM_PATH", "/nowhere")
    with pytest.raises(SandboxFailed, match="apt install socat"):
        agent_from_text("agent:model=http://127.0.0.1:9/v1 true")


def test_a_key_is_in_no_description_of_an_endpoint() -> None:
    endpoint = Endpoint("mine", "https://192.0.2.1/v1", "ALDER_LLM_KEY")
    assert endpoint.key() == KEY
    assert KEY not in repr(endpoint)
