"""Messages between the harness and the vault: a length, a JSON header, raw float64.

A message is 4 bytes of header length, 8 bytes of body length (both little-endian), the header, the
body. There is no pickle, so nothing that arrives can run.
"""

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, final

import numpy as np

from alder.arrays import FloatArray

MAX_HEADER = 1 << 20
MAX_BODY = 1 << 32
_LENGTHS = struct.Struct("<IQ")


class BadMessage(Exception):
    """What came through the pipe is framed as a message but is none."""


class LostFrame(Exception):
    """Where the next message begins cannot be known any more."""


@final
@dataclass(frozen=True, slots=True)
class Message:
    """A JSON object, and bytes."""

    header: Mapping[str, Any]
    body: bytes = field(default=b"", repr=False)


def encode(message: Message) -> bytes:
    """Return the bytes of a message."""
    header = json.dumps(message.header, allow_nan=False, separators=(",", ":")).encode()
    return _LENGTHS.pack(len(header), len(message.body)) + header + message.body


def read(take: Callable[[int], bytes]) -> Message | None:
    """Read one message; None where the pipe was closed between messages.

    `take(n)` returns n bytes, or fewer where the pipe ends. Raise `BadMessage` for
    what is none, and `LostFrame` where its end cannot be found.
    """
    start = take(_LENGTHS.size)
    if not start:
        return None
    if len(start) < _LENGTHS.size:
        raise LostFrame("the pipe ended within a message")
    n_header, n_body = _LENGTHS.unpack(start)
    if n_header > MAX_HEADER or n_body > MAX_BODY:
        raise LostFrame("a length is out of bounds")
    text, body = take(n_header), take(n_body)
    if len(text) < n_header or len(body) < n_body:
        raise LostFrame("the pipe ended within a message")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage("the header is not JSON") from None
    if not isinstance(header, dict):
        raise BadMessage("the header is no object")
    return Message(cast("dict[str, Any]", header), body)


def pack_rows(
    rows: Mapping[str, Mapping[str, FloatArray]],
) -> tuple[list[dict[str, Any]], bytes]:
    """Return what describes tables by role, and their numbers, column after column."""
    shapes = [
        {"role": role, "columns": list(columns), "n_rows": len(next(iter(columns.values())))}
        for role, columns in rows.items()
    ]
    columns = [column for table in rows.values() for column in table.values()]
    return shapes, b"".join(
        np.ascontiguousarray(column, dtype="<f8").tobytes() for column in columns
    )


def unpack_rows(
    shapes: Sequence[Mapping[str, Any]], body: bytes
) -> dict[str, dict[str, FloatArray]]:
    """Return tables by role; raise `BadMessage` where numbers and description disagree."""
    numbers = np.frombuffer(body, dtype="<f8").astype(np.float64)
    rows: dict[str, dict[str, FloatArray]] = {}
    place = 0
    for shape in shapes:
        n_rows, names = int(shape["n_rows"]), list(shape["columns"])
        rows[str(shape["role"])] = {
            str(name): numbers[place + i * n_rows : place + (i + 1) * n_rows]
            for i, name in enumerate(names)
        }
        place += n_rows * len(names)
    if place != len(numbers):
        raise BadMessage("the numbers do not fill the tables")
    return rows
