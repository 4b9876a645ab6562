"""Read `proposal.json` from a folder that somebody hostile has written to.

Nothing but a plain file of its own, of bounded size, that nobody changes meanwhile is read; for
everything else one sentence says what was found in its place.
"""

import errno
import os
import stat
from pathlib import Path

from alder.checking.decode import MAX_JSON
from alder.records.problem import Problem

NAME = "proposal.json"

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_proposal_file(folder: Path, name: str = NAME) -> bytes | Problem:
    """Return what the file holds, or why it is not read."""
    try:
        inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return _problem(f"The case folder cannot be opened: {error.strerror}.")
    try:
        return _read(inside, name)
    except OSError as error:
        return _unopened(inside, name, error)
    finally:
        os.close(inside)


def _read(inside: int, name: str) -> bytes | Problem:
    # Without O_NONBLOCK a pipe would be waited for; with O_NOFOLLOW a link is an error.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    handle = os.open(name, flags, dir_fd=inside)
    try:
        before = os.fstat(handle)
        refusal = _refusal(before, name)
        if refusal is not None:
            return refusal
        content = os.read(handle, MAX_JSON + 1)
        after = os.fstat(handle)
    finally:
        os.close(handle)
    if len(content) > MAX_JSON:
        return _too_long(name, len(content))
    if len(content) != before.st_size or _trace(before) != _trace(after):
        return _problem(f"{name} changed while it was read; write it whole, and then end.")
    return content


def _refusal(found: os.stat_result, name: str) -> Problem | None:
    if not stat.S_ISREG(found.st_mode):
        return _problem(f"{name} is {_kind(found.st_mode)}; a plain file was expected.")
    if found.st_nlink != 1:
        return _problem(
            f"{name} has {found.st_nlink} names (hard links); a file of one was expected."
        )
    return _too_long(name, found.st_size) if found.st_size > MAX_JSON else None


def _unopened(inside: int, name: str, error: OSError) -> Problem:
    """Say what stands where a file could not be opened."""
    if error.errno == errno.ENOENT:
        return _problem(f"{name} was not written.")
    try:
        mode = os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode
    except OSError:
        mode = stat.S_IFREG
    if stat.S_ISREG(mode):
        return _problem(f"{name} cannot be read: {error.strerror}.")
    return _problem(f"{name} is {_kind(mode)}; a plain file was expected.")


def _kind(mode: int) -> str:
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "no file")


def _trace(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _too_long(name: str, length: int) -> Problem:
    return _problem(f"{name} holds {length} bytes; at most {MAX_JSON} are read.")


def _problem(sentence: str) -> Problem:
    return Problem("no-proposal", "", sentence)
