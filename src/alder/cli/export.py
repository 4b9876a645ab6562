"""`alder export`: a saved law for another program."""

from pathlib import Path
from typing import Annotated

import typer

from alder.cli.layout import show_lines, terminal

_NEXT = {
    "latex": "\\input{{{file}}} in a LaTeX document",
    "sympy": 'python -c "import {stem}; print({stem}.law)"',
    "python": 'python -c "import {stem}; help({stem}.law)"',
    "c": "cc -std=c99 -O2 -c {file}",
    "jax": 'python -c "import {stem}; help({stem}.law)"',
}


def command(
    law: Annotated[Path, typer.Argument(metavar="LAW.JSON", help="A saved law.")],
    *,
    to: Annotated[str, typer.Option(help="latex, sympy, python, c or jax.")],
    out: Annotated[
        Path | None, typer.Option(help="Write to this file or folder instead of the screen.")
    ] = None,
) -> None:
    """Example: alder export law.json --to c --out law.c

    C comes as a source file and a header of the same name. Every export except LaTeX carries a
    guard that says whether a row lies where the law was fitted.
    """
    from alder.export.formats import export
    from alder.records.law import Law

    files = export(Law.load(law), to)  # type: ignore[arg-type]  # export refuses other words
    if out is None:
        for text in files.values():
            print(text, end="")
        return
    written = _write(dict(files), out)
    last = written[-1]
    following = _NEXT[to].format(file=last.name, stem=last.stem)
    saved = ", ".join(path.name for path in written)
    show_lines(terminal(), {"saved": saved, "next": following})


def _write(files: dict[str, str], out: Path) -> list[Path]:
    """Write into a folder under the usual names, or beside `out` under its name."""
    written: list[Path] = []
    for name, text in files.items():
        path = out / name if out.is_dir() else out.with_suffix(Path(name).suffix)
        if not out.is_dir() and len(files) == 1:
            path = out
        text = text.replace('#include "law.h"', f'#include "{path.with_suffix(".h").name}"')
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
