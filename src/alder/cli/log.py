"""`alder discover` for logs: equations of motion from sampled states and inputs."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast, final

import typer

from alder.cli.layout import number, read_pairs, show_lines
from alder.errors import BadParameter, BadTable

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.outcome import Refusal
    from alder.records.statesoutcome import StatesOutcome
    from alder.tables import Rows, Table

_FILE = "log file"
"""The column that tells several files apart."""


@final
@dataclass(frozen=True, slots=True)
class LogOptions:
    """What was asked of a log, as it was typed."""

    states: str
    inputs: str | None
    time: str | None
    group: str | None
    known: Sequence[str]
    conserved: Sequence[str]
    mirrored: str | None
    discrete: bool


def discover_log(console: "Console", files: Sequence[Path], options: LogOptions, out: Path) -> None:
    """Find, admit and save the equations of motion of a log; leave with 3 where refused."""
    from alder.cli.verdict import REFUSED
    from alder.kernel.solver import announce
    from alder.study.states import discover_states
    from alder.tables import column_names

    states, inputs = _names(options.states), _names(options.inputs or "")
    rows, group = _read(files, options.group, options.time or "t")
    announce(console.print)
    with console.status("reading the log") as status:
        outcome = discover_states(
            rows,
            states=states,
            time=options.time or "t",
            inputs=inputs,
            group=group,
            known=read_pairs("--known", options.known, "x=v"),
            conserved=options.conserved,
            mirrored=_names(options.mirrored or ""),
            discrete=options.discrete,
            watch=status.update,
        )
    if outcome.refusal is not None:
        used = {*states, *inputs, options.time or "t", group, _FILE}
        unused = [name for name in column_names(rows) if name not in used]
        _show_refusal(console, outcome, outcome.refusal, unused)
        raise typer.Exit(REFUSED)
    _show_laws(console, outcome)
    saved = _save(outcome, out)
    show_lines(console, {"saved ": "   ".join(saved)})


def refuse_for_rows(options: Mapping[str, object]) -> None:
    """Refuse options that say nothing of a log: none is left aside in silence."""
    given = next((name for name, value in options.items() if value not in (None, [])), None)
    if given is not None:
        raise BadParameter(
            f"--{given} is not for logs, whose rates are sought for the states in --state; leave "
            "it out."
        )


def _names(words: str) -> list[str]:
    return [name.strip() for name in words.split(",") if name.strip()]


def _read(files: Sequence[Path], group: str | None, time: str) -> "tuple[Rows, str | None]":
    """Read one file or several; several are told apart, and trajectories inside them too."""
    from alder.studyfile.files import join_tables
    from alder.tables import read_csv

    tables = [read_csv(path) for path in files]
    if len(tables) == 1:
        return tables[0], group
    labels = [
        f"{k} {label}" for k, table in enumerate(tables) for label in _inside(table, group, time)
    ]
    return {**_columns(join_tables(tables)), _FILE: labels}, _FILE


def _inside(table: "Table", group: str | None, time: str) -> "Sequence[object]":
    """Tell the trajectories of one file apart: by its groups, or where its time goes back."""
    import numpy as np

    from alder.tables import as_columns, as_labels, column_names, count_rows

    there = column_names(table)
    if group is not None:
        if group not in there:
            raise BadTable(f"{table.name} has no column `{group}`, which tells trajectories apart.")
        return as_labels(table, group)
    if time not in there:
        return [0] * count_rows(table)
    back = np.diff(as_columns(table, [time])[time]) < 0.0
    return [0, *np.cumsum(back).tolist()]


def _columns(rows: "Rows") -> "dict[str, object]":
    """Return joined tables as the mapping they are."""
    return dict(cast("Mapping[str, object]", rows))


def _show_laws(console: "Console", outcome: "StatesOutcome") -> None:
    from rich.text import Text

    lines = (
        str(outcome.dynamics).splitlines()
        if outcome.dynamics is not None
        else [str(law) for law in outcome.laws.values()]
    )
    console.print()
    console.print(Text.assemble(("✓ ADMITTED", "bold green"), f"  {lines[0]}"), soft_wrap=True)
    for line in lines[1:]:
        console.print(f"            {line}", soft_wrap=True, markup=False)
    for line in _short(outcome):
        console.print(f"short       {line}", soft_wrap=True, markup=False)
    console.print()
    show_lines(console, _facts(outcome))


def _short(outcome: "StatesOutcome") -> list[str]:
    """Return the laws that have short numbers in them when tidied."""
    return [str(law.tidied()) for law in outcome.laws.values() if law.tidied() != law]


def _facts(outcome: "StatesOutcome") -> dict[str, str]:
    noise = ", ".join(f"{name} {number(value)}" for name, value in outcome.noise.items())
    error = ", ".join(f"{name} {number(value)}" for name, value in outcome.error.items())
    facts = {
        "read  ": _read_words(outcome),
        "scope ": _scope_words(outcome),
        "error ": f"{error} (rms) along {outcome.n_held_back} held-back samples, "
        f"{number(outcome.horizon)} at most from a start",
        "noise ": noise,
        "fitted": f"by {outcome.route}, chosen on validation trajectories",
    }
    if outcome.delay > 0.0:
        facts["delay "] = f"{number(outcome.delay)} from the inputs to their effect"
    if outcome.shared:
        facts["shared"] = " ".join(outcome.shared)
    return facts


def _scope_words(outcome: "StatesOutcome") -> str:
    """Say within which values the equations were admitted, of all that they read."""
    ranges = {k: ends for law in outcome.laws.values() for k, ends in law.scope.ranges.items()}
    return "   ".join(f"{name} {number(a)} to {number(b)}" for name, (a, b) in ranges.items())


def _read_words(outcome: "StatesOutcome") -> str:
    n = outcome.n_trajectories
    return f"{outcome.n_samples} samples in {n} {'trajectory' if n == 1 else 'trajectories'}"


def _show_refusal(
    console: "Console", outcome: "StatesOutcome", refusal: "Refusal", unused: Sequence[str]
) -> None:
    from rich.text import Text

    console.print()
    console.print(Text.assemble(("● REFUSED", "bold yellow"), f"  {refusal.cause}\n"))
    sentence = f"{refusal.reason} No law is returned."
    console.print(
        textwrap.fill(sentence, console.width, break_on_hyphens=False) + "\n", markup=False
    )
    for law in outcome.laws.values():
        console.print(f"not admitted: {law}", soft_wrap=True, markup=False)
    lines = {"advice": refusal.advice, "read  ": _read_words(outcome)}
    if unused:
        lines["unused"] = (
            f"{', '.join(unused)}: a column of the log that acts on the system is an --input"
        )
    show_lines(console, lines)


def _save(outcome: "StatesOutcome", out: Path) -> list[str]:
    """Write equations of motion as one file, laws of the next sample as one each."""
    if outcome.dynamics is not None:
        outcome.dynamics.save(out)
        return [f"{shlex.quote(str(out))}  digest {outcome.dynamics.digest[:12]}"]
    saved: list[str] = []
    for name, law in outcome.laws.items():
        path = out if len(outcome.laws) == 1 else out.with_stem(f"{out.stem}-{name}")
        law.save(path)
        saved.append(f"{shlex.quote(str(path))}  digest {law.digest[:12]}")
    return saved
