"""The contract of stores."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import cast

import numpy as np

from alder.errors import AlderError
from alder.ports import Event, Store
from alder.testing.contract import fingerprint, report

_CONTENTS: tuple[Mapping[str, object], ...] = (
    {"text": "begun", "number": 1, "share": 0.1},
    {"nested": {"list": [1, 2.5, None, True, "\u00e9"]}},
    {"rows": np.array([0.1, -2.0, 3e300])},
)
_FIRST = "first"
# Bytes missing at the end of a file whose last write was cut short.
_TORN = 7


def check_store(open_store: Callable[[Path], Store], folder: Path) -> None:
    """Check a store on files in an empty folder.

    Events come back in order, numbered without gaps, with kind and content; each digest covers all
    events before it; what was appended is there after the store is closed and opened again, and
    also where it was never closed; and a last write cut short costs the last events, or is refused
    with an `AlderError`. A store with a method `close` is closed by it.
    """
    report(open_store, _store_breaches(open_store, folder))


def _store_breaches(open_store: Callable[[Path], Store], folder: Path) -> Iterator[str]:
    store = open_store(folder / _FIRST)
    if list(store.events()):
        yield "a new store is not empty"
    digests = [store.append("note", content) for content in _CONTENTS]
    events = list(store.events())
    yield from _event_breaches(events, digests)
    yield from _crash_breaches(open_store, folder, events)
    _close(store)
    again = open_store(folder / _FIRST)
    if fingerprint(list(again.events())) != fingerprint(events):
        yield "after it was closed and opened again, its events are others"
    digests.append(again.append("note", {"text": "later"}))
    if [event.digest for event in again.events()] != digests:
        yield "it does not go on where it stopped after it was opened again"
    _close(again)
    other = open_store(folder / "second")
    other.append("note", {"text": "another beginning"})
    if other.append("note", _CONTENTS[1]) == digests[1]:
        yield "a digest does not cover the events before its own"
    _close(other)


def _crash_breaches(
    open_store: Callable[[Path], Store], folder: Path, events: list[Event]
) -> Iterator[str]:
    """Open copies of what lies on the disk while the store is in use, whole and cut short."""
    written = [file for file in sorted(folder.iterdir()) if file.is_file()]
    kept = _copied(written, folder / "killed")
    if not written or _read(open_store, kept) != [fingerprint(event) for event in events]:
        yield "an event whose append had returned is lost where the store is not closed"
    for file in written:
        torn = _copied(written, folder / f"torn {file.name}")
        content = file.read_bytes()
        (torn / file.name).write_bytes(content[: len(content) - min(_TORN, len(content))])
        found = _read(open_store, torn)
        if found is not None and found != [fingerprint(event) for event in events[: len(found)]]:
            yield f"where the end of {file.name} is cut off, other events come back"


def _copied(files: list[Path], folder: Path) -> Path:
    folder.mkdir()
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def _read(open_store: Callable[[Path], Store], folder: Path) -> list[str] | None:
    """Return the fingerprints of the events, or None where the store refuses to open."""
    try:
        store = open_store(folder / _FIRST)
        try:
            return [fingerprint(event) for event in store.events()]
        finally:
            _close(store)
    except AlderError:
        return None


def _event_breaches(events: list[Event], digests: list[str]) -> Iterator[str]:
    if len(events) != len(_CONTENTS):
        yield f"{len(_CONTENTS)} events were appended and {len(events)} came back"
        return
    numbers = [event.number for event in events]
    if numbers != list(range(numbers[0], numbers[0] + len(events))):
        yield f"events are not numbered one by one: {numbers}"
    if [event.digest for event in events] != digests:
        yield "the digests of events are not those that `append` returned"
    if len(set(digests)) < len(digests):
        yield "two events have the same digest"
    for event, content in zip(events, _CONTENTS, strict=True):
        if event.kind != "note":
            yield f"an event came back with the kind {event.kind!r}, not 'note'"
        if fingerprint(_plain(event.content)) != fingerprint(_plain(content)):
            yield f"the content of an event came back changed: {dict(event.content)}"


def _plain(value: object) -> object:
    """Return content with mappings and lists of any kind made alike."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _plain(item) for key, item in sorted(items)}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[object]", value)]
    return value


def _close(store: Store) -> None:
    close = getattr(store, "close", None)
    if callable(close):
        close()
