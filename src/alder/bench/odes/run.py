"""`alder bench odebench` and `alder bench odebase`: all methods on all systems of a list."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from alder.bench.benchmark import Benchmark, Job, Row, Settings
from alder.bench.odes import baselines, studies
from alder.bench.odes.cases import Case, make_case
from alder.bench.odes.scoring import NO_NUMBER
from alder.bench.odes.systems import FORMS, OdeSystem, places, read_systems, systems_file
from alder.bench.studies import study_seed
from alder.errors import BadStudy

METHODS = ("alder", "passive", "random", "sindy", "oracle")
_BASELINES: Mapping[str, Callable[[Case], Row]] = {
    "sindy": baselines.sindy,
    "oracle": baselines.oracle,
}
_TERMINAL = 80  # columns
_NOTHING = {"proposals": 0, "queries": 0, "fits": 0, "ledger": None}


def make(name: str, home: str, n_systems: int) -> Benchmark:
    """Return the benchmark of a list of systems; cases are their places in it."""
    return Benchmark(
        name=name,
        home=home,
        cases=places(n_systems),
        default_cases="*",
        methods=METHODS,
        measure=lambda job: _measure(name, job),
        figures=figures,
        table=table,
        options={"systems": "", "form": "rounded"},
        require=lambda settings: _require(name, settings),
        missing=_missing,
        listed=lambda settings: places(len(_systems(name, settings))),
    )


def _require(name: str, settings: Settings) -> None:
    if settings["form"] not in FORMS:
        raise BadStudy(f"`--form {settings['form']}` is no form; {', '.join(FORMS)} are.")
    _systems(name, settings)


def _systems(name: str, settings: Settings) -> Sequence[OdeSystem]:
    return read_systems(systems_file(name, settings["systems"]), settings["form"])


def _missing(method: str, _settings: Settings) -> str | None:
    if method == "sindy" and find_spec("pysindy") is None:
        return 'The method sindy needs pysindy; `pip install "alder[bench]"` brings it.'
    return None


def _measure(name: str, job: Job) -> Iterator[Row]:
    """Return the rows of one system, one for each method."""
    systems, place = _systems(name, job.settings), int(job.case)
    seed = study_seed(job.settings["seed"], place)
    case = make_case(systems[place - 1], seed)
    return (_row(case, method, seed, job) for method in job.methods)


def _row(case: Case, method: str, seed: int, job: Job) -> Row:
    if method in _BASELINES:
        return {**_NOTHING, **_BASELINES[method](case)}
    folder = job.folder / "ledgers" / f"{job.case}-{method}"
    if folder.exists():
        import shutil

        shutil.rmtree(folder)
    return {**_NOTHING, **studies.study(case, method, seed, folder)}


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method; failures stay in every denominator.

    A system with a replaced start counts in `total` and is reported apart.
    """
    plain = [row for row in rows if not row.get("replaced", False)]
    apart = [row for row in rows if row.get("replaced", False)]
    exact = [bool(one) for row in rows for one in row.get("exact", [False])]
    seconds = [row.get("cpu_s", 0.0) for row in rows]
    found: dict[str, float] = {
        "functional": float(sum(bool(row.get("functional")) for row in plain)),
        "total": float(len(rows)),
        "replaced": float(len(apart)),
        "replaced_functional": float(sum(bool(row.get("functional")) for row in apart)),
        "symbolic": sum(exact) / max(len(exact), 1),
        "dimensions": float(len(exact)),
        "admitted": float(sum(bool(row.get("admitted")) for row in rows)),
        "wrong_admitted": float(sum(bool(row.get("wrong_admitted")) for row in rows)),
        "queries_median": float(np.median([row.get("queries", 0) for row in rows])),
        "cpu_s_median": float(np.median(seconds)),
        "cpu_s_total": float(np.sum(seconds)),
        "failed": float(sum("error" in row for row in rows)),
    }
    for setting in ("reconstruction", "generalization", "future"):
        errors = [_number(row.get(f"nmse_{setting}")) for row in rows]
        low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75], method="nearest")
        found |= {
            f"nmse_{setting}": float(middle),
            f"nmse_{setting}_q1": float(low),
            f"nmse_{setting}_q3": float(high),
        }
    for name in ("complexity", "complexity_truth", "field_nmse"):
        known = [row[name] for row in rows if row.get(name) is not None]
        if known:
            middle = np.median(known) if name == "field_nmse" else np.mean(known)
            found[name] = float(middle)
    return found


def _number(error: Any) -> float:  # noqa: ANN401 (a JSON value)
    return NO_NUMBER if error is None else float(error)


def table(rows: Sequence[Row], found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return our figures, the paper's, and the seconds of every system."""
    lines = [
        f"{'':8} {'functional':>10} {'exact %':>8} {'recon':>8} {'gen':>8} {'future':>8} "
        f"{'nodes':>6} {'wrong':>5} {'queries':>7} {'cpu s':>7}"
    ]
    for method, f in found.items():
        nodes = f"{f['complexity']:6.1f}" if "complexity" in f else f"{'':6}"
        lines.append(
            f"{method:8} {f['functional']:5.0f}/{f['total']:<4.0f} {100 * f['symbolic']:8.1f} "
            f"{f['nmse_reconstruction']:8.0e} {f['nmse_generalization']:8.0e} "
            f"{f['nmse_future']:8.0e} {nodes} {f['wrong_admitted']:5.0f} "
            f"{f['queries_median']:7.1f} {f['cpu_s_total']:7.0f}"
        )
    lines.append("paper: ODEBench 60/63, ODEBase 49/59 with a language model; pysindy 37/63, 35/59")
    missed = [
        str(row.get("system", row["case"]))
        for row in rows
        if row["method"] == "alder" and not row.get("functional")
    ]
    if missed:
        lines.append(f"not recovered by alder: {', '.join(missed)}")
    return [*lines, *seconds(rows, tuple(found))]


def seconds(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    """Return the CPU seconds of every case, those of one method behind those of the other.

    >>> rows = [{"case": "01", "method": "alder", "cpu_s": 1.44}]
    >>> seconds([*rows, {"case": "01", "method": "sindy", "cpu_s": 3.0}], ("alder", "sindy"))
    ['CPU s of each case, alder/sindy:', '01 1.4/3.0']
    """
    spent: dict[str, dict[str, float]] = {}
    for row in rows:
        spent.setdefault(str(row["case"]), {})[str(row["method"])] = row.get("cpu_s", 0.0)
    told = [
        f"{case} {'/'.join(f'{own[m]:.1f}' if m in own else '-' for m in methods)}"
        for case, own in spent.items()
    ]
    width = max(map(len, told), default=0) + 3
    per_line = max(_TERMINAL // width, 1)
    chunks = (told[i : i + per_line] for i in range(0, len(told), per_line))
    lines = ["".join(one.ljust(width) for one in chunk).rstrip() for chunk in chunks]
    return [f"CPU s of each case, {'/'.join(methods)}:", *lines]
