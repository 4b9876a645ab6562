"""Start a command in bubblewrap: it waits until its limits are set, and ends with its handle.

Nothing runs before all that confines it stands; whatever way a block ends, every process of the
command is gone after it.
"""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, final

from alder.errors import SandboxFailed
from alder.proposers.jail import View, bubblewrap_arguments, require_bubblewrap
from alder.proposers.seccomp import program, require_known_machine

# Root is exempt from limits on processes, so a sandbox started by root runs as a user that owns
# nothing; 64123 lies above what systems assign and below the reserved 65534.
_NOBODY = 64123
_KEPT = 64 * 1024  # of what a command prints, its last words are kept
_SETUP_S, _GRACE_S = 20.0, 20.0
_PRLIMIT = "/usr/bin/prlimit"
_PIPE = 60 * 1024  # what fits into a pipe before anybody reads


@final
@dataclass(frozen=True, slots=True)
class Allowance:
    """What a command may use; beyond it, it is ended.

    Memory and processor time are those of all its processes together; `file_bytes` is for one
    file, `folder_bytes` and `n_entries` for the case folder.
    """

    seconds: float = 900.0
    cpu_seconds: float = 900.0
    memory: int = 4 * 2**30
    processes: int = 128
    file_bytes: int = 16 * 2**20
    folder_bytes: int = 64 * 2**20
    n_entries: int = 10_000
    tmp_bytes: int = 256 * 2**20
    output_bytes: int = 16 * 2**20


def sandbox_owner() -> tuple[int, int] | None:
    """Return who must own what a command may write to; None where that is us."""
    return (_NOBODY, _NOBODY) if os.geteuid() == 0 else None


@final
@dataclass(slots=True)
class Running:
    """A sandbox: bubblewrap outside, and the first process inside with a handle to kill it by."""

    outside: "subprocess.Popen[bytes]"
    first: int
    handle: int
    told: int
    printed: dict[str, bytearray] = field(default_factory=dict[str, bytearray])
    n_printed: int = 0

    def end(self) -> None:
        """Kill every process inside, and wait until the last is gone."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        # The first process of a tree is gone only after all others are.
        gone = select.select([self.handle], [], [], _GRACE_S)[0]
        self.outside.kill()
        self.outside.wait()
        if not gone:
            raise SandboxFailed(
                f"Process {self.first} of a sandbox could not be ended; end it before going on."
            )

    def take(self, name: str, pipe: IO[bytes]) -> bool:
        """Read what was printed; say whether more may come."""
        part = os.read(pipe.fileno(), _KEPT)
        self.n_printed += len(part)
        kept = self.printed.setdefault(name, bytearray())
        kept += part
        del kept[:-_KEPT]
        return bool(part)


@contextmanager
def started(
    command: Sequence[str], view: View, limits: Allowance, words: bytes
) -> Generator[Running]:
    """Start a command that waits, limit it, and let it go; at the end nothing of it is left.

    Raises `SandboxFailed` where it cannot be confined.
    """
    bubblewrap = require_bubblewrap()
    require_known_machine()
    if not Path(_PRLIMIT).exists():
        raise SandboxFailed(f"{_PRLIMIT} sets the limits of a sandbox: install util-linux.")
    arguments = "\0".join(bubblewrap_arguments(view, limits.tmp_bytes)).encode()
    with ExitStack() as ours, ExitStack() as theirs:
        asked, filters, spoken = (
            _filled(theirs, content) for content in (arguments, program(), words)
        )
        told, tell = _pipe(ours, theirs)
        wait, go = _pipe(theirs, ours)
        inside = [*_limits(limits), *command]
        flags = [
            "--args",
            asked,
            "--seccomp",
            filters,
            "--json-status-fd",
            tell,
            "--block-fd",
            wait,
        ]
        outside = ours.enter_context(
            _popen(
                [bubblewrap, *map(str, flags), "--", *inside], (asked, filters, tell, wait), spoken
            )
        )
        theirs.close()
        ours.callback(outside.kill)
        first = _first_process(told, outside)
        handle = _handle_of_child(first, outside)
        ours.callback(os.close, handle)
        running = Running(outside, first, handle, told)
        ours.callback(running.end)
        with suppress(BrokenPipeError):  # it failed meanwhile, which its end will tell
            os.write(go, b"!")
        yield running


def _popen(
    words: Sequence[str], passed: Sequence[int], standard_input: int
) -> "subprocess.Popen[bytes]":
    owner = sandbox_owner()
    user, group = (None, None) if owner is None else owner
    try:
        return subprocess.Popen(
            words, stdin=standard_input, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            pass_fds=passed, env={}, cwd="/", start_new_session=True, bufsize=0,
            user=user, group=group, extra_groups=None if owner is None else [],
        )  # fmt: skip
    except OSError as error:
        raise SandboxFailed(f"The sandbox could not be started: {error.strerror}.") from None


def _filled(stack: ExitStack, content: bytes) -> int:
    """Return the end of a pipe from which these bytes can be read."""
    if len(content) > _PIPE:
        raise SandboxFailed(f"{len(content)} bytes are too many to hand to a sandbox.")
    reading, writing = os.pipe()
    stack.callback(os.close, reading)
    os.write(writing, content)
    os.close(writing)
    return reading


def _pipe(readers: ExitStack, writers: ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    readers.callback(os.close, reading)
    writers.callback(os.close, writing)
    return reading, writing


def _first_process(told: int, outside: "subprocess.Popen[bytes]") -> int:
    """Wait until bubblewrap says which process is the first inside."""
    said, deadline = b"", time.monotonic() + _SETUP_S
    while b"}" not in said:
        left = max(0.0, deadline - time.monotonic())
        part = os.read(told, 4096) if select.select([told], [], [], left)[0] else b""
        if not part:
            outside.kill()
            assert outside.stderr is not None
            raise unmade(outside.stderr.read(_KEPT))
        said += part
    return int(json.loads(said)["child-pid"])


def _handle_of_child(pid: int, outside: "subprocess.Popen[bytes]") -> int:
    """Return a handle of bubblewrap's child, and of no stranger that has its number by now."""
    assert outside.stderr is not None
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        raise unmade(outside.stderr.read(_KEPT)) from None
    try:
        parent = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1]
    except (FileNotFoundError, ProcessLookupError):
        parent = b""
    if parent != str(outside.pid).encode():
        os.close(handle)
        raise unmade(outside.stderr.read(_KEPT))
    return handle


def unmade(errors: bytes) -> SandboxFailed:
    """Return the error of a sandbox that could not be made, with what bubblewrap said."""
    why = errors.decode("utf-8", "replace").strip()
    return SandboxFailed(
        f"The sandbox could not be made ({why or 'bubblewrap said nothing'}); see whether "
        "`bwrap --unshare-all --ro-bind / / true` works on this computer."
    )


def _limits(allowance: Allowance) -> list[str]:
    """Return the words that limit what follows them, and all that it starts.

    They are run inside: a limit on processes then counts those of the sandbox alone, and not what
    else its user runs. Without privileges nobody can raise them again.
    """
    most = {
        "data": allowance.memory,
        "cpu": max(1, round(allowance.cpu_seconds)),
        "fsize": allowance.file_bytes,
        "nproc": allowance.processes,
        "nofile": 1024,
        "core": 0,
        "memlock": 0,
        "msgqueue": 0,
    }
    return [_PRLIMIT, *(f"--{name}={value}:{value}" for name, value in most.items()), "--"]
