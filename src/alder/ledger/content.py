"""The content of an event as bytes: canonical JSON, with long arrays beside it.

Keys are sorted and the text is ASCII, so equal contents have equal bytes. What JSON cannot hold is
said by an object of one key: `{"$float": "nan"}`, `{"$array": [1.5, "inf"]}` for a short column,
and `{"$stored": {"digest": ..., "shape": [...]}}` for a long one, which is kept elsewhere under the
SHA-256 of its bytes. A key of the content that begins with `$` gets a second one.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadLedger

GENESIS = "00" * 32
"""What stands for the digest before the first event."""

# A column this short is read more easily in the JSON itself, and costs less there than a blob.
SHORT = 64

_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}

Load: TypeAlias = Callable[[str], FloatArray]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The canonical bytes of a content, and its long arrays by digest."""

    text: bytes
    arrays: Mapping[str, FloatArray]


def pack(content: Mapping[str, object]) -> Packed:
    """Write a content as canonical bytes; raise `BadLedger` for what no event can hold.

    >>> pack({"b": float("nan"), "a": 1}).text
    b'{"a":1,"b":{"$float":"nan"}}'
    """
    arrays: dict[str, FloatArray] = {}
    try:
        text = json.dumps(
            _plain(content, arrays), sort_keys=True, separators=(",", ":"), allow_nan=False
        )
    except RecursionError:
        raise BadLedger("An event nests its content too deeply to be written.") from None
    except ValueError as error:
        raise BadLedger(f"An event holds a value that cannot be written: {error}.") from None
    return Packed(text.encode("ascii"), arrays)


def unpack(text: bytes, load: Load) -> dict[str, object]:
    """Read canonical bytes; `load` returns a long array, flat, by its digest."""
    try:
        content = json.loads(text, object_hook=lambda value: _revived(value, load))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadLedger("An event of the ledger is not JSON as Alder writes it.") from None
    if not isinstance(content, dict):
        raise BadLedger("An event of the ledger is JSON but not an object.")
    return cast("dict[str, object]", content)


def chain(previous: str, number: int, kind: str, text: bytes) -> str:
    r"""Return the digest of an event over all before it, as 64 hexadecimal digits.

    $$d_n = \operatorname{SHA256}(d_{n-1}, n, \text{kind}, \text{content})$$

    Each part is preceded by its length. The content names long arrays by the SHA-256 of their
    bytes, so they are bound as well.
    """
    state = hashlib.sha256()
    for part in (bytes.fromhex(previous), number.to_bytes(8, "big"), kind.encode(), text):
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.hexdigest()


def content_digest(content: Mapping[str, object]) -> str:
    """Return the SHA-256 of a content on its own, arrays included."""
    return hashlib.sha256(pack(content).text).hexdigest()


def bytes_of(array: FloatArray) -> bytes:
    """Return the numbers as little-endian float64, rows first."""
    return array.astype("<f8", order="C", copy=False).tobytes()


def array_of(numbers: bytes) -> FloatArray:
    """Read what `bytes_of` wrote, as a flat read-only array."""
    return _frozen(np.frombuffer(numbers, dtype="<f8").astype(np.float64, copy=False))


def _plain(value: object, arrays: dict[str, FloatArray]) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return float(value) if math.isfinite(value) else {"$float": _word(value)}
        case np.ndarray():
            return _array(cast("FloatArray", value), arrays)
        case np.bool_() | np.integer() | np.floating():
            return _plain(cast("object", value.item()), arrays)
        case Mapping():
            mapping = cast("Mapping[object, object]", value)
            return {_escaped(key): _plain(part, arrays) for key, part in mapping.items()}
        case list() | tuple():
            return [_plain(part, arrays) for part in cast("list[object]", value)]
        case _:
            raise BadLedger(
                f"An event cannot hold a value of type {type(value).__name__}; JSON values and "
                "float64 arrays are allowed."
            )


def _array(array: FloatArray, arrays: dict[str, FloatArray]) -> object:
    if array.dtype != np.float64:
        raise BadLedger(f"An event holds float64 arrays only; got one of {array.dtype}.")
    if array.ndim == 1 and len(array) <= SHORT:
        return {"$array": [n if math.isfinite(n) else _word(n) for n in array.tolist()]}
    digest = hashlib.sha256(bytes_of(array)).hexdigest()
    arrays[digest] = array
    return {"$stored": {"digest": digest, "shape": list(array.shape)}}


def _revived(value: dict[str, Any], load: Load) -> object:
    """Turn an object of JSON back into what it stands for; called for every object of a ledger."""
    if len(value) == 1:
        ((key, part),) = value.items()
        if key == "$array":
            return _frozen(np.array([_WORDS.get(n, n) for n in part], dtype=np.float64))
        if key == "$float":
            return _WORDS[part]
        if key == "$stored":
            return _frozen(load(part["digest"]).reshape(part["shape"]))
    if any(key.startswith("$$") for key in value):
        return {_unescaped(key): part for key, part in value.items()}
    return value


def _word(value: float) -> str:
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def _escaped(key: object) -> str:
    if not isinstance(key, str):
        raise BadLedger(f"The keys of an event are texts; got one of type {type(key).__name__}.")
    return f"${key}" if key.startswith("$") else key


def _unescaped(key: str) -> str:
    return key[1:] if key.startswith("$$") else key


def _frozen(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array
