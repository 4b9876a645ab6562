"""A model behind an OpenAI-compatible server: llama.cpp, Ollama, vLLM and others.

Plain HTTP of the standard library. It follows no redirect and uses no proxy, so that a key reaches
the host that was named and no other.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
)
from typing import cast, final
from urllib.parse import urlsplit

from alder.errors import ModelFailed
from alder.ports import Form, Message, Reply
from alder.spelling import printable

KEY = "ALDER_LLM_KEY"
"""The environment variable with the key of a server of one's own, where it asks for one."""

_MOST_BYTES = 1 << 20
_SAID = 160
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@final
@dataclass(frozen=True, slots=True)
class Server:
    """A model by its name on a server whose address ends before `/chat/completions`.

    `seconds` limits every wait for the server. The key is read from the environment with each
    request and kept nowhere. With a `temperature` words are drawn, with the seed of the form.
    """

    address: str
    model: str
    seconds: float = 300.0
    temperature: float = 0.0

    @property
    def name(self) -> str:
        """The address and the name of the model."""
        return f"{self.address}:{self.model}"

    def reply(self, messages: Sequence[Message], form: Form) -> Reply:
        """Ask once; raise `ModelFailed` where no reply came."""
        body: dict[str, object] = {
            "model": self.model,
            "messages": [{"role": one.role, "content": one.text} for one in messages],
            "max_tokens": form.at_most,
            "temperature": self.temperature,
            **({"seed": form.seed} if self.temperature and form.seed is not None else {}),
            **self._held_to(form),
        }
        return _read(self._send("POST", "/chat/completions", body), self.model)

    def _held_to(self, form: Form) -> dict[str, object]:
        """Say how the reply is held to its form; llama.cpp takes GBNF, which says more."""
        if self._is_llama_cpp():
            return {"grammar": form.gbnf}
        schema = {"name": "proposal", "schema": form.schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def _is_llama_cpp(self) -> bool:
        """Ask the server who it is; one that does not say is like any other."""
        try:
            listed = self._send("GET", "/models", None)
        except ModelFailed as failure:
            if failure.retry:
                raise
            return False
        return "llamacpp" in [_fields(one).get("owned_by") for one in _items(listed.get("data"))]

    def _send(
        self, method: str, path: str, body: Mapping[str, object] | None
    ) -> Mapping[str, object]:
        url = urlsplit(self.address)
        is_safe = url.scheme == "https"
        connect = HTTPSConnection if is_safe else HTTPConnection
        connection = connect(url.hostname or "", url.port, timeout=self.seconds)
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(KEY)
        if key and not (is_safe or url.hostname in _LOOPBACK):
            raise ModelFailed(
                f"{KEY} is set, and http would send it to {url.hostname} in the clear; use https."
            )
        if key:
            headers["Authorization"] = f"Bearer {key}"
        sent = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, url.path.rstrip("/") + path, sent, headers)
            response = connection.getresponse()
            text = _whole(response)
        except (OSError, HTTPException, ValueError) as error:
            # Only the kind of error is named: what a library says may repeat a header.
            raise ModelFailed(
                f"{self.address} did not answer ({type(error).__name__}); is the server running?",
                retry=not isinstance(error, ValueError),
            ) from None
        finally:
            connection.close()
        self._require_success(response, text)
        return _decode(text, self.address)

    def _require_success(self, response: HTTPResponse, text: bytes) -> None:
        if response.status == 200:
            return
        said = printable(text.decode("utf-8", "replace"), _SAID)
        key = os.environ.get(KEY)
        if key:
            said = said.replace(key, "(key)")
        wait = response.getheader("Retry-After") or ""
        raise ModelFailed(
            f"{self.address} answered with status {response.status}: {said}",
            retry=response.status in _BUSY,
            after=float(wait) if wait.isdecimal() and len(wait) < 5 else 0.0,
        )


def _whole(response: HTTPResponse) -> bytes:
    """Read an answer up to the most bytes; raise where fewer came than were announced."""
    text = response.read(_MOST_BYTES)
    announced = response.getheader("Content-Length") or ""
    if announced.isdecimal() and len(text) < min(int(announced), _MOST_BYTES):
        raise IncompleteRead(text)
    return text


def _decode(text: bytes, address: str) -> Mapping[str, object]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ModelFailed(
            f"{address} answered with something else than a JSON object; an OpenAI-compatible "
            f"address ends in /v1, such as http://127.0.0.1:8080/v1."
        )
    return cast("Mapping[str, object]", value)


def _read(answer: Mapping[str, object], model: str) -> Reply:
    """Read an answer; one without a text, because the model declined, is an empty reply."""
    choices = _items(answer.get("choices"))
    if not choices:
        raise ModelFailed(f"The server of {model} answered without a reply in it.")
    text = _fields(_fields(choices[0]).get("message")).get("content")
    usage = _fields(answer.get("usage"))
    return Reply(
        text if isinstance(text, str) else "",
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
    )


def _fields(value: object) -> Mapping[str, object]:
    """Return an object of JSON; an empty one where it is none."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def _count(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0
