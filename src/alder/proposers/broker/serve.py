"""The process of a broker: it listens on a unix socket, adds the key, and asks one model.

It is started as `python -m alder.proposers.broker.serve`, with one line of JSON on its standard
input, writes a line when it listens, and at the end of its standard input how many tokens were
used. The key is in that line and in the memory of this process, and nowhere else. It follows no
redirect and uses no proxy, so that a key reaches the host that was named and no other.
"""

import json
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import socket
from socketserver import ThreadingUnixStreamServer
from typing import Any, Final, cast, final
from urllib.parse import urlsplit

from alder.proposers.broker.screening import Refused, place_of, screened
from alder.proposers.broker.tally import Tally

_MOST_BYTES: Final = 32 * 2**20
_MOST_AT_ONCE: Final = 8
_WAIT_S, _ANSWER_S = 60.0, 600.0
_PART: Final = 64 * 1024
_PASSED_ON: Final = ("accept", "anthropic-version", "anthropic-beta", "openai-beta")
_PASSED_BACK: Final = ("content-type", "retry-after", "request-id", "x-request-id")


@final
@dataclass(slots=True)
class Upstream:
    """The model that is asked, what is added to each question, and what it may still use."""

    address: str
    header: str
    value: str
    secret: str
    tokens: int | None
    used: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(
        self, method: str, place: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """Send one question; return the connection with its open answer."""
        url = urlsplit(self.address)
        connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        connection = connect(url.hostname or "", url.port, timeout=_ANSWER_S)
        added = {self.header: self.value} if self.value else {}
        try:
            connection.request(method, url.path.rstrip("/") + place, body, {**headers, **added})
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def charge(self, tokens: int) -> None:
        """Add what an answer took."""
        with self.lock:
            self.used += tokens

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be asked."""
        return self.tokens is not None and self.used >= self.tokens


class _Door(ThreadingUnixStreamServer):
    """Listens for the agent; a flood of connections waits."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, path: str, upstream: Upstream) -> None:
        self.upstream = upstream
        self._free = threading.Semaphore(_MOST_AT_ONCE)
        super().__init__(path, _Question)

    def get_request(self) -> tuple[socket, str]:
        """Take the next connection, once one of those before it has ended."""
        self._free.acquire()
        try:
            return super().get_request()
        except OSError:
            self._free.release()
            raise

    def shutdown_request(self, request: socket | tuple[bytes, socket]) -> None:
        """End a connection."""
        super().shutdown_request(request)
        self._free.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: object) -> None:
        """Say nothing: who hangs up is no error, and a traceback might quote a header."""


class _Question(BaseHTTPRequestHandler):
    """One question, and its answer, on one connection."""

    protocol_version = "HTTP/1.1"
    timeout = _WAIT_S

    @property
    def upstream(self) -> Upstream:
        """The model that is asked."""
        return cast("_Door", self.server).upstream

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """Say nothing."""

    def do_GET(self) -> None:
        """Pass on a question without a body."""
        self._pass(None)

    def do_POST(self) -> None:
        """Pass on a question with a body: what was screened, and not what was sent."""
        length = self.headers.get("Content-Length") or ""
        if not length.isdecimal() or int(length) > _MOST_BYTES:
            self._say(413, f"A question has a length, and at most {_MOST_BYTES} bytes.")
            return
        try:
            value: object = json.loads(self.rfile.read(int(length)))
            if not isinstance(value, dict):
                raise Refused("A question is one JSON object.")
            body = json.dumps(screened(cast("Mapping[str, object]", value))).encode()
        except Refused as refused:
            self._say(403, str(refused))
        except (ValueError, RecursionError):
            self._say(400, "A question is one JSON object.")
        else:
            self._pass(body)

    def _pass(self, body: bytes | None) -> None:
        try:
            place = place_of(self.command, self.path)
        except Refused as refused:
            self._say(403, str(refused))
            return
        if self.upstream.is_spent:
            self._say(429, "The tokens of this study are spent.")
            return
        headers = {name: self.headers[name] for name in _PASSED_ON if name in self.headers}
        headers |= {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        try:
            connection, answer = self.upstream.ask(self.command, place, body, headers)
        except (OSError, HTTPException) as error:
            self._say(502, f"The model did not answer ({type(error).__name__}).")
            return
        with closing(connection):
            self._answer(answer)

    def _answer(self, answer: HTTPResponse) -> None:
        """Pass an answer back as it comes; one of failure is read first, for it may quote a key."""
        kind = answer.getheader("Content-Type") or ""
        self.send_response(answer.status)
        for name in _PASSED_BACK:
            value = answer.getheader(name)
            if value is not None:
                self.send_header(name, value)
        self._end_of_headers()
        if answer.status != 200:
            text, secret = answer.read(_PART), self.upstream.secret.encode()
            self.wfile.write(text.replace(secret, b"(key)") if secret else text)
            return
        tally = Tally(events="event-stream" in kind)
        try:
            while part := answer.read1(_PART):
                tally.take(part)
                self.wfile.write(part)
        finally:
            tally.end()
            self.upstream.charge(tally.tokens)

    def _say(self, status: int, sentence: str) -> None:
        text = json.dumps({"error": {"type": "refused", "message": sentence}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self._end_of_headers()
        self.wfile.write(text)

    def _end_of_headers(self) -> None:
        """Say that the end of the connection is that of the answer."""
        self.send_header("Connection", "close")
        self.end_headers()


def run(asked: Mapping[str, Any]) -> None:
    """Serve until standard input ends; then say how many tokens were used."""
    os.chdir(asked["folder"])  # a path of a socket has at most 107 characters
    names = ("address", "header", "value", "secret", "tokens")
    upstream = Upstream(*(asked[name] for name in names))
    os.umask(0o177)
    door = _Door(asked["name"], upstream)
    if asked["owner"] is not None:
        os.chown(Path(asked["name"]), *asked["owner"])
    threading.Thread(target=door.serve_forever, daemon=True).start()
    os.write(1, b"listening\n")
    while os.read(0, 4096):
        pass
    os.write(1, f"{upstream.used}\n".encode())
    os._exit(0)  # answers may be on their way; nobody waits for them any more


if __name__ == "__main__":
    run(json.loads(sys.stdin.buffer.readline()))
