"""`alder bench drawer` and `alder bench door`: laws of joints, and control by inverting them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Literal, TypeAlias

from alder.bench.articulated.case import Case
from alder.bench.articulated.degraded import (
    CHANNELS,
    channel_figures,
    channel_table,
    measure_channel,
)
from alder.bench.articulated.figures import method_figures, method_table
from alder.bench.articulated.identification import SELECTORS
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.methods import METHODS, measure_method
from alder.bench.articulated.packages import missing_packages
from alder.bench.articulated.scene import Kind
from alder.bench.articulated.selectors import (
    measure_selector,
    selector_figures,
    selector_table,
)
from alder.bench.articulated.store import Store, default_folder
from alder.bench.articulated.worlds import case_names
from alder.bench.benchmark import Benchmark, Job, Row, Settings
from alder.errors import BadStudy

Part: TypeAlias = Literal["control", "channels", "selectors"]

_METHODS: Mapping[Part, tuple[str, ...]] = {
    "control": METHODS,
    "channels": CHANNELS,
    "selectors": SELECTORS,
}
_MEASURE: Mapping[Part, Callable[[Case, str], Row]] = {
    "control": measure_method,
    "channels": measure_channel,
    "selectors": measure_selector,
}
_FIGURES: Mapping[Part, Callable[[Sequence[Row]], dict[str, float]]] = {
    "control": method_figures,
    "channels": channel_figures,
    "selectors": selector_figures,
}
_TABLES: Mapping[Part, Callable[[str, Mapping[str, Mapping[str, float]]], list[str]]] = {
    "control": method_table,
    "channels": channel_table,
    "selectors": selector_table,
}


def make(kind: Kind, home: str) -> Benchmark:
    """Return the benchmark of one kind of joint."""
    return Benchmark(
        name=kind,
        home=home,
        cases=case_names(),
        default_cases="*",
        methods=tuple(dict.fromkeys((*METHODS, *SELECTORS, *CHANNELS))),
        measure=lambda job: measure(kind, job),
        figures=figures,
        table=lambda rows, found: table(kind, rows, found),
        options={"channels": False, "selectors": False},
        require=part_of,
        missing=_missing,
        usual=lambda settings: _METHODS[part_of(settings)],
    )


def part_of(settings: Settings) -> Part:
    """Return what the settings ask for; raise `BadStudy` where they ask for two things."""
    if settings["channels"] and settings["selectors"]:
        raise BadStudy("--channels and --selectors are two runs; ask for one of them.")
    if settings["channels"]:
        return "channels"
    return "selectors" if settings["selectors"] else "control"


def measure(kind: Kind, job: Job) -> Iterator[Row]:
    """Yield one row for each method in one world."""
    lab = Lab(kind, Store(default_folder()))
    case = Case(lab, job.case, int(job.settings["seed"]), job.folder)
    part = part_of(job.settings)
    for method in job.methods:
        before = lab.n_simulated
        row = _MEASURE[part](case, method)
        yield {**row, "part": part, "simulated": lab.n_simulated - before}


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method, channel or selector."""
    return _FIGURES[_part(rows)](rows)


def _part(rows: Sequence[Row]) -> Part:
    """Return what rows are about; a failed one knows its settings."""
    return part_of(rows[0]["settings"])


def table(kind: Kind, rows: Sequence[Row], found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the lines that are printed."""
    simulated = sum(row.get("simulated", 0) for row in rows)
    seconds = sum(row.get("cpu_s", 0.0) for row in rows)
    return [
        *_TABLES[_part(rows)](kind, found),
        f"{simulated:.0f} rollouts were simulated; {seconds:.0f} CPU seconds in all",
    ]


def _missing(method: str, _settings: Settings) -> str | None:
    why = missing_packages()
    if why is None and method in ("mlp", "estimated") and find_spec("sklearn") is None:
        why = f"{method} needs scikit-learn; `make robots` brings it."
    return why
