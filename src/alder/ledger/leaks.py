"""Does anything that was kept back occur in the ledger? A search for rows, values and salts.

It finds what was copied: as rows, as numbers in any place, as digits in a text, as float64 bytes in
what a proposer wrote. What was disguised on the way (encrypted, say) no search can find; against
that stand the separate processes.
"""

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TypeAlias, cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.ledger.content import SHORT, bytes_of
from alder.ports import Event
from alder.records.grammar import Grammar
from alder.records.verdict import Commitment

Columns: TypeAlias = Mapping[str, FloatArray]

# A number with this many digits beyond those that count the protected values meets one of them by
# chance once in a million.
_SURE = 6
_ALL_DIGITS = 17
_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Secrets:
    """What must not occur: the protected rows by role, and the salts of their commitments.

    `commitments` are recomputed from both by the caller, and compared with the published ones.
    """

    rows: Mapping[str, Columns]
    salts: tuple[bytes, ...] = ()
    commitments: tuple[Commitment, ...] = ()


def leaks(events: Sequence[Event], secrets: Secrets, grammar: Grammar) -> Iterator[tuple[int, str]]:
    """Yield the number of every event that shows something protected, and what it shows.

    A public row that is identical to a protected one counts; equal inputs alone are replicates.
    """
    target = grammar.target.name
    values = _values(events, secrets, target)
    names = (*grammar.variable_names, target)
    salts = [form for salt in secrets.salts for form in _forms(salt)]
    shortest = min([values.digits, *map(len, salts)])
    for event in events:
        for role, rows in secrets.rows.items():
            n_shared = _shared_rows(_columns(event), rows, names)
            if n_shared:
                yield event.number, f"{n_shared} of its rows are identical to {role} rows."
        texts = [text for text in _texts(event.content) if len(text) >= shortest]
        if any(map(values.has, _numbers(event.content))):
            yield event.number, "It holds a value of the target that occurs in protected rows only."
        if any(map(values.in_text, texts)):
            yield event.number, "A text of it spells a value that occurs in protected rows only."
        if any(form in seen for text in texts for seen in (text, text.lower()) for form in salts):
            yield event.number, "It holds the salt of a commitment."


def count_recognisable(events: Sequence[Event], secrets: Secrets, grammar: Grammar) -> int:
    """Count the protected values that can be looked for: of many digits, and nowhere public."""
    return len(_values(events, secrets, grammar.target.name).values)


def _values(events: Sequence[Event], secrets: Secrets, target: str) -> "_Values":
    public = [rows[target] for event in events if target in (rows := _columns(event))]
    return _Values([rows[target] for rows in secrets.rows.values() if target in rows], public)


@final
class _Values:
    """Protected values of the target that are recognisable and nowhere public."""

    def __init__(self, protected: Sequence[FloatArray], public: Sequence[FloatArray]) -> None:
        kept = np.unique(np.concatenate([np.empty(0), *protected]))
        self.digits = _SURE + math.ceil(math.log10(max(len(kept), 1)))
        unknown = kept[np.isfinite(kept) & ~np.isin(kept, np.concatenate([np.empty(0), *public]))]
        long = [f"{value:.{self.digits - 1}e}" for value in unknown.tolist()]
        self.values = unknown[np.array(long, dtype=np.float64) != unknown]
        self._spelt: dict[int, frozenset[str]] = {}

    def has(self, number: float | FloatArray) -> bool:
        """Say whether a number, or one in an array, is among the values."""
        if isinstance(number, float):
            return number in self._known
        return bool(len(self.values)) and bool(np.isin(number, self.values).any())

    def in_text(self, text: str) -> bool:
        """Say whether a text spells one of the values, whatever its sign, or holds its bytes."""
        if not len(self.values):
            return False
        tokens = (match[0] for match in _NUMBER.finditer(text))
        return any(map(self._is_spelt, tokens)) or self._holds_bytes(text)

    def _is_spelt(self, token: str) -> bool:
        digits = min(_significant(token), _ALL_DIGITS)
        if digits < self.digits:
            return False
        if digits not in self._spelt:
            rounded = (f"{Decimal(abs(v)):.{digits - 1}e}" for v in self.values.tolist())
            self._spelt[digits] = frozenset(rounded)
        if f"{Decimal(token):.{digits - 1}e}" in self._spelt[digits]:
            return True
        return float(token) in self._known or -float(token) in self._known

    @cached_property
    def _known(self) -> frozenset[float]:
        return frozenset(self.values.tolist())

    @cached_property
    def _patterns(self) -> frozenset[bytes]:
        raw = bytes_of(self.values)
        return frozenset(raw[start : start + 8] for start in range(0, len(raw), 8))

    def _holds_bytes(self, text: str) -> bool:
        """Look for float64 bytes in a text that came from bytes, one character a byte."""
        if text.isascii():
            return False
        raw = text.encode("latin-1", "replace")
        return any(raw[start : start + 8] in self._patterns for start in range(len(raw) - 7))


def _columns(event: Event) -> Columns:
    columns = event.content.get("columns")
    return cast("Columns", columns) if isinstance(columns, Mapping) else {}


def _shared_rows(public: Columns, protected: Columns, names: Sequence[str]) -> int:
    """Count the public rows that are identical to a protected one in every variable and target."""
    if not all(name in public and name in protected for name in names):
        return 0
    target = names[-1]
    near_public = np.flatnonzero(np.isin(public[target], protected[target]))
    near_protected = np.flatnonzero(np.isin(protected[target], public[target]))
    known = set(_row_bytes(protected, names, near_protected))
    return sum(row in known for row in _row_bytes(public, names, near_public))


def _row_bytes(columns: Columns, names: Sequence[str], places: np.ndarray) -> Iterator[bytes]:
    # Adding zero makes -0.0 and 0.0 the same row.
    for row in np.column_stack([columns[name][places] for name in names]) + 0.0:
        yield row.tobytes()


def _numbers(value: object) -> Iterator[float | FloatArray]:
    """Yield all floats of a content, long arrays as they are."""
    match value:
        case np.ndarray():
            array = cast("FloatArray", value)
            yield from [array] if array.size > SHORT else array.ravel().tolist()
        case float():
            yield value
        case Mapping():
            for part in cast("Mapping[str, object]", value).values():
                yield from _numbers(part)
        case list() | tuple():
            for part in cast("list[object]", value):
                yield from _numbers(part)
        case _:
            pass


def _texts(value: object) -> Iterator[str]:
    """Yield all texts of a content, keys included; bytes are decoded, one character a byte."""
    match value:
        case str():
            yield value
        case {"base64": str() as encoded}:
            try:
                yield base64.b64decode(encoded).decode("latin-1")
            except binascii.Error:
                yield encoded
        case Mapping():
            for key, part in cast("Mapping[str, object]", value).items():
                yield key
                yield from _texts(part)
        case list() | tuple():
            for part in cast("list[object]", value):
                yield from _texts(part)
        case _:
            pass


def _significant(token: str) -> int:
    """Count the significant digits a number is written with."""
    mantissa = re.split("[eE]", token)[0].replace(".", "")
    return len(mantissa.lstrip("0"))


def _forms(salt: bytes) -> tuple[str, ...]:
    """Return what a salt looks like in a text: hexadecimal, base64, or one character a byte."""
    encoded = base64.b64encode(salt).decode("ascii").rstrip("=")
    return (salt.hex(), encoded, salt.decode("latin-1")) if salt else ()
