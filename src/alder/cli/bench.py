"""`alder bench`: benchmarks that take longer than a test."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alder.cli.layout import show_lines, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from alder.bench.runs import Plan, Result

# The benchmarks that have pictures, and who draws them.
_DRAWN = {
    "boundary": "alder.report.boundary",
    "causes": "alder.report.causes",
    "door": "alder.report.joints",
    "drawer": "alder.report.joints",
    "identification": "alder.report.identification",
    "novellaw": "alder.report.novellaw",
}


def command(
    name: Annotated[str, typer.Argument(help="Which benchmark; see above.")],
    *,
    cases: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN", help="Cases: globs such as 'stress-*,iid-01?', or the first so many."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which cases are drawn.")] = 0,
    method: Annotated[list[str] | None, typer.Option(help="One method; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Cases measured at once.")] = 1,
    out: Annotated[Path, typer.Option(help="The folder of the results.")] = Path("results"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run.")] = False,
    limit: Annotated[float, typer.Option(min=1.0, help="The most seconds of a row.")] = 1800.0,
    forms: Annotated[str | None, typer.Option(help="novellaw: the form set, a, b or c.")] = None,
    noise: Annotated[
        float | None, typer.Option(min=0.0, help="novellaw, odestates: noise, 0.005 is 0.5 %.")
    ] = None,
    rows: Annotated[
        float | None, typer.Option(min=0.05, max=1.0, help="novellaw: the share of public rows.")
    ] = None,
    distractors: Annotated[
        int | None, typer.Option(min=0, help="novellaw: variables that do nothing.")
    ] = None,
    permute: Annotated[
        bool, typer.Option("--permute", help="novellaw: variables in another order.")
    ] = False,
    rescale: Annotated[
        float | None, typer.Option(help="novellaw: every number in other units.")
    ] = None,
    admission: Annotated[
        str | None, typer.Option(help="novellaw: the gate, noise or thresholds.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROPOSER", help="backbones: the hosted model, such as llm:google:NAME."
        ),
    ] = None,
    systems: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="odebench, odebase, odestates: the list of systems."),
    ] = None,
    sampling: Annotated[
        str | None, typer.Option(help="odestates: times of samples, regular or irregular.")
    ] = None,
    form: Annotated[
        str | None, typer.Option(help="odebase: the equations, rounded or unrounded.")
    ] = None,
    channels: Annotated[
        bool, typer.Option("--channels", help="drawer, door: degraded and estimated forces.")
    ] = False,
    selectors: Annotated[
        bool, typer.Option("--selectors", help="drawer, door: five ways to choose a probe.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option(help="novellaw: write the public release there; run nothing.")
    ] = None,
) -> None:
    """Example: alder bench novellaw --seed 1 --jobs 2 --out results

    Measures Alder and its rivals, case by case. Writes rows.jsonl (a row for each case and method,
    failures too) and summary.json, and prints our figures beside the paper's. backbones: the
    search, models and agents on 32 worlds and, where robots can run, on 12 joints ('drawer-*' and
    'door-*'); those that are installed here. boundary: a fixed
    library in four regimes, three of which it cannot fully say, 20 seeds. causes: 210 worlds with a
    planted cause; does the refusal name it, and does following its advice lead to a law? channel:
    protected rows with planted bits; how many of them do 100 answers of the verifier tell? door and
    drawer: the law of a joint that a robot has grasped, in 40 worlds, inverted to put the joint
    where it is wanted; in the environment that `make robots` makes. identification: which of four
    laws holds, seven selectors, 1,000 cases of five seeds ('1-*': the first alone). novellaw: laws
    recombined from components, 60 cases. null: worlds without a law, in which an adversary submits
    100 laws; how often is one admitted whose error on fresh rows exceeds its bound? odebase and
    odebench: equations of motion of 59 and 63 systems, by chosen starts. odestates: those of the 63
    from noisy states alone. refusal: 100 worlds whose law the grammar cannot say, and 20 whose law
    it can; is any law admitted that does not hold what it claims?
    """
    from alder.bench.benchmark import (
        choose_cases,
        choose_methods,
        choose_settings,
        without_missing,
        without_missing_cases,
    )
    from alder.bench.registry import benchmark
    from alder.bench.runs import Plan

    chosen = benchmark(name)
    wishes: dict[str, Any] = {
        "forms": forms, "noise": noise, "rows": rows, "distractors": distractors,
        "permute": permute or None, "rescale": rescale, "admission": admission, "model": model,
        "systems": None if systems is None else str(systems.absolute()), "form": form,
        "sampling": sampling, "channels": channels or None, "selectors": selectors or None,
    }  # fmt: skip
    given = {option: value for option, value in wishes.items() if value is not None}
    settings = choose_settings(chosen, seed, given)
    chosen = chosen.of(settings)
    console = terminal()
    if export is not None:
        _export(console, name, choose_cases(chosen, cases or "*"), settings, export)
        return
    wanted, unmeasured = without_missing_cases(chosen, choose_cases(chosen, cases))
    methods, sentences = without_missing(chosen, choose_methods(chosen, method, settings), settings)
    for sentence in (*unmeasured, *sentences):
        console.print(sentence, soft_wrap=True, markup=False)
    plan = Plan(chosen, wanted, methods, settings, out, n_workers=jobs, limit=limit)
    result = _measure(console, plan, resume=resume)
    for line in chosen.table(result.rows, result.figures):
        console.print(line, soft_wrap=True)
    failed = sum("error" in row for row in result.rows)
    lines = {"rows": f"{out.name}/rows.jsonl", "summary": f"{out.name}/summary.json"}
    if name in _DRAWN:
        drawn = _draw(name, result, out)
        lines |= {"figures": ", ".join(drawn)} if drawn else {}
    if failed:
        lines["failed"] = f"{failed} of {len(result.rows)} rows; each says why"
    show_lines(console, lines)


def _measure(console: "Console", plan: "Plan", *, resume: bool) -> "Result":
    """Run the plan with a bar: cases done, and time left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from alder.bench.runs import run

    columns = (
        TextColumn("cases"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("cases", total=len(plan.cases))
        return run(plan, resume=resume, watch=lambda n: progress.update(task, completed=n))


def _draw(name: str, result: "Result", out: Path) -> list[str]:
    """Draw the paper's figures of the rows; return the names of the files."""
    from importlib import import_module

    pictures: dict[str, str] = import_module(_DRAWN[name]).figures(result.rows)
    for file, picture in pictures.items():
        (out / file).write_text(picture + "\n", encoding="utf-8")
    return [f"{out.name}/{file}" for file in pictures]


def _export(
    console: "Console", name: str, cases: tuple[str, ...], settings: dict[str, Any], folder: Path
) -> None:
    """Write what may be public of each case."""
    from alder.bench.novellaw.release import write_release
    from alder.errors import BadStudy

    if name != "novellaw":
        raise BadStudy(f"`--export` is no option of {name}; novellaw has a public release.")
    write_release(cases, settings, folder)
    show_lines(console, {"release": f"{folder.name}: public rows and commitments of {len(cases)}"})
