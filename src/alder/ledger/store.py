"""Events in one SQLite file: append-only, durable one by one, chained by their digests."""

import gc
import sqlite3
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, cast, final

from alder.arrays import FloatArray
from alder.errors import BadLedger
from alder.ledger import locking
from alder.ledger.blobs import load_array, save_array
from alder.ledger.budgets import is_larger
from alder.ledger.content import GENESIS, Packed, chain, pack, unpack
from alder.ledger.database import UNREADABLE, close, failure, open_for_reading, open_for_writing
from alder.ports import Event


@final
@dataclass(frozen=True, slots=True)
class _Tail:
    """What the next event must follow; `budget` is the one in force."""

    number: int = 0
    kind: str = ""
    digest: str = GENESIS
    budget: Mapping[str, object] | None = None


@final
class SqliteStore:
    """A ledger file with one writer; implements `alder.ports.Store`.

    Opening verifies the chain. An append returns when the event is on the disk: a process killed
    at any moment loses no event whose append returned. After an "end" only a "resume" with a
    larger budget is accepted.

    Example: `with SqliteStore("run.alder") as store: store.append("note", {"text": "begun"})`
    """

    def __init__(self, path: str | Path) -> None:
        """Open or make a ledger and lock it; raise `BadLedger` with one sentence otherwise."""
        self._path = Path(path).resolve()
        if not self._path.parent.is_dir():
            raise BadLedger(f"There is no folder {self._path.parent.name} for {self._path.name}.")
        self._lock_path = self._path.with_name(f"{self._path.name}-lock")
        self._lock: int | None = locking.acquire(self._lock_path, self._path.name)
        self._mutex = threading.RLock()
        self._in_batch = False
        try:
            self._connection = open_for_writing(self._path)
            try:
                self._tail = _verified_tail(self._connection, self._path)
            except BaseException:
                self._connection.close()
                raise
        except BaseException:
            self._unlock()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def digest(self) -> str:
        """The digest of the last event, which stands for the whole ledger."""
        return self._tail.digest

    def append(self, kind: str, content: Mapping[str, object]) -> str:
        """Add one event durably and return its digest."""
        packed = pack(content)
        with self._mutex:
            tail = _following(self._tail, kind, content, packed, self._path.name)
            with self._transaction():
                for digest, array in packed.arrays.items():
                    save_array(self._connection, digest, array)
                self._connection.execute(
                    "INSERT INTO events (number, kind, content, digest) VALUES (?, ?, ?, ?)",
                    (tail.number, kind, packed.text, bytes.fromhex(tail.digest)),
                )
            self._tail = tail
            return tail.digest

    def events(self) -> tuple[Event, ...]:
        """Return all events in order, with their arrays."""
        with self._mutex:
            return _read(self._connection, self._path, verified=True)

    @contextmanager
    def batch(self) -> Generator[None, None, None]:
        """Make the appends inside durable together, at the end: all of them, or none.

        For bulk writes, where waiting for the disk after every event would take most of the time.
        """
        with self._mutex:
            if self._in_batch:
                raise BadLedger("A batch of appends cannot hold another one.")
            before = self._tail
            self._in_batch = True
            try:
                with self._commits():
                    yield
            except BaseException:
                self._tail = before
                raise
            finally:
                self._in_batch = False

    def close(self) -> None:
        """Close the file and let others write; closing twice is harmless."""
        with self._mutex:
            if self._lock is not None:
                close(self._connection)
                self._unlock()

    def __enter__(self) -> "SqliteStore":
        """Return the store, to be closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

    def _unlock(self) -> None:
        if self._lock is not None:
            locking.release(self._lock_path, self._lock)
            self._lock = None

    @contextmanager
    def _transaction(self) -> Generator[None, None, None]:
        """Commit what is inside, or leave that to the batch around it."""
        if self._lock is None:
            raise BadLedger(f"{self._path.name} was closed; open it again to add to it.")
        if not self._in_batch:
            with self._commits():
                yield
            return
        self._require_transaction()
        try:
            yield
        except sqlite3.Error as error:
            # An array may have been written without its event: give the whole batch up.
            self._roll_back()
            raise failure(error, self._path) from None

    @contextmanager
    def _commits(self) -> Generator[None, None, None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._require_transaction()
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise failure(error, self._path) from None
        except BaseException:
            self._roll_back()
            raise

    def _require_transaction(self) -> None:
        if not self._connection.in_transaction:
            raise BadLedger(
                f"A batch of appends to {self._path.name} has failed; repeat all of it."
            )

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def read_events(path: str | Path) -> tuple[Event, ...]:
    """Return the events of a ledger that another process may be writing; verify the chain."""
    return _read_file(Path(path).resolve(), verified=True)


def read_unverified(path: str | Path) -> tuple[Event, ...]:
    """Return the events as they stand, for an audit that reports what was changed."""
    return _read_file(Path(path).resolve(), verified=False)


def _read_file(path: Path, *, verified: bool) -> tuple[Event, ...]:
    connection = open_for_reading(path)
    try:
        connection.execute("BEGIN")  # one snapshot, however much is appended meanwhile
        if verified:
            _verified_tail(connection, path)
        return _read(connection, path, verified=verified)
    except UNREADABLE as error:
        raise failure(error, path) from None
    finally:
        connection.close()


def _rows(
    connection: sqlite3.Connection, path: Path
) -> Generator[tuple[int, str, bytes, bytes], None, None]:
    """Yield the events as they are stored; a page that was lost may leave holes in them."""
    try:
        for row in connection.execute(
            "SELECT number, kind, content, digest FROM events ORDER BY number"
        ):
            match row:
                case (int(number), str(kind), bytes(text), bytes(digest)):
                    yield number, kind, text, digest
                case _:
                    raise BadLedger(
                        f"{path.name} is damaged: event {row[0]} is incomplete; restore it from a "
                        "copy."
                    )
    except UNREADABLE as error:
        raise failure(error, path) from None


def _read(connection: sqlite3.Connection, path: Path, *, verified: bool) -> tuple[Event, ...]:
    def load(digest: str) -> FloatArray:
        return load_array(connection, digest, verified=verified)

    try:
        with _no_garbage():
            return tuple(
                Event(number, kind, unpack(text, load), digest.hex())
                for number, kind, text, digest in _rows(connection, path)
            )
    except UNREADABLE as error:
        raise failure(error, path) from None


@contextmanager
def _no_garbage() -> Generator[None, None, None]:
    """Look for no garbage while many objects are made that all stay: that takes half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _verified_tail(connection: sqlite3.Connection, path: Path) -> _Tail:
    """Follow the chain to its end; raise `BadLedger` at the first event that breaks it."""
    digest, last, number = GENESIS, "", 0
    budget: bytes | None = None
    for number, (found, last, text, written) in enumerate(_rows(connection, path), start=1):
        digest = chain(digest, number, last, text)
        if found != number or written.hex() != digest:
            raise BadLedger(
                f"{path.name} was changed after it was written: event {number} does not match its "
                f"digest; `alder audit {path.name}` says more."
            )
        if last in ("configuration", "resume"):
            budget = text
    content = {} if budget is None else unpack(budget, _no_arrays)
    return _Tail(number, last, digest, _budget(content))


def _following(
    tail: _Tail, kind: str, content: Mapping[str, object], packed: Packed, name: str
) -> _Tail:
    """Return the tail after one more event; refuse one that may not follow an end."""
    budget = _budget(content) if kind in ("configuration", "resume") else None
    if tail.kind == "end" and not (
        kind == "resume" and budget is not None and is_larger(budget, tail.budget)
    ):
        raise BadLedger(
            f"{name} is finished: its last event is an end, and only a resume with a larger budget "
            f"may follow; got {kind!r}."
        )
    number = tail.number + 1
    digest = chain(tail.digest, number, kind, packed.text)
    return _Tail(number, kind, digest, tail.budget if budget is None else budget)


def _budget(content: Mapping[str, object]) -> Mapping[str, object] | None:
    budget = content.get("budget")
    return cast("Mapping[str, Any]", budget) if isinstance(budget, Mapping) else None


def _no_arrays(digest: str) -> FloatArray:
    raise BadLedger(f"A budget holds no array; got one ({digest[:12]}).")
