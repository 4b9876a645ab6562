"""How many tokens an answer took, read while it passes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast, final

_READ: Final = (
    "input_tokens", "prompt_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
)  # fmt: skip
_WRITTEN: Final = ("output_tokens", "completion_tokens")
_LONGEST: Final = 8 * 2**20


@final
@dataclass(slots=True)
class Tally:
    """Counts the tokens of one answer: a document, or `events`, of which the last count holds."""

    events: bool
    read: int = 0
    written: int = 0
    _held: bytearray = field(default_factory=bytearray)

    @property
    def tokens(self) -> int:
        """Tokens read and written, as the provider counts them."""
        return self.read + self.written

    def take(self, part: bytes) -> None:
        """Take a part of the answer; one that is too long to be held is not counted."""
        self._held += part
        while self.events and (end := self._held.find(b"\n")) >= 0:
            self._count(bytes(self._held[:end]))
            del self._held[: end + 1]
        if len(self._held) > _LONGEST:
            self._held.clear()

    def end(self) -> None:
        """Count what is left."""
        self._count(bytes(self._held))
        self._held.clear()

    def _count(self, text: bytes) -> None:
        try:
            value: object = json.loads(text.removeprefix(b"data:"))
        except (ValueError, RecursionError):
            return
        whole = _fields(value)
        for holder in (whole, _fields(whole.get("response")), _fields(whole.get("message"))):
            usage = _fields(holder.get("usage"))
            self.read = max(self.read, sum(_number(usage.get(name)) for name in _READ))
            self.written = max(self.written, *(_number(usage.get(name)) for name in _WRITTEN))


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _number(value: object) -> int:
    return value if type(value) is int and value > 0 else 0
