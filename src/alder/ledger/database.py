"""The SQLite file behind a ledger: how it is opened, made, upgraded, and what can be wrong with it.

The file names itself by SQLite's application id; the schema version is SQLite's user version. An
upgrade changes how events are stored, never what they say, so digests stay as they are.
"""

import os
import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from alder.errors import BadLedger

APPLICATION_ID = int.from_bytes(b"Aldr", "big")
SCHEMA_VERSION = 1

# A reader may hold the file for a moment while a writer opens it; seconds.
_PATIENCE = 10.0

_EVENTS = """CREATE TABLE events (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, content BLOB NOT NULL, digest BLOB NOT NULL
) STRICT"""
_ARRAYS = """CREATE TABLE arrays (
    digest BLOB NOT NULL, part INTEGER NOT NULL, coding TEXT NOT NULL, bytes BLOB NOT NULL
) STRICT"""
_ARRAYS_INDEX = "CREATE UNIQUE INDEX arrays_by_digest ON arrays (digest, part)"


def _keep_arrays_apart(connection: sqlite3.Connection) -> None:
    """Version 0 had short columns only, inside the events."""
    connection.execute(_ARRAYS)
    connection.execute(_ARRAYS_INDEX)


UPGRADES: Mapping[int, Callable[[sqlite3.Connection], None]] = {0: _keep_arrays_apart}
"""What turns a file of each older version into one of the next."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open or make a ledger, upgrade an older one, and make every commit durable."""
    is_there = path.exists()
    with _one_sentence(path):
        connection = sqlite3.connect(
            path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            version = _version(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            if version is None:
                _create(connection)
            else:
                _upgrade(connection, version)
        except BaseException:
            connection.close()
            raise
    if not is_there:
        _keep_name(path.parent)
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open an existing ledger that another process may be writing; it is never changed.

    A file of an older version is upgraded in memory.
    """
    if not path.is_file():
        raise BadLedger(f"There is no ledger {path.name}; `alder discover` makes one.")
    with _one_sentence(path):
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro", uri=True, timeout=_PATIENCE, isolation_level=None
        )
        try:
            version = _version(connection, path)
            if version is None:
                raise BadLedger(f"{path.name} is empty: it is no ledger yet.")
            return connection if version == SCHEMA_VERSION else _upgraded(connection, version)
        except BaseException:
            connection.close()
            raise


def close(connection: sqlite3.Connection) -> None:
    """Close a ledger that was written; alone, it leaves one plain file that any medium can hold."""
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error:
        pass  # somebody reads, or the disk is full: what is committed is safe beside the file
    finally:
        connection.close()


UNREADABLE = (sqlite3.Error, UnicodeDecodeError, MemoryError)
"""What reading may raise: a damaged schema is no text, a damaged length asks for endless memory."""


def failure(error: Exception, path: Path) -> BadLedger:
    """Say in one sentence what SQLite reports."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_FULL"):
        return BadLedger(
            f"The disk is full: nothing was added to {path.name}, and what it holds is safe; free "
            "some space and go on."
        )
    if name.startswith("SQLITE_NOTADB"):
        return BadLedger(f"{path.name} is not a ledger: it was not written by Alder.")
    if name.startswith("SQLITE_CORRUPT") or not isinstance(error, sqlite3.Error):
        why = f" ({error})" if name else ""
        return BadLedger(
            f"{path.name} is damaged and cannot be read whole{why}; restore it from a copy."
        )
    if name.startswith("SQLITE_BUSY"):
        return BadLedger(f"{path.name} is in use by another program; try again when it is done.")
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
        return BadLedger(
            f"{path.name} cannot be opened ({error}); is it a file in a folder you may use?"
        )
    return BadLedger(f"{path.name} cannot be used: SQLite says {error}.")


@contextmanager
def _one_sentence(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except UNREADABLE as error:
        raise failure(error, path) from None


def _version(connection: sqlite3.Connection, path: Path) -> int | None:
    """Return the schema version, None for an empty file; refuse what is no ledger of ours."""
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if mark != APPLICATION_ID:
        if mark == 0 and n_tables == 0:
            return None
        raise BadLedger(f"{path.name} is a database of another program, not a ledger.")
    if not 0 <= version <= SCHEMA_VERSION:
        raise BadLedger(
            f"{path.name} was written by a newer Alder (schema {version}; this one reads up to "
            f"{SCHEMA_VERSION}); upgrade Alder to open it."
        )
    return version


def _create(connection: sqlite3.Connection) -> None:
    with _transaction(connection):
        for statement in (_EVENTS, _ARRAYS, _ARRAYS_INDEX):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _upgrade(connection: sqlite3.Connection, version: int) -> None:
    if version == SCHEMA_VERSION:
        return
    with _transaction(connection):
        for older in range(version, SCHEMA_VERSION):
            UPGRADES[older](connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _upgraded(connection: sqlite3.Connection, version: int) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(copy)
    connection.close()
    _upgrade(copy, version)
    return copy


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None, None, None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _keep_name(folder: Path) -> None:
    """Make the name of a new file survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
