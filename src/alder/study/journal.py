"""The ledger of a study with what it says: every event is appended, then replayed."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol, final, runtime_checkable

from alder.ledger.entries import Entry
from alder.ledger.events import Replayed, advance, replay
from alder.ledger.store import SqliteStore
from alder.ports import Event
from alder.records.glimpse import Glimpse

Watch = Callable[[str, Replayed], None]
"""Called after each event with its kind and what is known now; for progress only."""


@runtime_checkable
class Onlooker(Protocol):
    """A watch that is also told how far a proposer is, between two events."""

    def glimpse(self, seen: Glimpse) -> None:
        """Take note of what is being looked for, and of the best law so far."""
        ...


@final
class LedgerJournal:
    """An open ledger and its replayed state, kept in step."""

    def __init__(self, store: SqliteStore, watch: Watch | None = None) -> None:
        """Replay what is there."""
        self._store = store
        self._watch = watch
        self._state = replay(store.events())

    @property
    def state(self) -> Replayed:
        """What the events say so far."""
        return self._state

    def write(self, entry: Entry) -> None:
        """Append one event and replay it."""
        kind, content = entry
        digest = self._store.append(kind, content)
        number = self._state.n_events + 1
        self._state = advance(self._state, Event(number, kind, content, digest))
        if self._watch is not None:
            self._watch(kind, self._state)

    @contextmanager
    def together(self) -> Generator[None, None, None]:
        """Make the events written inside durable together; forget them where that fails."""
        before = self._state
        try:
            with self._store.batch():
                yield
        except BaseException:
            self._state = before
            raise
