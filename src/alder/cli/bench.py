"""`alder bench`: benchmarks that take longer than a test."""

import json
from pathlib import Path
from typing import Annotated

import typer

from alder.cli.layout import show_lines, terminal
from alder.errors import BadStudy
from alder.spelling import suggestion

BENCHMARKS = ("null",)


def command(
    name: Annotated[str, typer.Argument(help="Which benchmark: null.")],
    *,
    cases: Annotated[int, typer.Option(min=1, help="How many worlds.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Which worlds are drawn.")] = 0,
    method: Annotated[list[str] | None, typer.Option(help="One method; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Worlds judged at once.")] = 1,
    out: Annotated[Path, typer.Option(help="The folder of the results.")] = Path("results"),
) -> None:
    """Example: alder bench null --cases 200 --seed 1 --out results

    In a null world the target is noise, or lies outside the grammar. An adversary may submit 100
    laws in each; how often is one admitted whose error on fresh rows exceeds the bound it was
    admitted with? Beside it: how often true laws are admitted at the same settings. Writes
    rows.jsonl and summary.json.
    """
    from rich.progress import Progress

    from alder.bench.null.run import METHODS, run, table

    if name not in BENCHMARKS:
        raise BadStudy(
            f"`{name}` is not a benchmark; {', '.join(BENCHMARKS)} is."
            f"{suggestion(name, BENCHMARKS)}"
        )
    methods = method or list(METHODS)
    for one in methods:
        if one not in METHODS:
            raise BadStudy(f"`{one}` is not a method; {', '.join(METHODS)} are.")
    console = terminal()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("worlds", total=cases)
        summary = run(cases, seed, jobs, methods, watch=lambda: progress.advance(task))
    out.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in summary.rows)
    (out / "rows.jsonl").write_text(lines, encoding="utf-8")
    figures = {"benchmark": name, "seed": seed, "methods": summary.methods}
    (out / "summary.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    console.print(table(summary), highlight=False)
    show_lines(
        console,
        {"rows": f"{out.name}/rows.jsonl", "summary": f"{out.name}/summary.json"},
    )
