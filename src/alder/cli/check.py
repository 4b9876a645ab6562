"""`alder check`: does a saved law still hold on new rows?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alder.cli.layout import show_lines, terminal, with_unit

if TYPE_CHECKING:
    from alder.fitting.standing import Standing
    from alder.records.law import Law

DOES_NOT_HOLD = 3


def command(
    law: Annotated[Path, typer.Argument(metavar="LAW.JSON", help="A saved law.")],
    rows: Annotated[Path, typer.Argument(metavar="NEW.CSV", help="Rows with the target.")],
    *,
    sigma: Annotated[
        str | None, typer.Option(help="The column of error bars, in place of the law's noise.")
    ] = None,
    sums: Annotated[
        str | None, typer.Option(help="The column of observations; a target sums over its rows.")
    ] = None,
) -> None:
    """Example: alder check law.json new.csv

    Compares the errors on new rows with the law's noise and with what is known of its
    coefficients. Only rows in the law's scope are judged. Exit status: 0 the law holds, 3 it does
    not.
    """
    from alder.fitting.standing import judge
    from alder.records.law import Law
    from alder.tables import read_csv

    loaded = Law.load(law)
    standing = judge(loaded, read_csv(rows), sigma=sigma, sums=sums)
    _show(loaded, standing, law)
    if not standing.holds:
        raise typer.Exit(DOES_NOT_HOLD)


def _show(law: "Law", standing: "Standing", file: Path) -> None:
    console = terminal()
    mark = "✓ HOLDS" if standing.holds else "● DOES NOT HOLD"
    console.print(f"{mark}  {law}\n", soft_wrap=True)
    rms, bias = (with_unit(f"{x:.2g}", law.target.unit) for x in (standing.rms, standing.bias))
    rows = f"{standing.n_judged} judged, {standing.n_outside} outside the law's scope"
    if standing.n_missing:
        rows += f"; {standing.n_missing} left out, a value missing"
    lines = {
        "rows": rows,
        "error": f"{standing.ratio:.2f} × the noise; rms {rms}",
        "bias": f"{bias}, {standing.bias_score:+.1f} standard errors",
        "chance": f"a law that holds does worse in {100.0 * standing.p_value:.2g} % of such checks",
    }
    if standing.worst is not None:
        place = f"{standing.worst.name} is {standing.worst.low:.4g} to {standing.worst.high:.4g}"
        lines["worst"] = f"{standing.worst.ratio:.2f} × the noise where {place}"
    lines["next"] = (
        f"alder export {file.name} --to c"
        if standing.holds
        else "fit again with the new rows, or record what has changed as a column"
    )
    show_lines(console, lines)
