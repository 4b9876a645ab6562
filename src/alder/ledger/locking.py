"""One writer per ledger: a lock on a file beside it, released even by a killed process."""

import fcntl
import os
from pathlib import Path

from alder.errors import BadLedger


def acquire(path: Path, ledger: str) -> int:
    """Take the lock and return its handle; raise `BadLedger` where another process has it.

    The operating system drops the lock with the process, whatever ended it. The file holds the
    number of the process, for the sentence the loser prints.
    """
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise BadLedger(
                f"{ledger} cannot be opened for writing: {error.strerror}; name a file in a "
                "folder you may write to."
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(handle, 20).decode("ascii", "replace").strip() or "unknown"
            os.close(handle)
            raise BadLedger(
                f"{ledger} is being written by another process ({holder}); a ledger has one "
                "writer: wait until it ends, or name another ledger."
            ) from None
        if _is_still(path, handle):
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
            return handle
        os.close(handle)


def release(path: Path, handle: int) -> None:
    """Give the lock back; the file is removed while it is still held, so that nobody shares it."""
    path.unlink(missing_ok=True)
    os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    """Say whether the locked file is the one of that name: its last owner may have removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
