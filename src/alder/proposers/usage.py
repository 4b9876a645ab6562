"""What a sandbox uses while it runs: memory and processor time of its processes, files on disk."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import final

from alder.errors import SandboxFailed

_TICK = os.sysconf("SC_CLK_TCK")
# Places in /proc/PID/stat, counted from the field after the name, which may hold anything.
_TIMES = slice(11, 15)
# Pages of files are shared by all who map them, and can be dropped; these cannot.
_OWN_MEMORY = re.compile(rb"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """Resident bytes that are no file's, and processor seconds, those of ended children included.

    What forked processes still share is counted for each of them.
    """

    memory: int
    cpu_seconds: float


def require_countable() -> None:
    """Raise `SandboxFailed` where the kernel does not list the children of a process."""
    here = os.getpid()
    if not Path(f"/proc/{here}/task/{here}/children").exists():
        raise SandboxFailed(
            "This kernel does not list children of processes (CONFIG_PROC_CHILDREN), so the memory "
            "of a coding agent cannot be limited; run agents on a kernel that does."
        )


def usage_of(root: int) -> Usage:
    """Add up a process and all below it; orphans of a sandbox are children of its first process."""
    kilobytes, ticks, left = 0, 0, [root]
    while left:
        pid = left.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            status = Path(f"/proc/{pid}/status").read_bytes()
            left += _children(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
        kilobytes += sum(map(int, _OWN_MEMORY.findall(status)))
        ticks += sum(map(int, fields[_TIMES]))
    return Usage(1024 * kilobytes, ticks / _TICK)


def _children(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_bytes().split()
    ]


def is_folder_within(folder: Path, n_bytes: int, n_entries: int) -> bool:
    """Say whether a folder holds no more than this.

    What cannot be looked into, because the command closed it or nested it beyond the longest path,
    counts as too much. Links are not followed.
    """
    seen, size, left = 0, 0, [str(folder)]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > n_entries:
                        return False
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    else:
                        size += _size(entry)
        except (FileNotFoundError, NotADirectoryError):
            continue  # moved while we looked
        except OSError:
            return False
    return size <= n_bytes


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except FileNotFoundError:
        return 0
