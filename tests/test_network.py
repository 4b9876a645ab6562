"""The fence around the tests holds."""

import socket
from urllib.request import urlopen

import pytest
from network import UnplannedConnection, served


def test_an_unplanned_connection_is_an_error() -> None:
    with socket.socket() as one, pytest.raises(UnplannedConnection):
        one.connect(("127.0.0.1", 9))


def test_a_name_is_not_even_looked_up() -> None:
    with pytest.raises(UnplannedConnection):
        socket.create_connection(("example.org", 443))


def test_a_planned_server_answers_until_it_is_closed() -> None:
    server = served(lambda path, headers, body: (200, {}, {"path": path}))
    with server as address, urlopen(f"{address}/models") as answer:
        assert answer.read() == b'{"path": "/v1/models"}'
    with pytest.raises(UnplannedConnection):
        urlopen(f"{address}/models")
