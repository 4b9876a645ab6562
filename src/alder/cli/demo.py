"""`alder demo`: a law fitted to rows that come with Alder."""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alder.cli.fit import show_fit
from alder.cli.layout import show_lines, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.law import Law
    from alder.tables import Table

LAW = "-k*m2/(m1 + m2)*r^-p - c*v + b*tanh(u/s)"
UNITS = {"r": "m", "v": "m/s", "m1": "kg", "m2": "kg", "u": "N", "a": "m/s^2"}

_BARS = (-3, -2, -1, 0, 1, 2, 3)
_BAR_WIDTH = 40


def command(
    *,
    data: Annotated[
        Path | None, typer.Option(help="Only write the rows of the demo to this file.")
    ] = None,
) -> None:
    """Example: alder demo

    Fits a law to rows that come with Alder and shows it: coefficients with intervals, LaTeX, and
    what is left over. The first use on a computer compiles the fitter.
    """
    console = terminal()
    source = files("alder").joinpath("demo_data", "two_bodies.csv")
    if data is not None:
        data.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
        command_line = f'alder fit "{LAW}" {data.name} --target a --bound s=0.1:10 --out law.json'
        show_lines(console, {"saved": data.name, "next": command_line})
        return
    _show(console)


def _show(console: "Console") -> None:
    from alder.fitting import fit
    from alder.kernel.ready import ensure
    from alder.records.variable import Variable
    from alder.tables import read_csv

    source = files("alder").joinpath("demo_data", "two_bodies.csv")
    table = read_csv(Path(str(source)))
    console.print(
        f"A small synthetic world: two bodies, one actuator, {table.n_rows} rows.\n"
        "r distance, v speed, m1 and m2 masses, u action; a acceleration."
    )
    ensure(console.print)
    found = fit(
        LAW,
        table,
        target=Variable("a", unit=UNITS["a"]),
        variables=[Variable(name, unit=unit) for name, unit in UNITS.items() if name != "a"],
        bounds={"s": (0.1, 10.0)},
    )
    console.print(f"\na = {LAW}")
    show_fit(console, found)
    law = found.law
    _show_residuals(console, law, table)
    console.print(f"{law.latex()}\n", soft_wrap=True)
    show_lines(console, {"next": "alder demo --data rows.csv   ·   alder fit --help"})


def _show_residuals(console: "Console", law: "Law", table: "Table") -> None:
    """Print how many rows lie how many noise units from the law."""
    import numpy as np

    from alder.tables import as_columns

    predictions = law.predict(table)
    residuals = as_columns(table, ["a"])["a"] - predictions
    steps = np.clip(np.round(residuals / law.noise.sigma(predictions)), _BARS[0], _BARS[-1])
    counts = [int((steps == bar).sum()) for bar in _BARS]
    console.print("\nWhat the law leaves over, in units of the noise:\n")
    for bar, count in zip(_BARS, counts, strict=True):
        blocks = "█" * round(_BAR_WIDTH * count / max(counts))
        console.print(f" {bar:+d} σ  {blocks} {count}".rstrip())
    console.print()
