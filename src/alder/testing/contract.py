"""What all checks share: breaches in words, and values that must not change."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from alder.records.law import Law

T = TypeVar("T")


class BrokenContract(AssertionError):
    """A part does not do what its port promises; the message lists how."""


def fingerprint(value: object) -> str:
    """Return a digest of a record and everything in it, arrays included.

    >>> fingerprint({"r": np.array([1.0])}) == fingerprint({"r": np.array([1.0])})
    True
    """
    return hashlib.sha256("\n".join(_parts(value)).encode()).hexdigest()


def report(make: Callable[..., object], breaches: Iterable[str]) -> None:
    """Raise `BrokenContract` with each breach, once."""
    found = list(dict.fromkeys(breaches))
    if found:
        name = getattr(make, "__name__", type(make).__name__)
        raise BrokenContract("\n- ".join([f"{name} breaks its contract:", *found]))


def watched(what: str, value: object, call: Callable[[], T], breaches: list[str]) -> T:
    """Call a part; note where it changed what it was given, or the global randomness."""
    before = fingerprint(value)
    state = np.random.get_state(legacy=True)  # noqa: NPY002 (to see that nobody touched it)
    answer = call()
    if fingerprint(value) != before:
        breaches.append(f"it changed {what}, which is a value that others use")
    if fingerprint(np.random.get_state(legacy=True)) != fingerprint(state):  # noqa: NPY002
        breaches.append("it drew from numpy's global randomness; use the generator it is given")
    return answer


def _parts(value: object) -> Iterator[str]:
    match value:
        case Law():
            yield value.digest
        case np.ndarray():
            array = cast("NDArray[Any]", value)
            yield f"{array.dtype}{array.shape}{hashlib.sha256(array.tobytes()).hexdigest()}"
        case str() | bytes():
            yield repr(value)
        case Mapping() | Sequence():
            yield from _items(cast("Mapping[object, object] | Sequence[object]", value))
        case _ if is_dataclass(value) and not isinstance(value, type):
            yield type(value).__name__
            yield from _items([getattr(value, part.name) for part in fields(value)])
        case _:
            yield repr(value)


def _items(value: Mapping[object, object] | Sequence[object]) -> Iterator[str]:
    yield f"{len(value)} items"
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, item in pairs:
        yield repr(key)
        yield from _parts(item)
