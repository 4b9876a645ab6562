"""No test reaches the network unless it planned to, and then only a server of its own."""

import json
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

_PLANNED: set[tuple[str, int]] = set()
_OWN: list[str] = []

Answer = Callable[[str, Mapping[str, str], Any], tuple[int, Mapping[str, str], object]]
"""From path, headers and body to status, headers and body."""


class UnplannedConnection(AssertionError):
    """A test wanted to connect to somewhere; no error that a client would catch and retry."""


@contextmanager
def forbidden() -> Generator[None, None, None]:
    """Make every connection an error, but those to a server of `served`."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        is_network = self.family in (socket.AF_INET, socket.AF_INET6)
        if is_network and tuple(address[:2]) not in _PLANNED and address[0] not in _OWN:
            raise UnplannedConnection(f"An unplanned connection to {address}.")
        connect(self, address)

    def unresolved(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if (host, port) not in _PLANNED and host not in _OWN:
            raise UnplannedConnection(f"An unplanned connection to {host}:{port}.")
        return resolve(host, port, *rest, **more)

    resolve = socket.getaddrinfo
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        patch.setattr(socket, "getaddrinfo", unresolved)
        yield


@contextmanager
def loopback() -> Generator[None, None, None]:
    """Let a test reach a server on this computer that the code under test starts by itself."""
    _OWN.append("127.0.0.1")
    try:
        yield
    finally:
        _OWN.remove("127.0.0.1")


@contextmanager
def served(answer: Answer) -> Generator[str, None, None]:
    """Run a server of a test on loopback; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, headers, content = answer(self.path, dict(self.headers), body)
            text = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(text)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST  # noqa: N815 (as the library calls it)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = int(server.server_address[1])
    _PLANNED.add(("127.0.0.1", port))
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        _PLANNED.discard(("127.0.0.1", port))
