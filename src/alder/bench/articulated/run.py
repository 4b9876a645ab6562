"""`alder bench drawer` and `alder bench door`: laws of joints, and control by inverting them."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec

from alder.bench.articulated.case import Case
from alder.bench.articulated.figures import method_figures, method_table
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.methods import METHODS, measure_method
from alder.bench.articulated.packages import missing_packages
from alder.bench.articulated.scene import Kind
from alder.bench.articulated.store import Store, default_folder
from alder.bench.articulated.worlds import case_names
from alder.bench.benchmark import Benchmark, Job, Row, Settings


def make(kind: Kind, home: str) -> Benchmark:
    """Return the benchmark of one kind of joint."""
    return Benchmark(
        name=kind,
        home=home,
        cases=case_names(),
        default_cases="*",
        methods=METHODS,
        measure=lambda job: measure(kind, job),
        figures=method_figures,
        table=lambda rows, figures: table(kind, rows, figures),
        missing=_missing,
    )


def measure(kind: Kind, job: Job) -> Iterator[Row]:
    """Yield one row for each method in one world."""
    lab = Lab(kind, Store(default_folder()))
    case = Case(lab, job.case, int(job.settings["seed"]), job.folder)
    for method in job.methods:
        before = lab.n_simulated
        row = measure_method(case, method)
        yield {**row, "simulated": lab.n_simulated - before}


def table(
    kind: Kind, rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """Return the lines that are printed."""
    simulated = sum(row.get("simulated", 0) for row in rows)
    seconds = sum(row.get("cpu_s", 0.0) for row in rows)
    return [
        *method_table(kind, figures),
        f"{simulated:.0f} rollouts were simulated; {seconds:.0f} CPU seconds in all",
    ]


def _missing(method: str, _settings: Settings) -> str | None:
    why = missing_packages()
    if why is None and method == "mlp" and find_spec("sklearn") is None:
        why = "The method mlp needs scikit-learn; `make robots` brings it."
    return why
