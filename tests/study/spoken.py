"""Values as bytes, for tests that ask whether two studies saw and did the same."""

import dataclasses
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, cast

import numpy as np

from alder.ledger.store import read_events

# The clock differs between two runs of one study, and salts are drawn afresh.
_OTHERWISE = ("seconds", "digest", "versions", "elapsed")


def as_bytes(value: object) -> bytes:
    """Write a record with all it holds, apart from clocks, salts and digests over them."""
    if dataclasses.is_dataclass(value):
        named = {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
        return type(value).__name__.encode() + as_bytes(named)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        parts = [f"{k}:".encode() + as_bytes(v) for k, v in items if k not in _OTHERWISE]
        return b"{" + b",".join(sorted(parts)) + b"}"
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return f"{array.dtype}{array.shape}".encode() + array.tobytes()
    if isinstance(value, Set):
        return b"(" + b",".join(sorted(map(as_bytes, cast("Set[object]", value)))) + b")"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return b"[" + b",".join(map(as_bytes, cast("Sequence[object]", value))) + b"]"
    return repr(value).encode()


def story(ledger: Path) -> list[tuple[str, bytes]]:
    """Return what a ledger says, event by event."""
    return [(event.kind, as_bytes(event.content)) for event in read_events(ledger)]
