"""`alder discover` for logs: equations of motion from sampled states and inputs."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast, final

import typer

from alder.cli.layout import number, read_pairs, shortened, show_lines, without_zeros
from alder.errors import BadParameter, BadTable

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.outcome import Refusal
    from alder.records.statesoutcome import StatesOutcome
    from alder.tables import Rows, Table

_FILE = "log file"
"""The column that tells several files apart."""

_LOUD = 0.1  # of a state's spread: noise that could as well be a part of the motion


@final
@dataclass(frozen=True, slots=True)
class LogOptions:
    """What was asked of a log, as it was typed."""

    states: Sequence[str]
    inputs: Sequence[str]
    time: str | None
    group: str | None
    known: Sequence[str]
    conserved: Sequence[str]
    mirrored: Sequence[str]
    discrete: bool


def discover_log(console: "Console", files: Sequence[Path], options: LogOptions, out: Path) -> None:
    """Find, admit and save the equations of motion of a log; leave with 3 where refused."""
    from alder.cli.verdict import REFUSED
    from alder.kernel.solver import announce
    from alder.study.states import discover_states
    from alder.tables import column_names

    states, inputs = options.states, options.inputs
    rows, group = _read(files, options)
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
            mirrored=options.mirrored,
            discrete=options.discrete,
            watch=status.update,
        )
    if outcome.refusal is not None:
        used = {*states, *inputs, options.time or "t", options.group, _FILE}
        unused = [name for name in column_names(rows) if name not in used]
        show_refusal(console, outcome, outcome.refusal, unused)
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


def _read(files: Sequence[Path], options: LogOptions) -> "tuple[Rows, str | None]":
    """Read one file or several; several are told apart, and trajectories inside them too."""
    from alder.studyfile.files import join_tables
    from alder.tables import read_csv

    tables = [read_csv(path) for path in files]
    group, time = options.group, options.time or "t"
    if len(tables) == 1:
        return tables[0], group
    asked = [*options.states, *options.inputs, *([] if options.discrete else [time])]
    for table in tables:
        _require_there(table, [*asked, *([group] if group else [])])
    labels = [
        f"{k} {label}" for k, table in enumerate(tables) for label in _inside(table, group, time)
    ]
    return {**_columns(join_tables(tables)), _FILE: labels}, _FILE


def _require_there(table: "Table", names: Sequence[str]) -> None:
    """Refuse a file of several that lacks a column: what the others have says nothing of it."""
    from alder.spelling import suggestion
    from alder.tables import column_names

    there = column_names(table)
    for name in names:
        if name not in there:
            raise BadTable(
                f"{table.name} has no column `{name}`; it has {', '.join(there)}."
                f"{suggestion(name, there)}"
            )


def _inside(table: "Table", group: str | None, time: str) -> "Sequence[object]":
    """Tell the trajectories of one file apart: by its groups, or where its time goes back."""
    import numpy as np

    from alder.tables import as_columns, as_labels, column_names, count_rows

    if group is not None:
        return as_labels(table, group)
    if time not in column_names(table):
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
    error = ", ".join(f"{name} {number(value)}" for name, value in outcome.error.items())
    facts = {
        "read  ": _read_words(outcome),
        "scope ": _scope_words(outcome),
        "error ": f"{error} (rms) along {outcome.n_held_back} held-back samples, "
        f"{number(outcome.horizon)} at most from a start",
        "noise ": noise_words(outcome),
        "fitted": f"by {outcome.route}, chosen on validation trajectories",
    }
    if outcome.delay > 0.0:
        facts["delay "] = f"{number(outcome.delay)} from the inputs to their effect"
    if outcome.shared:
        facts["shared"] = " ".join(outcome.shared)
    return facts


def noise_words(outcome: "StatesOutcome") -> str:
    """Say the noise of each state, and where it is large enough to hide a part of the motion."""
    shares = {name: sigma / outcome.spread[name] for name, sigma in outcome.noise.items()}
    words = ", ".join(
        f"{name} {number(sigma)}"
        + (f" ({shares[name]:.0%} of its spread)" if shares[name] > _LOUD else "")
        for name, sigma in outcome.noise.items()
    )
    if max(shares.values()) <= _LOUD:
        return words
    return f"{words}: if your sensor is better than this, the equations miss something"


def _scope_words(outcome: "StatesOutcome") -> str:
    """Say within which values the equations were admitted, of all that they read."""
    ranges = {k: ends for law in outcome.laws.values() for k, ends in law.scope.ranges.items()}
    return "   ".join(f"{name} {number(a)} to {number(b)}" for name, (a, b) in ranges.items())


def _read_words(outcome: "StatesOutcome") -> str:
    """Say what was read of the log, and what was left out."""
    n, lacking, short = outcome.n_trajectories, outcome.n_incomplete, outcome.n_short
    words = f"{outcome.n_samples} samples in {n} {'trajectory' if n == 1 else 'trajectories'}"
    gaps = outcome.n_gaps
    left_out = [
        *([f"{gaps} gap{'' if gaps == 1 else 's'}, which end one"] if gaps else []),
        *([f"{lacking} row{'' if lacking == 1 else 's'} without a value"] if lacking else []),
        *([f"{short} in trajectories too short to follow"] if short else []),
    ]
    return f"{words}; {', '.join(left_out)}" if left_out else words


def show_refusal(
    console: "Console", outcome: "StatesOutcome", refusal: "Refusal", unused: Sequence[str]
) -> None:
    """Print why no law is returned, what was found all the same, and what to do."""
    from rich.text import Text

    console.print()
    console.print(Text.assemble(("● REFUSED", "bold yellow"), f"  {refusal.cause}\n"))
    sentence = f"{refusal.reason} No law is returned."
    console.print(
        textwrap.fill(sentence, console.width, break_on_hyphens=False) + "\n", markup=False
    )
    for law in outcome.laws.values():
        line = shortened(f"not admitted: {without_zeros(law)}", console.width)
        console.print(line, soft_wrap=True, markup=False)
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
