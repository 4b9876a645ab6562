"""The model that an agent asks through a broker of ours, which holds the key."""

import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final
from urllib.parse import urlsplit

from alder.errors import BadStudy, SandboxFailed
from alder.proposers.child import start_child, stop_child
from alder.spelling import printable, suggestion

PORT: Final = 8080
_SOCKET: Final = "model.sock"
_SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_NO_KEY: Final = "kept-outside"


@final
@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, and how its key is sent; `variable` of the environment holds it."""

    name: str
    address: str
    variable: str
    header: str = "Authorization"
    before: str = "Bearer "
    needs_key: bool = True

    def key(self) -> str:
        """Read the key; raise `BadStudy` where one is needed and not set, or would be seen."""
        key = os.environ.get(self.variable, "")
        if self.needs_key and not key:
            raise BadStudy(
                f"{self.variable} is not set; model={self.name} needs a key: "
                f"export {self.variable}=..."
            )
        url = urlsplit(self.address)
        if key and url.scheme != "https" and url.hostname not in _LOOPBACK:
            raise BadStudy(
                f"{self.variable} is set, and http would send it to {url.hostname} in the clear; "
                "use https."
            )
        return key


_PROVIDERS: Final = {
    one.name: one
    for one in (
        Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        Endpoint("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "x-api-key", ""),
    )
}


def endpoint_from_text(text: str) -> Endpoint:
    """Read `openai`, `anthropic` or the address of a server; raise `BadStudy` for others."""
    if text in _PROVIDERS:
        return _PROVIDERS[text]
    try:
        url = urlsplit(text)
        is_address = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_address = False
    if is_address and ("@" in text or "?" in text or "#" in text):
        raise BadStudy(
            "The address of a model is written to the ledger, so it may hold no password and no "
            "query; put a key in ALDER_LLM_KEY."
        )
    if not is_address or not text.isprintable():
        raise BadStudy(
            f"model={printable(text)} is no model for an agent; {', '.join(_PROVIDERS)} are, or "
            f"the address of a server, such as http://127.0.0.1:8080/v1."
            f"{suggestion(text, tuple(_PROVIDERS))}"
        )
    return Endpoint(text, text.rstrip("/"), "ALDER_LLM_KEY", needs_key=False)


def require_socat() -> None:
    """Raise `SandboxFailed` where the sandbox shows no program that leads a port to a socket."""
    if shutil.which("socat", path=_SYSTEM_PATH) is None:
        raise SandboxFailed(
            "An agent with model=... reaches it through socat, which is not installed: "
            "apt install socat (or dnf, pacman, zypper)."
        )


@final
@dataclass(slots=True)
class Brokered:
    """A broker that runs: its socket, and once it has ended, how many tokens were used."""

    socket: Path
    tokens: int = 0


@contextmanager
def brokered(
    endpoint: Endpoint, folder: Path, owner: tuple[int, int] | None, tokens: int | None
) -> Generator[Brokered]:
    """Run a broker whose socket stands in a folder, for its owner alone, until the block ends."""
    key = endpoint.key()
    asked = {
        "folder": str(folder), "name": _SOCKET, "owner": owner, "address": endpoint.address,
        "header": endpoint.header, "value": endpoint.before + key if key else "", "secret": key,
        "tokens": tokens,
    }  # fmt: skip
    try:
        process = start_child("alder.proposers.broker.serve")
    except OSError as error:
        raise SandboxFailed(f"The broker of the model cannot start: {error.strerror}.") from None
    running = Brokered(folder / _SOCKET)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
        if process.stdout.readline() != b"listening\n":
            raise SandboxFailed("The broker of the model ended before it could listen.")
        try:
            yield running
        finally:
            process.stdin.close()
            used = process.stdout.readline().strip()
            running.tokens = int(used) if used.isdigit() else 0
    finally:
        stop_child(process)


ENVIRONMENT: Final = {
    "OPENAI_BASE_URL": f"http://127.0.0.1:{PORT}/v1",
    "OPENAI_API_KEY": _NO_KEY,
    "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}",
    "ANTHROPIC_API_KEY": _NO_KEY,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
"""What tells programs in the sandbox where their model is. No key is in it."""

BEGIN: Final = f"""#!/bin/sh
# Lead a port of this sandbox to the socket of the model, tell agents about it, become the command.
socat TCP-LISTEN:{PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/run/model.sock &
n=0
until socat -u OPEN:/dev/null TCP:127.0.0.1:{PORT} 2> /dev/null; do
  n=$((n + 1))
  [ "$n" -gt 500 ] && echo 'The model cannot be reached: socat does not listen.' >&2 && exit 69
  sleep 0.02
done
mkdir -p "$HOME/.codex" "$HOME/.claude"
cat > "$HOME/.codex/config.toml" << 'END'
model_provider = "alder"
approval_policy = "never"
sandbox_mode = "danger-full-access" # a sandbox in this sandbox cannot be made, nor is it needed
[model_providers.alder]
name = "alder"
base_url = "http://127.0.0.1:{PORT}/v1"
wire_api = "responses"
END
echo '{{"permissions": {{"defaultMode": "bypassPermissions"}}}}' > "$HOME/.claude/settings.json"
exec "$@"
"""
"""Run first in a sandbox whose agent has a model: `sh /run/desk/begin codex exec -`."""
