"""The runnable blocks of a Markdown page, and how each is run.

A ```python block is executed, all of a page in one name space; one with `>>>` is a doctest. In a
```console block each line that begins with `$ ` is run, and the lines below it, if any, are the
output it must print, where `...` stands for any text and a line `...` for any lines. A block with
`title="name"` is a file, written before what follows. Other blocks are only shown.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

SOURCE = Path(__file__).parents[2] / "src"

_FENCE = re.compile(
    r"^(?P<fence>```+) *(?P<header>[^\n`]*)\n(?P<body>.*?)^(?P=fence) *$", re.M | re.S
)
_TITLE = re.compile(r'title="([^"]+)"')

# What a page shows for misuse, and for a law refused or found not to hold, begins with its mark.
_STATUS = {"error": 2, "●": 3}

# In a page, `alder` is the Alder under test, whatever else is on the path.
_PRELUDE = """set -euo pipefail
alder() { "$ALDER_PYTHON" -m alder "$@"; }
python() { "$ALDER_PYTHON" "$@"; }
"""


@final
@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file it is, if any, its text and its line in the page."""

    language: str
    title: str | None
    text: str
    line: int


@final
@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block and the output shown below it; None where none is shown."""

    words: str
    expected: str | None


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    for match in _FENCE.finditer(page):
        header = match["header"].strip()
        title = _TITLE.search(header)
        line = page.count("\n", 0, match.start()) + 1
        yield Block(header.partition(" ")[0], title[1] if title else None, match["body"], line)


def commands(console: str) -> Iterator[Command]:
    """Split a console block into its commands; a trailing backslash continues one."""
    for part in re.split(r"^\$ ", console, flags=re.M)[1:]:
        lines = part.splitlines()
        n = 1 + next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        expected = "\n".join(lines[n:]).strip("\n")
        yield Command("\n".join(lines[:n]), expected if expected.strip() else None)


def matches(expected: str, shown: str) -> bool:
    """Say whether the output is the expected one, up to spaces and `...`.

    >>> matches("k  ...  2.39", "k strength 2.39"), matches("k", "k 2")
    (True, False)
    """
    pattern = r"\s+".join(
        ".*".join(re.escape(piece) for piece in word.split("...")) for word in expected.split()
    )
    # A wildcard that stands alone may also stand for nothing.
    pattern = pattern.replace(r".*\s+", r"(?:.*\s+)?").replace(r"\s+.*", r"(?:\s+.*)?")
    return re.fullmatch(pattern, shown.strip(), re.S) is not None


def run_page(page: str, folder: Path) -> None:
    """Run every runnable block of a page in a folder; raise AssertionError where one misbehaves."""
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.title is not None:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            _run_python(block, names)
        elif block.language == "console":
            for command in commands(block.text):
                _run_command(command, folder, block.line)


def _run_python(block: Block, names: dict[str, object]) -> None:
    if ">>> " not in block.text:
        code = compile("\n" * block.line + block.text, "<page>", "exec")
        exec(code, names)  # noqa: S102 (the pages are ours, and running them is the test)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, "page", None, block.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)
    names.update(test.globs)


def _run_command(command: Command, folder: Path, line: int) -> None:
    environment = {
        **os.environ,
        "ALDER_PYTHON": sys.executable,
        "PYTHONPATH": str(SOURCE),
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    ran = subprocess.run(
        ["bash", "-c", _PRELUDE + command.words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    shown = f"line {line}: $ {command.words}\n{ran.stdout}"
    first = (command.expected or "").lstrip()
    status = next((n for word, n in _STATUS.items() if first.startswith(word)), 0)
    assert ran.returncode == status, f"exit status {ran.returncode}, not {status}, at {shown}"
    if command.expected is not None:
        assert matches(command.expected, ran.stdout), f"{shown}\nThe page says:\n{command.expected}"
