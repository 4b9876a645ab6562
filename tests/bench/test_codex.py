"""The real Codex command line in the sandbox, with a script in the place of its model."""

import json
import shutil

import numpy as np
import pytest
from network import loopback
from proposers.evidence import evidence
from sandboxes import needs_bubblewrap

from alder.bench.backbones.codex import answer, scripted_codex

needs_codex = pytest.mark.skipif(
    shutil.which("codex") is None or shutil.which("socat") is None,
    reason="Codex is not installed: npm install -g @openai/codex, apt install socat",
)


@needs_bubblewrap
@needs_codex
def test_codex_reads_its_case_tries_and_proposes() -> None:
    script = "grep -q 'Propose a law' INSTRUCTIONS.md && ./try 'a*x' && echo 'a*x' > proposal.json"
    with loopback():
        found = scripted_codex(script).propose(evidence(), np.random.default_rng(0))
    assert found is not None
    assert found.source == b"a*x\n", found
    assert found.fits == 1


@pytest.mark.parametrize("shell", ["exec_command", "shell_command", "shell"])
def test_the_script_is_a_call_of_the_shell_and_then_a_last_word(shell: str) -> None:
    asked: dict[str, object] = {"tools": [{"name": "other"}, {"name": shell}], "input": []}
    kinds: list[str] = []
    for done in ([], [{"type": "function_call_output"}]):
        lines = answer({**asked, "input": done}, "true").decode().splitlines()
        events = [json.loads(line.removeprefix("data: ")) for line in lines if "data: " in line]
        item = events[1]["item"]
        kinds.append(item["type"])
        assert item["type"] == "message" or item["name"] == shell
    assert kinds == ["function_call", "message"]
