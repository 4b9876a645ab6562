"""From `llm:openai:NAME` and the like to a proposer: the one place where these names are read."""

import re
from urllib.parse import urlsplit

from alder.errors import BadStudy
from alder.ports import Model, Proposer
from alder.proposers.hybrid import Hybrid
from alder.proposers.llm.hosted import PROVIDERS, hosted
from alder.proposers.llm.local import LocalModel, own_file, smollm2
from alder.proposers.llm.patient import Patient
from alder.proposers.llm.proposer import ModelProposer
from alder.proposers.llm.server import Server
from alder.proposers.search.proposer import Search
from alder.spelling import printable, suggestion

OLLAMA = "http://127.0.0.1:11434/v1"
"""Where Ollama listens unless it is told otherwise."""

_FORMS = (
    "llm:openai:NAME, llm:anthropic:NAME, llm:google:NAME, llm:ollama:NAME, llm:local, "
    "llm:local:PATH or llm:http://127.0.0.1:8080/v1:NAME"
)
_ADDRESS = re.compile(r"(https?://[^/]+/[^:]*):(.+)", re.DOTALL)


def model_proposer(wanted: str) -> Proposer:
    """Return the proposer of such a name; raise `BadStudy` with a sentence where it is none.

    `llm:anonymous:...` hides the names of columns; `hybrid:llm:...` takes turns with the search.
    """
    if wanted.startswith("hybrid:"):
        return Hybrid(model_proposer(wanted.removeprefix("hybrid:")), Search())
    kind, _, rest = wanted.partition(":")
    if kind != "llm" or not rest:
        raise BadStudy(f"`{printable(wanted)}` names no model; write {_FORMS}.")
    anonymous = rest.startswith("anonymous:")
    rest = rest.removeprefix("anonymous:")
    if rest.partition(":")[0] == "local":
        return _local(rest.partition(":")[2], anonymous=anonymous)
    return ModelProposer(Patient(_model(rest)), anonymous)


def _local(path: str, *, anonymous: bool) -> ModelProposer:
    """Return a model on this computer, asked so that brief and reply fit its context in any case.

    A token is a character or more, and the brief is estimated at two characters each. SmolLM2
    reads 150 tokens a second on one thread, so that it gets the short brief; a model of one's own
    gets the long one where the variables leave room for it.
    """
    tokens, reply, context = (2400, 3200, 8192) if path else (1000, 1000, 4096)
    model = LocalModel(own_file(path) if path else smollm2(), context)
    return ModelProposer(Patient(model), anonymous, tokens, reply, whole=True)


def _model(wanted: str) -> Model:
    if wanted.startswith(("http://", "https://")):
        return _server(wanted)
    provider, _, name = wanted.partition(":")
    if provider not in (*PROVIDERS, "ollama"):
        known = ("openai", "anthropic", "google", "ollama", "local")
        raise BadStudy(
            f"`{printable(provider)}` is no provider of models; write {_FORMS}."
            f"{suggestion(provider, known)}"
        )
    _require_name(name, f"llm:{provider}:NAME")
    return Server(OLLAMA, name) if provider == "ollama" else hosted(provider, name)


def _server(wanted: str) -> Server:
    found = _ADDRESS.fullmatch(wanted)
    if found is None:
        raise BadStudy(
            "An address is followed by a colon and the name of a model, as in "
            "llm:http://127.0.0.1:8080/v1:NAME."
        )
    address, name = found[1].rstrip("/"), found[2]
    url = urlsplit(address)
    if "@" in url.netloc or url.query or url.fragment:
        raise BadStudy(
            "The address of a server is written to the ledger, so it may hold no password and no "
            "query; put a key in ALDER_LLM_KEY."
        )
    try:
        known = bool(url.hostname) and url.port != 0
    except ValueError:
        known = False
    if not known:
        raise BadStudy(f"`{printable(address)}` is no address; http://127.0.0.1:8080/v1 is one.")
    _require_name(name, "llm:http://127.0.0.1:8080/v1:NAME")
    return Server(address, name)


def _require_name(name: str, form: str) -> None:
    if not (name.strip() and name.isprintable() and len(name) <= 200):
        raise BadStudy(f"The model has no name that can be printed; write {form}.")
