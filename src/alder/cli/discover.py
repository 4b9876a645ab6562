"""`alder discover`: a whole study, from a study file or from a file of rows."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from alder.cli.layout import read_number, read_pairs, require_folder, terminal
from alder.cli.log import LogOptions, discover_log, refuse_for_rows
from alder.errors import BadParameter, BadStudy
from alder.records.roles import Roles

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.budget import Budget
    from alder.records.outcome import Outcome
    from alder.studyfile import StudySettings

INTERRUPTED = 130


def command(
    study: Annotated[
        list[Path],
        typer.Argument(metavar="STUDY.TOML | ROWS.CSV ...", help="A study file, rows, or logs."),
    ],
    *,
    ledger: Annotated[
        Path | None, typer.Option(help="Keep the record in this file; a study resumes from it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where an admitted law is saved.")] = Path("law.json"),
    proposer: Annotated[
        str | None,
        typer.Option(
            help="Who proposes laws: search, guesses, llm:openai:NAME, llm:ollama:NAME, llm:local, "
            'llm:http://127.0.0.1:8080/v1:NAME, hybrid:llm:..., agent:"command ...", or a plug-in.'
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed, in place of the file's.")] = None,
    guess: Annotated[
        list[str] | None, typer.Option(help="A law to start from; may be repeated.")
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="A limit, in place of the file's: proposals=8, queries=48, batch=8, ..."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="For rows: the column the law is for.")] = None,
    variables: Annotated[
        str | None, typer.Option(help="For rows: the columns a law may use, such as r,v.")
    ] = None,
    unit: Annotated[
        list[str] | None, typer.Option(help="For rows: the unit of a column: r=m.")
    ] = None,
    sigma: Annotated[str | None, typer.Option(help="For rows: the column of error bars.")] = None,
    weight: Annotated[
        str | None, typer.Option(help="For rows: the column of relative weights.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="The column of groups, or runs; whole ones go to the verifier."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="The column of times; of rows, the last go to the verifier."),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(help="For logs: the columns whose motion is sought, such as x,v."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", help="For logs: the columns that act from outside."),
    ] = None,
    known: Annotated[
        list[str] | None, typer.Option(help="For logs: a rate that is no question: x=v.")
    ] = None,
    conserved: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMULA", help="For logs: a quantity of states that stays."),
    ] = None,
    mirrored: Annotated[
        list[str] | None,
        typer.Option("--mirror", metavar="COLUMNS", help="For logs: signs that may turn together."),
    ] = None,
    discrete: Annotated[
        bool, typer.Option("--discrete", help="For logs: laws of the next sample, x[k+1] = f.")
    ] = False,
) -> None:
    """Example: alder discover study.toml --ledger run.alder

    Proposes laws, fits them, asks for the experiments that tell them apart, and returns a law
    once the verifier admits it on rows nobody else has seen. Exit status: 0 admitted, 3 refused.

    With recorded rows alone, in place of a study file:

    alder discover rows.csv --target a --variables r,v --guess "k*r^p - c*v"

    With logs of a moving system, sampled states and inputs in one or several files:

    alder discover log.csv --time t --state x,v --input u --known x=v
    """
    console = terminal()
    require_folder(out)
    if state:
        refuse_for_rows({
            "target": target, "variables": variables, "unit": unit, "sigma": sigma,
            "weight": weight, "budget": budget, "guess": guess, "proposer": proposer,
            "ledger": ledger, "seed": seed,
        })  # fmt: skip
        motion = LogOptions(
            _names(state), _names(inputs), time, group, known or [], conserved or [],
            _names(mirrored), discrete=discrete,
        )  # fmt: skip
        discover_log(console, study, motion, out)
        return
    logs = {"input": inputs, "known": known, "conserved": conserved, "mirror": mirrored}
    file = _only(study, {**logs, "discrete": discrete})
    roles = {"sigma": sigma, "weight": weight, "group": group, "time": time}
    if file.suffix == ".toml":
        _refuse_row_options({"target": target, "variables": variables, "unit": unit, **roles})
        settings = _from_file(file)
    else:
        settings = _from_rows(file, target, variables, unit or [], Roles(**roles))
        console.print(_what_is_read(settings, chosen=bool(variables)), soft_wrap=True)
    if proposer is not None:
        settings = replace(settings, proposer=proposer)
    settings = adjust(settings, seed, guess or [], budget or [])
    asked = {
        "proposer": proposer, "seed": seed, "guess": guess, "budget": budget, "target": target,
        "variables": variables, "unit": unit, **roles,
    }  # fmt: skip
    outcome = run(console, settings, ledger, _command(file, asked))
    finish(console, outcome, settings, out, ledger)


def _names(words: Sequence[str] | None) -> list[str]:
    """Return the names of an option that may be repeated, and may hold several each time."""
    every = [name.strip() for word in words or [] for name in word.split(",")]
    return [name for name in every if name]


def _only(files: Sequence[Path], for_logs: Mapping[str, object]) -> Path:
    """Return the one file; refuse several, and options that mean something for logs alone."""
    given = next((name for name, value in for_logs.items() if value), None)
    if given is not None:
        raise BadParameter(f"--{given} is for logs; name the states too: --state x,v.")
    if len(files) > 1:
        raise BadParameter(
            f"{len(files)} files were given; several are for logs of states: --state x,v."
        )
    return files[0]


def _command(study: Path, asked: Mapping[str, object]) -> str:
    """Write the command that asks for the same again."""
    words = ["alder", "discover", str(study)]
    for option, value in asked.items():
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        words += [word for one in several if one is not None for word in (f"--{option}", str(one))]
    return shlex.join(words)


def run(
    console: "Console", settings: "StudySettings", ledger: Path | None, again: str
) -> "Outcome":
    """Run a study with its progress; an interrupt says how to go on."""
    from alder.cli.progress import Progress
    from alder.kernel.ready import ensure

    settings.require_parts()
    ensure(console.print)
    keeps = "" if ledger is None else str(ledger)
    progress = Progress(console, keeps=keeps)
    try:
        with progress:
            outcome = settings.discover(ledger, progress)
    except KeyboardInterrupt:
        words = (
            f"{keeps} keeps everything so far; {again} --ledger {shlex.quote(keeps)} goes on."
            if keeps
            else "Nothing was kept; --ledger run.alder keeps a study that is stopped."
        )
        print(words, file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    if not progress.seen:
        console.print(f"{keeps} was finished before; this is how it ended.")
    return outcome


def finish(
    console: "Console",
    outcome: "Outcome",
    settings: "StudySettings",
    out: Path,
    ledger: Path | None,
    *,
    written: Sequence[str] = (),
) -> None:
    """Save an admitted law and show the end; leave with the status of a refusal otherwise.

    `written` names files that were saved besides.
    """
    from alder.cli.verdict import REFUSED, Ending, next_for_law, show_outcome

    kept = [*([str(ledger)] if ledger is not None else []), *written]
    if outcome.law is None:
        following = (
            f"alder report {shlex.quote(str(ledger))}"
            if ledger is not None
            else "add --ledger run.alder to keep the record"
        )
        show_outcome(console, outcome, Ending(settings.budget, ledger, kept, [following]))
        raise typer.Exit(REFUSED)
    outcome.law.save(out)
    saved = [f"{out}  digest {outcome.law.digest[:12]}", *kept]
    following = next_for_law(outcome.law, out, ledger)
    show_outcome(console, outcome, Ending(settings.budget, ledger, saved, following))


def adjust(
    settings: "StudySettings", seed: int | None, guesses: Sequence[str], budget: Sequence[str]
) -> "StudySettings":
    """Put options of the command line in the place of what the file says."""
    from alder.studyfile.recorded import with_guesses

    if seed is not None:
        settings = replace(settings, seed=seed)
    if budget:
        settings = replace(settings, budget=_budget(settings.budget, budget))
    return with_guesses(settings, guesses)


def _budget(had: "Budget", words: Sequence[str]) -> "Budget":
    from alder.spelling import suggestion

    whole = ("proposals", "queries", "batch", "tokens")
    known = (*whole, "cost", "seconds", "money")
    limits: dict[str, float] = {}
    parts = [part for word in words for part in word.split(",")]
    for name, text in read_pairs("--budget", parts, "queries=48").items():
        if name not in known:
            raise BadParameter(
                f"`{name}` is no limit of a budget; {', '.join(known)} are."
                f"{suggestion(name, known)}"
            )
        number = read_number("--budget", name, text)
        if name in whole and number != int(number):
            raise BadParameter(f"`--budget {name}={text}`: {name} is a whole number.")
        limits[name] = int(number) if name in whole else number
    return replace(had, **limits)


def _from_file(study: Path) -> "StudySettings":
    from alder.studyfile import read_study

    settings = read_study(study)
    if settings.is_manual:
        raise BadStudy(
            f"A person runs the experiments of {study.name}, so it cannot be run in one go.\n"
            f"Use alder ask {study.name} --ledger run.alder, then alder tell."
        )
    return settings


def _from_rows(
    rows: Path, target: str | None, variables: str | None, units: Sequence[str], roles: Roles
) -> "StudySettings":
    from alder.studyfile import recorded_study

    if target is None:
        raise BadParameter(
            f"{rows.name} is not a study file (.toml); for rows, name the column the law is for: "
            "--target a."
        )
    names = [name.strip() for name in (variables or "").split(",") if name.strip()]
    return recorded_study(
        rows,
        target,
        variables=names,
        units=read_pairs("--unit", units, "r=m"),
        roles=roles,
    )


def _what_is_read(settings: "StudySettings", *, chosen: bool) -> str:
    """Say which columns a law is sought in, and which are left out though nobody said so."""
    from alder.tables import column_names, count_rows

    grammar, rows = settings.grammar, settings.initial
    used = {grammar.target.name, *grammar.variable_names, *settings.roles.names}
    left_out = [] if chosen else [name for name in column_names(rows) if name not in used]
    n_rows = count_rows(rows)
    words = (
        f"{n_rows} row{'' if n_rows == 1 else 's'} of {settings.name}: {grammar.target.name} from "
        f"{', '.join(grammar.variable_names)}"
    )
    if left_out:
        holds = "holds text and is" if len(left_out) == 1 else "hold text and are"
        words += f"; {', '.join(left_out)} {holds} left out"
    return f"{words}."


def _refuse_row_options(options: dict[str, object]) -> None:
    given = next((name for name, value in options.items() if value), None)
    if given is not None:
        raise BadParameter(f"--{given} is for rows alone; a study file says it itself.")
