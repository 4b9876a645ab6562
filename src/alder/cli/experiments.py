"""How experiments to be run are printed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from alder.records.experiment import Experiment
    from alder.studyfile import StudySettings


def show_experiments(
    console: "Console", experiments: "Sequence[Experiment]", settings: "StudySettings"
) -> None:
    """Print the table of experiments to run, with units, and with costs where they differ."""
    from rich import box
    from rich.table import Table

    units = {v.name: v.unit for v in settings.grammar.variables if v.unit}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=True, header_style="")
    table.add_column("experiment")
    names = list(experiments[0].settings) if experiments else []
    for name in names:
        unit = f" ({units[name]})" if name in units else ""
        table.add_column(f"{name}{unit}", justify="right")
    with_cost = len({experiment.cost for experiment in experiments}) > 1
    if with_cost:
        table.add_column("cost", justify="right")
    for experiment in experiments:
        cells = [_cell(experiment.settings[name]) for name in names]
        cost = [f"{experiment.cost:g}"] if with_cost else []
        table.add_row(experiment.id, *cells, *cost)
    with console.capture() as shown:
        console.print(table)
    lines = (line.rstrip() for line in shown.get().splitlines())
    few = "1 experiment" if len(experiments) == 1 else f"{len(experiments)} experiments"
    console.print("\n".join([f"\nRun {few} and measure {settings.grammar.target.name}:", ""]))
    console.print("\n".join([*lines, ""]))


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
