"""`alder ask`: the experiments a person should run next."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alder.cli.experiments import show_experiments
from alder.cli.layout import require_folder, show_lines, terminal

if TYPE_CHECKING:
    from alder.records.experiment import Experiment
    from alder.study import Study
    from alder.studyfile import StudySettings

LedgerOption = Annotated[
    Path, typer.Option(help="The record of the study; it is made where there is none.")
]
StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="A study file.")]


def command(
    study: StudyArgument,
    *,
    ledger: Annotated[
        Path | None,
        typer.Option(help="The record of the study; it is made where there is none."),
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option("--csv", help="Write a CSV file with cells to be filled in.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where an admitted law is saved.")] = Path("law.json"),
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Two laws to decide between: letters of the report, files, or formulas.",
        ),
    ] = None,
) -> None:
    """Example: alder ask study.toml --ledger run.alder --csv todo.csv

    Prints the experiments to run; asked again, it prints those that are still out. Hand their
    results in with alder tell, in any order. The state is the ledger, so this may take months.
    With --between it prints the cheapest safe experiment that decides between two laws, how many
    noise sd it separates them by, and the chance that one run decides; nothing is recorded.
    Exit status: 0 there are experiments or a law was admitted, 3 refused or nothing separates.
    """
    from alder.cli.between import ask_between
    from alder.errors import BadStudy
    from alder.kernel.ready import ensure
    from alder.studyfile import read_study

    require_folder(out)
    settings = read_study(study)
    console = terminal()
    settings.require_parts()
    ensure(console.print)
    if between is not None:
        ask_between(settings, between, ledger, f"alder ask {study} --ledger {ledger}")
        return
    if ledger is None:
        raise BadStudy("`alder ask` needs the record of the study; add `--ledger run.alder`.")
    _ask(settings, study, ledger, sheet, out)


def _ask(
    settings: "StudySettings", study: Path, ledger: Path, sheet: Path | None, out: Path
) -> None:
    """Go on with the study up to its next experiments, and print them."""
    from alder.cli.discover import finish
    from alder.cli.progress import Progress

    console = terminal()
    with Progress(console, keeps=str(ledger)) as progress:
        opened = settings.open(ledger, progress)
        with opened:
            experiments = opened.ask()
            outcome = opened.outcome
            failed = _late(opened)
    if outcome is not None:
        finish(console, outcome, settings, out, ledger)
        return
    show_experiments(console, experiments, settings)
    if sheet is not None:
        write_sheet(sheet, experiments, settings)
    lines = {"late": f"the rows of {', '.join(failed)} may still come"} if failed else {}
    if sheet is not None:
        lines["saved"] = f"{sheet}  fill in its empty cells"
    results = "results.csv" if sheet is None else sheet
    lines["next"] = f"alder tell {study} --ledger {ledger} {results}"
    show_lines(console, lines)


def _late(study: "Study") -> list[str]:
    return [f.experiment for f in study.evidence.failures if f.reason == "abandoned"]


def write_sheet(path: Path, experiments: "Sequence[Experiment]", settings: "StudySettings") -> None:
    """Write experiments as CSV with empty cells for what is measured and for a failure."""
    names = list(experiments[0].settings) if experiments else []
    columns = (*settings.grammar.variable_names, settings.grammar.target.name)
    empty = [n for n in (*columns, *settings.roles.names) if n not in names]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["experiment", *names, *empty, "failed"])
        for experiment in experiments:
            cells = [experiment.settings[name] for name in names]
            writer.writerow([experiment.id, *cells, *([""] * (len(empty) + 1))])
