"""What tests of sandboxes share: when they can run, and how to look for what was left behind."""

import os
import shutil
from pathlib import Path

import pytest

PYTHON = "/usr/bin/python3"

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="coding agents run in bubblewrap: apt install bubblewrap"
)
needs_git = pytest.mark.skipif(
    shutil.which("git") is None, reason="Git looks at the repository of a case: apt install git"
)
needs_python_inside = pytest.mark.skipif(
    not Path(PYTHON).exists(), reason=f"the scripted agent runs in {PYTHON}: apt install python3"
)


def processes_with(word: str) -> list[int]:
    """Return the processes, but for this one, that have a word in their command line."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line:
                found.append(int(entry.name))
    return found


def cases_left() -> set[str]:
    """Return the case folders that stand in the folder for temporary files."""
    import tempfile

    return {path.name for path in Path(tempfile.gettempdir()).glob("alder-case-*")}
