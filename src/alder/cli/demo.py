"""`alder demo`: two laws fit the same rows; one experiment tells them apart."""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alder.cli.layout import show_lines, terminal

if TYPE_CHECKING:
    import numpy as np

    from alder.arrays import FloatArray
    from alder.studyfile import StudySettings
    from alder.worlds.offers import Settings

LAW = "-k*m2/(m1 + m2)*r^-p - c*v + b*tanh(u/s)"

CART = 2.0
"""The mass of the cart in kg. A power of two: both laws then fit alike to the last bit."""

_FORCES = (1.0, 8.0)
_NOISE = 0.05
# What arrives of the motor's force; the rest is lost in the pulley.
_SHARE = 0.8
_INTRODUCTION = """\
A motor pulls a cart of 2 kg with a force F, and the acceleration a is measured: 24 rows, all
at one mass m. Two laws explain them equally well:

  a = k*F      the mass has no say
  a = k*F/m    the force is divided by the mass

No fit can tell which. The cart may be loaded with up to 2 kg more: 40 experiments on offer."""


def command(
    *,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where law, ledger and report go; a new folder alder-demo if left out."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Only write the rows of the tutorial on fitting to this file."),
    ] = None,
) -> None:
    """Example: alder demo

    Two laws fit the same rows. Alder asks for the experiment on which they disagree, and the
    verifier admits the one that is left. The first use on a computer compiles the fitter.
    """
    from alder.cli.discover import finish, run

    if data is not None:
        _write_rows(data)
        return
    console = terminal()
    folder = _free_folder() if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    ledger = folder / "run.alder"
    console.print(_INTRODUCTION)
    settings = study()
    outcome = run(console, settings, ledger, "alder demo")
    page = folder / "report.html"
    _write_report(page, ledger)
    finish(console, outcome, settings, folder / "law.json", ledger, written=[str(page)])


def study() -> "StudySettings":
    """Return the study of the demo: rows at one mass, two guesses, and a cart to load."""
    import numpy as np

    from alder.records.budget import Budget
    from alder.records.grammar import Grammar
    from alder.records.protected import Protected
    from alder.records.variable import Variable
    from alder.studyfile import StudySettings
    from alder.studyfile.recorded import with_guesses
    from alder.worlds.function import FunctionWorld

    rng = np.random.default_rng(1)
    grammar = Grammar(
        variables=[
            Variable("F", unit="N", role="action", range=_FORCES, description="force"),
            Variable("m", unit="kg", role="property", range=(CART, 2 * CART), description="mass"),
        ],
        target=Variable("a", unit="m/s^2", description="acceleration"),
        operators=("mul", "div"),
    )
    loads = [0.0, 0.5, 1.0, 1.5, 2.0]
    offered = [{"F": float(F), "m": CART + load} for load in loads for F in range(1, 9)]
    settings = StudySettings(
        name="demo",
        grammar=grammar,
        initial=_measure(rng, 24, heaviest=CART),
        world=FunctionWorld(_pull, experiments=offered),
        protected=Protected(_measure(rng, 40, heaviest=2 * CART)),
        budget=Budget(proposals=4, queries=8, batch=2),
    )
    return with_guesses(settings, ["k*F", "k*F/m"])


def _measure(rng: "np.random.Generator", n: int, *, heaviest: float) -> "dict[str, FloatArray]":
    import numpy as np

    F = np.round(rng.uniform(*_FORCES, n), 2)
    m = np.round(rng.uniform(CART, heaviest, n), 2)
    return {"F": F, "m": m, "a": np.round(_SHARE * F / m + rng.normal(0.0, _NOISE, n), 3)}


def _pull(settings: "Settings") -> float:
    """Run one experiment; the noise depends on the settings alone, so a demo can be repeated."""
    import numpy as np

    F, m = float(settings["F"]), float(settings["m"])
    noise = np.random.default_rng([int(100 * F), int(100 * m)]).normal(0.0, _NOISE)
    return round(_SHARE * F / m + noise, 3)


def _free_folder() -> Path:
    """Return alder-demo, or the first of alder-demo-2, -3, ... that does not exist."""
    name, number = Path("alder-demo"), 2
    while name.exists():
        name, number = Path(f"alder-demo-{number}"), number + 1
    return name


def _write_report(page: Path, ledger: Path) -> None:
    from alder.ledger.store import read_events
    from alder.report.page import render

    page.write_text(render(read_events(ledger)), encoding="utf-8", newline="\n")


def _write_rows(path: Path) -> None:
    source = files("alder").joinpath("demo_data", "two_bodies.csv")
    path.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    following = f'alder fit "{LAW}" {path.name} --target a --bound s=0.1:10 --out law.json'
    show_lines(terminal(), {"saved": path.name, "next": following})
