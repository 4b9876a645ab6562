"""The front in the terminal: for each size the most accurate law, one line each."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from alder.cli.layout import number, shortened

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.front import FrontLaw
    from alder.records.law import Law

# A longer table hides what matters; the report has them all.
MOST = 8
# The longest word in front is `submitted`.
_COLUMN = 11
_OFF = "the admitted law is not among them: one no larger leaves less"
# Wider lines are hard to compare, and do not fit every terminal.
_WIDTH = 80


def show_front(console: "Console", front: "Sequence[FrontLaw]", law: "Law | None" = None) -> None:
    """Print size, error on public rows and law, with what became of those that were submitted.

    A front of one law compares nothing, and is not printed. Where the admitted law is not on the
    front, a sentence says so.
    """
    if len(front) < 2:
        return
    shown = _telling(front)
    unit = front[0].law.target.unit
    title = "error" if unit in (None, "1") else f"error, {unit}"
    errors = [number(one.error) for one in shown]
    wide = max(map(len, [title, *errors]))
    width = min(console.width, _WIDTH)
    console.print(f"\n{'front':<{_COLUMN}}nodes  {title:>{wide}}  law", soft_wrap=True)
    for one, error in zip(shown, errors, strict=True):
        word = "" if one.standing == "open" else one.standing
        head = f"{word:<{_COLUMN}}{one.nodes:>5}  {error:>{wide}}  "
        style = "green" if one.standing == "admitted" else ""
        words = head + shortened(one.text, width - len(head))
        console.print(words, style=style, soft_wrap=True)
    if len(front) > len(shown):
        console.print(f"{'':<{_COLUMN}}and {len(front) - len(shown)} more; the report has them all")
    if law is not None and all(one.standing != "admitted" for one in front):
        console.print(f"{'':<{_COLUMN}}{_OFF}")
    console.print()


def _telling(front: "Sequence[FrontLaw]") -> "list[FrontLaw]":
    """Keep the smallest law, those that were submitted, and those that gain most for their size."""
    gains = [math.inf] + [
        math.log(before.error / one.error) / (one.nodes - before.nodes)
        for before, one in pairwise(front)
    ]
    ranks = [(one.standing != "open", gain) for one, gain in zip(front, gains, strict=True)]
    kept = sorted(range(len(front)), key=lambda i: ranks[i], reverse=True)[:MOST]
    return [front[i] for i in sorted(kept)]
