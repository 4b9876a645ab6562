"""Run a command that nobody trusts: in bubblewrap, within limits, and with nothing left behind.

The command has a process tree, a network, a `/tmp` and host names of its own; it sees a read-only
system and one folder. When it ends, or oversteps a limit, the first process of its tree is killed,
and the kernel ends every other one with it. There is no way to run a command without all this.
"""

import os
import selectors
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, final

from alder.proposers.jail import View
from alder.proposers.launch import Allowance, Running, started, unmade
from alder.proposers.usage import is_folder_within, require_countable, usage_of

_POLL_S, _DISK_POLL_S = 0.05, 0.25

How: TypeAlias = Literal["exited", "time", "memory", "cpu", "disk", "output"]


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: by itself with a status, or at a limit. Its last words are kept."""

    how: How
    status: int
    output: bytes = b""
    errors: bytes = b""


class Desk(Protocol):
    """Answers questions of a command while it runs; readable when there is one."""

    def fileno(self) -> int:
        """Return what to wait for."""
        ...

    def serve(self) -> None:
        """Take what has arrived, without waiting."""
        ...


def run_confined(
    command: Sequence[str],
    view: View,
    allowance: Allowance | None = None,
    *,
    words: bytes = b"",
    desk: Desk | None = None,
) -> Ended:
    """Run a command in a sandbox, with some words on its standard input, until it ends.

    Raises `SandboxFailed` where it cannot be confined. No process of it is alive on return.
    """
    require_countable()
    limits = Allowance() if allowance is None else allowance
    with started(command, view, limits, words) as running:
        return _watched(running, view.case, limits, desk)


def _watched(running: Running, case: Path, limits: Allowance, desk: Desk | None) -> Ended:
    """Read what is printed and answer questions until the command ends or oversteps a limit."""
    outside = running.outside
    assert outside.stdout is not None
    assert outside.stderr is not None
    pipes = {"output": outside.stdout, "errors": outside.stderr}
    with selectors.DefaultSelector() as waiting, _handle(outside.pid) as ended:
        waiting.register(ended, selectors.EVENT_READ, "ended")
        for name, pipe in pipes.items():
            waiting.register(pipe, selectors.EVENT_READ, name)
        if desk is not None:
            waiting.register(desk, selectors.EVENT_READ, "desk")
        over = _until_over(waiting, _Watch(running, case, limits, desk))
    running.end()
    if over is None and not is_folder_within(case, limits.folder_bytes, limits.n_entries):
        over = "disk"
    for name, pipe in pipes.items():
        while running.take(name, pipe):
            pass
    output, errors = (bytes(running.printed[name]) for name in ("output", "errors"))
    # Bubblewrap tells an exit status only of a command that it came to start.
    if over is None and b"exit-code" not in os.read(running.told, 4096):
        raise unmade(errors)
    return Ended(over or "exited", outside.returncode, output, errors)


@contextmanager
def _handle(pid: int) -> Generator[int]:
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class _Watch:
    """What is watched while a command runs."""

    running: Running
    case: Path
    limits: Allowance
    desk: Desk | None

    def attend(
        self, keys: Sequence[selectors.SelectorKey], waiting: selectors.BaseSelector
    ) -> None:
        """Take what was printed or asked."""
        for key in keys:
            if key.data == "desk" and self.desk is not None:
                self.desk.serve()
            elif key.data in ("output", "errors"):
                pipe: Any = key.fileobj
                if not self.running.take(key.data, pipe):
                    waiting.unregister(pipe)

    def overstepped(self, seconds: float) -> How | None:
        """Name the limit that was overstepped, if one was, apart from the disk."""
        limits, used = self.limits, usage_of(self.running.first)
        if seconds > limits.seconds:
            return "time"
        if used.memory > limits.memory:
            return "memory"
        if used.cpu_seconds > limits.cpu_seconds:
            return "cpu"
        return "output" if self.running.n_printed > limits.output_bytes else None


def _until_over(waiting: selectors.BaseSelector, watch: _Watch) -> How | None:
    """Wait until the command ends, or name the limit that it overstepped."""
    begin = looked = time.monotonic()
    limits = watch.limits
    while True:
        ready = [key for key, _ in waiting.select(_POLL_S)]
        before = time.monotonic()
        watch.attend(ready, waiting)
        begin += time.monotonic() - before  # what we work for it is not its time
        if any(key.data == "ended" for key in ready):
            return None
        now = time.monotonic()
        over = watch.overstepped(now - begin)
        if over is not None:
            return over
        if now - looked > _DISK_POLL_S:
            looked = now
            if not is_folder_within(watch.case, limits.folder_bytes, limits.n_entries):
                return "disk"
