"""`alder bench drawer` and `alder bench door`: laws of joints, and control by inverting them."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec

from alder.bench.articulated.case import Case
from alder.bench.articulated.figures import method_figures, method_table
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.methods import METHODS, measure_method
from alder.bench.articulated.packages import missing_packages
from alder.bench.articulated.scene import Kind
from alder.bench.articulated.selectors import (
    SELECTORS,
    measure_selector,
    selector_figures,
    selector_table,
)
from alder.bench.articulated.store import Store, default_folder
from alder.bench.articulated.worlds import case_names
from alder.bench.benchmark import Benchmark, Job, Row, Settings
from alder.errors import BadStudy

PARTS = ("control", "channels", "selectors")
"""What is measured: prediction and control, degraded forces, or ways to choose probes."""


def make(kind: Kind, home: str) -> Benchmark:
    """Return the benchmark of one kind of joint."""
    return Benchmark(
        name=kind,
        home=home,
        cases=case_names(),
        default_cases="*",
        methods=tuple(dict.fromkeys((*METHODS, *SELECTORS))),
        measure=lambda job: measure(kind, job),
        figures=figures,
        table=lambda rows, found: table(kind, rows, found),
        options={"channels": False, "selectors": False},
        require=part_of,
        missing=_missing,
        usual=lambda settings: {"control": METHODS, "selectors": SELECTORS}[part_of(settings)],
    )


def part_of(settings: Settings) -> str:
    """Return what the settings ask for; raise `BadStudy` where they ask for two things."""
    wanted = [part for part in PARTS[1:] if settings[part]]
    if len(wanted) > 1:
        raise BadStudy("--channels and --selectors are two runs; ask for one of them.")
    return wanted[0] if wanted else PARTS[0]


def measure(kind: Kind, job: Job) -> Iterator[Row]:
    """Yield one row for each method in one world."""
    lab = Lab(kind, Store(default_folder()))
    case = Case(lab, job.case, int(job.settings["seed"]), job.folder)
    part = part_of(job.settings)
    for method in job.methods:
        before = lab.n_simulated
        row = (
            measure_selector(case, method) if part == "selectors" else measure_method(case, method)
        )
        yield {**row, "part": part, "simulated": lab.n_simulated - before}


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method or selector."""
    return selector_figures(rows) if _part(rows) == "selectors" else method_figures(rows)


def _part(rows: Sequence[Row]) -> str:
    """Return what rows are about; a failed one knows its settings."""
    return part_of(rows[0]["settings"])


def table(kind: Kind, rows: Sequence[Row], found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the lines that are printed."""
    simulated = sum(row.get("simulated", 0) for row in rows)
    seconds = sum(row.get("cpu_s", 0.0) for row in rows)
    lines = selector_table if _part(rows) == "selectors" else method_table
    return [
        *lines(kind, found),
        f"{simulated:.0f} rollouts were simulated; {seconds:.0f} CPU seconds in all",
    ]


def _missing(method: str, _settings: Settings) -> str | None:
    why = missing_packages()
    if why is None and method == "mlp" and find_spec("sklearn") is None:
        why = "The method mlp needs scikit-learn; `make robots` brings it."
    return why
