"""`alder predict`: what a saved law says, for a file of rows or for one row."""

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from alder.cli.layout import read_number, read_pairs, show_lines, terminal, with_unit
from alder.errors import BadParameter, UnknownVariable

if TYPE_CHECKING:
    from alder.records.law import Law
    from alder.tables import Table


def command(
    law: Annotated[Path, typer.Argument(metavar="LAW.JSON", help="A saved law.")],
    rows: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROWS.CSV | NAME=VALUE ...]", help="Rows to predict."),
    ] = None,
    *,
    at: Annotated[list[str] | None, typer.Option(help="One row: --at r=1.6 v=0.5.")] = None,
    interval: Annotated[
        bool, typer.Option("--interval", help="Add the ends of the 95 % interval to each row.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write CSV to this file.")] = None,
) -> None:
    """Example: alder predict law.json --at r=1.6 v=0.5

    With a file of rows, prints those rows as CSV with the prediction and whether each row lies in
    the law's scope: alder predict law.json rows.csv --interval --out predicted.csv
    """
    from alder.records.law import Law

    words = [*(at or []), *(rows or [])]
    files = [word for word in words if "=" not in word]
    loaded = Law.load(law)
    if at and not files:
        _predict_one(loaded, words, law)
    elif len(files) == 1 and len(words) == 1 and not at:
        outside = _predict_file(loaded, Path(files[0]), out, interval=interval)
        if out is not None:
            rows_line = f"{len(outside)} predicted, {sum(outside)} outside the law's scope"
            following = f"alder check {law.name} new.csv"
            show_lines(terminal(), {"rows": rows_line, "saved": out.name, "next": following})
    else:
        raise BadParameter("Give either one file of rows or one row, for example --at r=1.6 v=0.5.")


def _predict_one(law: "Law", words: Sequence[str], file: Path) -> None:
    from alder.records.rounding import decimals, format_rounded

    pairs = read_pairs("--at", words, "r=1.6")
    row = {name: read_number("--at", name, text) for name, text in pairs.items()}
    _require_all(law, row)
    value = float(law.predict(row)[0])
    unit = law.target.unit
    console = terminal()
    lower, upper = (float(end[0]) for end in law.predict_interval(row))
    # As in the report: two digits of the half-width fix the rounding.
    places = decimals(value, (upper - lower) / 2.0)
    shown, low, high = (format_rounded(number, places) for number in (value, lower, upper))
    lines = {law.target.name: with_unit(shown, unit)}
    if law.objective == "events":
        lines[law.target.name] = f"{shown} (log-odds)"
    lines["95 %"] = with_unit(f"{low} to {high}", unit)
    lines["scope"] = "inside" if law.in_scope(row)[0] else _outside(law, row)
    lines["next"] = f"alder check {file.name} new.csv   ·   alder export {file.name} --to c"
    show_lines(console, lines)


def _require_all(law: "Law", row: Mapping[str, float]) -> None:
    """Refuse a row that misses a variable, and a name the law does not have."""
    from alder.spelling import suggestion

    names = [variable.name for variable in law.variables]
    for name in row:
        if name not in names:
            raise UnknownVariable(
                f"`{name}` is not a variable of the law; {', '.join(names) or 'none'} "
                f"{'is' if len(names) == 1 else 'are'}.{suggestion(name, names)}"
            )
    law.predict(row)


def _outside(law: "Law", row: Mapping[str, float]) -> str:
    limits = law.scope.limits
    out = [n for n, (low, high) in limits.items() if not low <= row[n] <= high]
    ranges = law.scope.ranges
    words = [f"{n} was {ranges[n][0]:.4g} to {ranges[n][1]:.4g}" for n in out]
    return f"outside: {', '.join(words)} in the rows of the fit"


def _predict_file(law: "Law", path: Path, out: Path | None, *, interval: bool) -> list[bool]:
    """Write the rows with their predictions; return which of them lie outside the scope."""
    from alder.tables import read_csv

    table = read_csv(path)
    inside = law.in_scope(table)
    added: dict[str, Sequence[object]] = {
        f"{law.target.name}_predicted": law.predict(table).tolist()
    }
    if interval:
        lower, upper = law.predict_interval(table)
        added[f"{law.target.name}_lower"] = lower.tolist()
        added[f"{law.target.name}_upper"] = upper.tolist()
    added["in_scope"] = inside.astype(int).tolist()
    if out is None:
        _write(sys.stdout, table, added)
    else:
        with out.open("w", encoding="utf-8", newline="") as file:
            _write(file, table, added)
    return (~inside).tolist()


def _write(file: TextIO, table: "Table", added: Mapping[str, Sequence[object]]) -> None:
    import numpy as np

    names = [name for name in table.columns if name not in added]
    columns: list[Sequence[object]] = []
    for name in names:
        column = table.columns[name]
        columns.append(column.tolist() if isinstance(column, np.ndarray) else column)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*names, *added])
    for row in zip(*columns, *added.values(), strict=True):
        writer.writerow(["" if cell != cell else cell for cell in row])  # NaN is a missing cell
