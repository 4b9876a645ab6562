"""How a study ended, in the terminal: the law with what is known of it, or the refusal."""

import math
import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from alder.cli.front import show_front
from alder.cli.layout import number, scope_words, show_coefficients, show_lines, with_unit

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.budget import Budget, Spent
    from alder.records.law import Law
    from alder.records.outcome import Outcome, Refusal

REFUSED = 3

# The words in front are at most six letters.
_COLUMN = 8


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """What is said around an outcome: the budget in force, files written, and the next command."""

    budget: "Budget"
    ledger: Path | None
    saved: Sequence[str] = ()
    following: Sequence[str] = ()


def show_outcome(console: "Console", outcome: "Outcome", ending: Ending) -> None:
    """Print the law or the refusal, the front, then budget, files and the next command."""
    if outcome.law is not None:
        _show_law(console, outcome, outcome.law)
    else:
        _show_refusal(console, outcome)
    show_front(console, outcome.front, outcome.law)
    lines = {"budget": budget_words(outcome.spent, ending.budget)}
    if ending.saved:
        lines["saved"] = "   ".join(ending.saved)
    show_lines(console, lines)
    _show_next(console, ending.following)


def _show_next(console: "Console", commands: Sequence[str]) -> None:
    """Print commands on one line, or below each other: one broken in two cannot be copied."""
    together = "   ·   ".join(commands)
    lines = [together] if len(together) + _COLUMN <= console.width else commands
    for word, line in zip(["next", *[""] * len(lines)], lines, strict=False):
        console.print(f"{word:<{_COLUMN}}{line}", soft_wrap=True)


def _show_law(console: "Console", outcome: "Outcome", law: "Law") -> None:
    from rich.text import Text

    from alder.expr.text import to_text

    names = [variable.name for variable in law.variables]
    equation = f"{law.target.name} = {to_text(law.structure, names)}"
    console.print()
    console.print(Text.assemble(("✓ ADMITTED", "bold green"), f"  {equation}"), soft_wrap=True)
    show_coefficients(console, (*law.coefficients, *law.exponent_estimates))
    tidy = law.tidied()
    written = {"law   ": str(law)} | ({"short ": str(tidy)} if tidy != law else {})
    show_lines(console, {**written, "error ": _error_words(outcome, law)})
    show_lines(console, {"scope ": scope_words(law)})


def _error_words(outcome: "Outcome", law: "Law") -> str:
    """Say the bound with the number of submissions it survives; never a bound without it."""
    from alder.export.heading import noise_words

    verdict = outcome.verdict
    if verdict is None or verdict.bound is None or verdict.confidence is None:
        return f"noise {noise_words(law)}"
    n = verdict.submissions
    bound = with_unit(number(verdict.bound, 2), law.target.unit)
    after = f"after {n} submission{'' if n == 1 else 's'}"
    if verdict.shift_bound is not None:
        bound += f", < {number(verdict.shift_bound, 2)} under shift"
    return (
        f"< {bound} on protected rows ({100.0 * verdict.confidence:.0f} %, {after}); "
        f"noise {noise_words(law)}"
    )


def _show_refusal(console: "Console", outcome: "Outcome") -> None:
    from rich.text import Text

    refusal = outcome.refusal
    assert refusal is not None, "an outcome is a law or a refusal"
    console.print()
    console.print(Text.assemble(("● REFUSED", "bold yellow"), f"  {refusal.cause}\n"))
    sentence = f"{refusal.reason} No law is returned."
    console.print(textwrap.fill(sentence, console.width, break_on_hyphens=False) + "\n")
    _show_rulings(console, refusal)
    lines = {"advice": refusal.advice}
    if outcome.cut_short:
        lines["note  "] = "the guard on seconds ended the study; a faster computer might go on"
    show_lines(console, lines)


def _show_rulings(console: "Console", refusal: "Refusal") -> None:
    """Print what the other causes' tests found: ruled out, not decided, not tested."""
    from alder.report.words import RULINGS

    others = [finding for finding in refusal.findings if finding.ruling != "stands"]
    if not others:
        return
    wide = max(len(finding.cause) for finding in others)
    indent = len("not decided  ")
    for ruling, words in RULINGS.items():
        for i, finding in enumerate(f for f in others if f.ruling == ruling):
            head = f"{'' if i else words:<{indent}}{finding.cause:<{wide}}  "
            room = max(console.width - len(head), 20)
            lines = textwrap.wrap(finding.sentence, room, break_on_hyphens=False)
            below = "\n" + " " * len(head)
            console.print(head + below.join(lines), soft_wrap=True)
    console.print()


def budget_words(spent: "Spent", budget: "Budget") -> str:
    """Say what was used of what; tokens and money where a model used some or a limit was set."""
    parts = [
        f"{spent.proposals}/{budget.proposals} proposals",
        f"{spent.queries}/{budget.queries} experiments",
        f"{spent.fits} fit{'' if spent.fits == 1 else 's'}",
    ]
    if spent.tokens or budget.tokens is not None:
        most = "" if budget.tokens is None else f"/{budget.tokens:,}"
        parts.append(f"{spent.tokens:,}{most} tokens")
    if spent.money or math.isfinite(budget.money):
        most = f"/{budget.money:g}" if math.isfinite(budget.money) else ""
        parts.append(f"{spent.money:.2g}{most} US dollars")
    return "   ".join([*parts, f"{spent.seconds:.1f} s"])


def example_row(law: "Law") -> str:
    """Return a row in the middle of the law's scope, as `alder predict --at` takes it."""
    ends = {v.name: law.scope.ranges[v.name] for v in law.variables if v.name in law.scope.ranges}
    pairs = (f"{name}={(low + high) / 2.0:.3g}" for name, (low, high) in ends.items())
    return " ".join(map(shlex.quote, pairs))


def next_for_law(law: "Law", out: Path, ledger: Path | None) -> list[str]:
    """Name the commands that come after an admission."""
    commands = [f"alder report {shlex.quote(str(ledger))}"] if ledger is not None else []
    row = example_row(law)
    at = f"--at {row}" if row else "rows.csv"
    return [*commands, f"alder predict {shlex.quote(str(out))} {at}"]
