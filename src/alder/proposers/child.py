"""A Python process of ours: with our import path, without keys, and gone when we are."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

_GRACE_S = 5.0
_KEPT = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT",
    "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip


def start_child(
    module: str, words: Sequence[str] = (), errors: IO[bytes] | int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """Run a module of Alder, with pipes to its standard input and output.

    It ends when its standard input does, and so with whoever started it. The keys that may be
    around us are not in its environment.
    """
    import alder

    home = str(Path(str(alder.__file__)).parents[1])
    path = [entry for entry in sys.path if entry]
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*path, home]))
    environment["OMP_NUM_THREADS"] = "1"
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        start_new_session=True,  # Ctrl-C is for the harness
    )


def stop_child(process: "subprocess.Popen[bytes]") -> None:
    """Close the pipes, which ends the process, and make sure that it did."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    finally:  # also where a second Ctrl-C ends the wait
        process.kill()
        process.wait()
