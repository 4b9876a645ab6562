"""The real Codex command line, driven by a script in the place of its model.

It measures the harness: the program itself runs in the sandbox, asks through the broker, calls its
own tools, and writes the proposal; only what the model says is written beforehand.
"""

import json
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final, cast, final

import numpy as np

from alder.errors import BadStudy
from alder.ports import Submission
from alder.proposers.agent import Agent
from alder.proposers.broker.endpoint import Endpoint
from alder.proposers.launch import Allowance
from alder.records.evidence import Evidence

_SECONDS: Final = 300.0
# A scripted model counts as none: it reads and writes no tokens.
_USAGE: Final = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}


@final
@dataclass(frozen=True, slots=True)
class ScriptedCodex:
    """Runs `codex exec` in the sandbox; its model answers with one command for its shell."""

    program: Path
    script: str

    @property
    def name(self) -> str:
        """The program and what drives it."""
        return "agent:codex exec, scripted"

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Run one round, with a model on loopback that lives as long."""
        with _scripted_model(self.script) as address:
            model = Endpoint("scripted", address, "ALDER_SCRIPTED_KEY", needs_key=False)
            command = (str(self.program), "exec", "-m", "scripted", "-")
            reads = () if self.program.is_relative_to("/usr") else (_home_of(self.program),)
            agent = Agent(command, Allowance(seconds=_SECONDS), reads=reads, model=model)
            return agent.propose(evidence, rng)


def scripted_codex(script: str) -> ScriptedCodex:
    """Return the proposer; raise `BadStudy` where Codex is not installed."""
    found = shutil.which("codex")
    if found is None:
        raise BadStudy("no program `codex` is on PATH.")
    made = ScriptedCodex(Path(found).resolve(), script)
    Agent(("sh",))  # says where bubblewrap is missing, before anything is measured
    return made


def answer(request: Mapping[str, Any], script: str) -> bytes:
    """Return the events of one answer: the script as a call of the shell, and then a last word."""
    items = cast("Sequence[object]", request.get("input") or ())
    kinds = [cast("Mapping[str, Any]", one).get("type") for one in items if isinstance(one, dict)]
    item: Mapping[str, object]
    if "function_call_output" in kinds:
        text = {"type": "output_text", "text": "The proposal is written."}
        item = {"type": "message", "role": "assistant", "id": "m1", "content": [text]}
    else:
        name, arguments = _shell(request, script)
        words = json.dumps(arguments)
        item = {"type": "function_call", "call_id": "c1", "name": name, "arguments": words}
    events: tuple[Mapping[str, object], ...] = (
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "r1", "usage": _USAGE}},
    )
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def _shell(request: Mapping[str, Any], script: str) -> tuple[str, Mapping[str, object]]:
    """Return the name and the arguments of the shell of this version of Codex."""
    tools = cast("Sequence[Mapping[str, object]]", request.get("tools") or ())
    names = {tool.get("name") for tool in tools}
    known: Mapping[str, Mapping[str, object]] = {
        "exec_command": {"cmd": script},
        "shell_command": {"command": script},
        "shell": {"command": ["sh", "-c", script]},
    }
    return next(((n, known[n]) for n in known if n in names), ("shell", known["shell"]))


def _home_of(program: Path) -> Path:
    """Return the folder that holds all of a program: of one by npm, that of all packages."""
    parts = program.parts
    if "node_modules" in parts:
        return Path(*parts[: parts.index("node_modules") + 1])
    return program.parent


@contextmanager
def _scripted_model(script: str) -> Generator[str]:
    """Serve the script on loopback as a model would be; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            text = answer(json.loads(self.rfile.read(length)), script)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
