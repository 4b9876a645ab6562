"""`alder show`: the rounds of a study as text, and how it ended."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from alder.cli.front import show_front
from alder.cli.layout import show_lines, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from alder.ledger.events import Replayed
    from alder.ports import Event


def command(
    ledger: Annotated[Path, typer.Argument(metavar="RUN.ALDER", help="The ledger of a study.")],
    *,
    events: Annotated[
        bool, typer.Option("--events", help="List the events instead, one a line.")
    ] = False,
) -> None:
    """Example: alder show run.alder

    Prints each round (what was submitted, what the verifier answered, what the telling experiment
    showed), then the law with its intervals, or the refusal, and the front of accuracy against
    size. A study that runs can be looked at.
    Exit status: 0 admitted or still running, 3 refused.
    """
    from alder.ledger.store import read_events

    found = read_events(ledger)
    console = terminal()
    if events:
        _list(console, found, ledger)
        return
    state = _rounds(console, found)
    following = f"alder report {shlex.quote(ledger.name)}"
    if state.end is None:
        _running(console, state, following)
        return
    from alder.cli.verdict import REFUSED, Ending, show_outcome

    assert state.budget is not None, "a study that ended had a budget"
    show_outcome(console, state.end, Ending(state.budget, ledger, following=(following,)))
    if state.end.law is None:
        raise typer.Exit(REFUSED)


def _rounds(console: "Console", events: "Sequence[Event]") -> "Replayed":
    """Print the rounds as while the study ran, with misses in the noise that is known now."""
    from alder.cli.progress import Progress
    from alder.errors import BadLedger
    from alder.ledger.events import Replayed, Replaying, replay
    from alder.report.measure import yardstick
    from alder.report.story import judging_law

    final = replay(events)
    judge = judging_law(final)
    unit = None if judge is None or final.evidence is None else yardstick(judge, final.evidence)
    progress = Progress(console, keeps="", unit=unit)
    replaying, state = Replaying(Replayed()), Replayed()
    for event in events:
        replaying.add(event)
        state = replaying.freeze()
        progress(event.kind, state)
    if state.evidence is None:
        raise BadLedger("The ledger holds no study yet: it has no configuration and no first rows.")
    return state


def _running(console: "Console", state: "Replayed", following: str) -> None:
    from alder.cli.verdict import budget_words

    spent, budget = state.spent, state.budget
    assert budget is not None, "a study with rows has a budget"
    console.print("\n… STILL RUNNING\n")
    show_front(console, state.front)
    lines = {
        "budget": budget_words(spent, budget),
        "next": following,
    }
    if state.pending:
        waiting = ", ".join(choice.experiment.id for choice in state.pending)
        lines = {"waits": f"for {len(state.pending)} experiments: {waiting}", **lines}
    show_lines(console, lines)


def _list(console: "Console", events: "Sequence[Event]", ledger: Path) -> None:
    for event in events:
        console.print(
            f"{event.number:>5}  {event.digest[:12]}  {event.kind:<14}{_gist(event)}".rstrip(),
            soft_wrap=True,
        )
    show_lines(console, {"next": f"alder audit {shlex.quote(ledger.name)}"})


def _gist(event: "Event") -> str:
    """Say in a few words what an event holds."""
    from alder.ledger.coding import choice_from_json

    content = event.content
    match event.kind:
        case "choice":
            return f"experiment {choice_from_json(content).experiment.id}"
        case "outcome" | "failed" | "abandoned":
            return f"experiment {content.get('experiment')}"
        case "verdict":
            return cast("dict[str, str]", content["verdict"])["category"]
        case "end":
            return "law" if content.get("law") is not None else "refusal"
        case "charge":
            used = {k: v for k, v in content.items() if isinstance(v, int | float) and v}
            return "  ".join(f"{k} {v:.3g}" for k, v in used.items())
        case _:
            return ""
