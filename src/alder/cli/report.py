"""`alder report`: one self-contained page from a ledger."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from alder.cli.layout import show_lines, terminal


def command(
    ledger: Annotated[Path, typer.Argument(metavar="RUN.ALDER", help="The ledger of a study.")],
    *,
    out: Annotated[Path, typer.Option(help="Where the page is written.")] = Path("report.html"),
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Example: alder report run.alder --out report.html

    Writes one page that needs no network: the verdict, the law with its intervals and scope, the
    experiments that decided between its rivals, or why no law is returned. The same ledger gives
    the same page, byte for byte. Protected rows are not on it.
    """
    from alder.ledger.store import read_events
    from alder.report.page import render

    page = render(read_events(ledger))
    out.write_text(page, encoding="utf-8", newline="\n")
    if show:
        import webbrowser

        webbrowser.open(out.resolve().as_uri())
    name = shlex.quote(ledger.name)
    show_lines(
        terminal(),
        {
            "saved": f"{out.name}  {len(page.encode()) / 1000.0:.0f} kB",
            "next": f"alder audit {name}   ·   alder show {name}",
        },
    )
