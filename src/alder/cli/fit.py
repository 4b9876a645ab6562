"""`alder fit`: the coefficients of a law you type, from a file of rows."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alder.cli.layout import (
    read_number,
    read_pairs,
    require_folder,
    scope_words,
    show_coefficients,
    show_lines,
    terminal,
)
from alder.errors import BadTable, MalformedLaw

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.fit import Fit
    from alder.records.law import Law
    from alder.records.proposal import Bounds
    from alder.records.variable import Variable
    from alder.tables import Table


def command(
    law: Annotated[
        str, typer.Argument(metavar="LAW", help="The right-hand side, as you write it.")
    ],
    rows: Annotated[Path, typer.Argument(metavar="ROWS.CSV", help="A CSV file with a header.")],
    *,
    target: Annotated[str, typer.Option(help="The column the law is for.")],
    bound: Annotated[
        list[str] | None, typer.Option(help="Where a coefficient may lie: k=0:10, k=0: or k=:10.")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(help="Hold a coefficient at a value: p=-2.")
    ] = None,
    unit: Annotated[list[str] | None, typer.Option(help="The unit of a column: r=m.")] = None,
    sigma: Annotated[
        str | None, typer.Option(help="The column of error bars of the target.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="The column of relative weights.")] = None,
    group: Annotated[
        str | None, typer.Option(help="The column of groups, each with an offset of its own.")
    ] = None,
    sums: Annotated[
        str | None, typer.Option(help="The column of observations; a target sums over its rows.")
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="The target is 0 or 1; the law gives log-odds.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Save the law in this file.")] = None,
) -> None:
    """Example: alder fit "k*r^p - c*v" rows.csv --target a --bound k=0:10 --out law.json

    Names of columns are variables, every other name is a coefficient to be fitted. Prints the
    coefficients with their 95 % intervals, the noise, where the law was fitted, and what the rows
    do not determine.
    """
    from alder.fitting import fit
    from alder.kernel.ready import ensure
    from alder.records.law import Law
    from alder.tables import read_csv

    if out is not None:
        require_folder(out)
    table = read_csv(rows)
    apart = [name for name in (sigma, weight, group, sums) if name is not None]
    variables, goal = _variables(table, target, apart, read_pairs("--unit", unit or [], "r=m"))
    structure = _structure(law, target, variables, apart)
    bounds = _bounds(read_pairs("--bound", bound or [], "k=0:10"))
    held = read_pairs("--fix", fix or [], "p=-2")
    ensure()
    found = fit(
        structure,
        table,
        target=goal,
        variables=variables,
        bounds=bounds,
        fixed={name: read_number("--fix", name, text) for name, text in held.items()},
        sigma=sigma,
        weight=weight,
        group=group,
        sums=sums,
        objective="events" if events else "squared",
    )
    console = terminal()
    console.print(f"{target} = {law.strip()}")
    show_fit(console, found, n_rows_read=table.n_rows)
    fitted: Law = found.law
    if out is not None:
        fitted.save(out)
    show_lines(console, _next(fitted, out, rows))


def show_fit(console: "Console", found: "Fit", *, n_rows_read: int | None = None) -> None:
    """Print what a fit found: coefficients, error, noise, scope, and what is not known."""
    from alder.export.heading import noise_words

    show_coefficients(console, found.coefficients)
    law = found.law
    n_dropped = 0 if n_rows_read is None else n_rows_read - found.n_rows
    lines = {
        "law": str(law),
        "rows": f"{found.n_rows}"
        + (f"; {n_dropped} left out, a value missing" if n_dropped else ""),
        "noise": noise_words(law),
        "scope": scope_words(law),
        "fit": found.reason,
    }
    if found.objective == "events":
        del lines["noise"]
    if found.offsets:
        lines["offsets"] = "   ".join(
            f"{name} {value:.3g}" for name, value in found.offsets.items()
        )
    if found.active_bounds:
        lines["bounds"] = f"{', '.join(found.active_bounds)} at a bound; widen it if that is wrong"
    if found.undetermined:
        lines["unknown"] = " ".join(found.undetermined)
    show_lines(console, lines)


def _variables(
    table: "Table", target: str, apart: Sequence[str], units: Mapping[str, str]
) -> "tuple[list[Variable], Variable]":
    """Declare every column that is not the target or about a row, with its unit."""
    from alder.records.variable import Variable
    from alder.tables import column_names, require_columns

    names = column_names(table)
    require_columns([target, *apart, *units], names, where=table.name)
    goal = Variable(target, unit=units.get(target))
    others = [name for name in names if name != target and name not in apart]
    return [Variable(name, unit=units.get(name)) for name in others], goal


def _structure(law: str, target: str, variables: "Sequence[Variable]", apart: Sequence[str]) -> str:
    """Return the law as typed; refuse one that names the target or a column about rows."""
    from alder.expr.nodes import parameters
    from alder.expr.text import parse

    left, equals, right = law.partition("=")
    text = right if equals and left.strip() == target else law
    names = parameters(parse(text, [variable.name for variable in variables]))
    if target in names:
        raise MalformedLaw(f"`{target}` is the target and may not stand in its own law.")
    for name in apart:
        if name in names:
            raise BadTable(f"`{name}` says something about rows and may not stand in the law.")
    return text


def _bounds(pairs: Mapping[str, str]) -> "dict[str, Bounds]":
    from alder.errors import BadParameter
    from alder.records.proposal import Bounds

    bounds: dict[str, Bounds] = {}
    for name, text in pairs.items():
        low, colon, high = text.partition(":")
        if not colon or not (low or high):
            raise BadParameter(
                f"`--bound {name}={text}` must look like `--bound {name}=0:10`; "
                "an end left out is open."
            )
        bounds[name] = Bounds(
            read_number("--bound", name, low) if low else float("-inf"),
            read_number("--bound", name, high) if high else float("inf"),
        )
    return bounds


def _next(law: "Law", out: Path | None, rows: Path) -> dict[str, str]:
    if out is None:
        return {"next": "add --out law.json to keep the law"}
    middle = {
        name: f"{name}={(low + high) / 2.0:.3g}" for name, (low, high) in law.scope.ranges.items()
    }
    file = shlex.quote(out.name)
    at = f"--at {' '.join(middle.values())}" if middle else shlex.quote(rows.name)
    return {
        "saved": f"{out.name}  digest {law.digest[:12]}",
        "next": f"alder predict {file} {at}   ·   alder export {file} --to c",
    }
