"""`alder bench odestates`: equations of motion from noisy states, without derivatives."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from alder.arrays import FloatArray
from alder.bench.benchmark import Benchmark, Job, Row, Settings
from alder.bench.odes.cases import OPERATORS
from alder.bench.odes.scoring import trajectory_errors
from alder.bench.odes.systems import OdeSystem, places, read_systems, systems_file
from alder.bench.odestates.cases import StatesCase, make_case
from alder.bench.odestates.sindy import SETTINGS, fit_setting
from alder.bench.studies import study_seed
from alder.errors import BadStudy
from alder.expr.nodes import Apply, Const, Expr, Param
from alder.expr.scalar import at_point
from alder.expr.valued import with_values
from alder.fitting.flows import Flow
from alder.fitting.shooting import shoot_growing
from alder.fitting.smoothing import smooth
from alder.integration import solve
from alder.proposers.states.finding import Setting, find
from alder.proposers.states.model import structures
from alder.study.states import judge
from alder.verification.vault import Vault

RECOVERED = 1e-3
"""Trajectory NMSE in all three settings at which a system is recovered from noisy states."""
SINDY = tuple(f"sindy-{setting}" for setting in SETTINGS)
METHODS = ("alder", *SINDY, "oracle")
_SAMPLINGS = ("regular", "irregular")
_THREE = ("reconstruction", "generalization", "future")


def measure(job: Job) -> Iterator[Row]:
    """Return the rows of one system, one for each method, all on the same samples."""
    place = int(job.case)
    case = make_case(
        _systems(job.settings)[place - 1],
        study_seed(job.settings["seed"], place),
        job.settings["noise"],
        irregular=job.settings["sampling"] == "irregular",
    )
    return (_row(case, method) for method in job.methods)


def _row(case: StatesCase, method: str) -> Row:
    if method == "alder":
        return _alder(case)
    if method == "oracle":
        return _oracle(case)
    return _sindy(case, method.removeprefix("sindy-"))


def _alder(case: StatesCase) -> Row:
    """Find equations in the public samples; admit them on trajectories nobody else has seen."""
    names = case.system.truth.states
    found = find(case.public, Setting(names, (), OPERATORS))
    rates, values = structures(found.model.picks, found.problem)
    with Vault.hold(case.held) as vault:
        finding, _ = judge(found, 0.0, vault)
    laws = [with_values(rate, values) for rate in rates]
    return {
        **_score(case, laws, admitted=finding == "accept"),
        "finding": finding,
        "route": found.route,
        "chi2": min(found.chi2, 1e30),
        "noise_ratio": _ratio(found.problem.sigma, case.sigma),
    }


def _ratio(found: FloatArray, true: FloatArray) -> list[float]:
    return [float(a / b) if b > 0.0 else 1e30 for a, b in zip(found, true, strict=True)]


def _sindy(case: StatesCase, setting: str) -> Row:
    field = fit_setting(setting, case.public, case.system.truth.states)
    laws = [_combined(field.terms, row) for row in field.coefficients]
    return _score(case, laws, admitted=None)


def _oracle(case: StatesCase) -> Row:
    """Fit the numbers of the true structure by shooting, from the true numbers."""
    names, counter = case.system.truth.states, itertools.count()
    values: dict[str, float] = {}
    rates = [_freed(case.system.truth.laws[name].structure, counter, values) for name in names]
    flow = Flow.of(rates, names)
    smoothed = smooth(case.public)
    sigma = np.maximum(case.sigma, 1e-9 * np.abs(case.public.states).max(axis=0))
    start = np.array([values[name] for name in flow.parameters])
    shot = shoot_growing(flow, case.public, start, smoothed.values(), sigma)
    fitted = dict(zip(flow.parameters, shot.values.tolist(), strict=True))
    return _score(case, [with_values(rate, fitted) for rate in rates], admitted=None)


def _freed(expr: Expr, counter: "itertools.count[int]", values: dict[str, float]) -> Expr:
    """Put parameters in place of numbers, but for exponents and whole numbers."""
    match expr:
        case Const(value) if not float(value).is_integer():
            name = f"p{next(counter)}"
            values[name] = value
            return Param(name)
        case Apply(row, (base, exponent)) if row.name == "pow":
            return Apply(row, (_freed(base, counter, values), exponent))
        case Apply(row, arguments):
            return Apply(row, tuple(_freed(one, counter, values) for one in arguments))
        case _:
            return expr


def _combined(terms: Sequence[Expr], coefficients: FloatArray) -> Expr:
    from alder.expr.operators import operator

    total: Expr = Const(0.0)
    for term, value in zip(terms, coefficients.tolist(), strict=True):
        if value != 0.0:
            part = Apply(operator("mul"), (Const(value), term))
            total = Apply(operator("add"), (total, part))
    return total


def _score(case: StatesCase, laws: Sequence[Expr], *, admitted: bool | None) -> Row:
    """Follow the equations from the file's starts without noise, as truth is followed."""
    errors = trajectory_errors(case.system, _followed(laws, case.system.truth.states))
    good = all(error <= RECOVERED for error in errors.values())
    # An admission holds for as long as trajectories were followed; the future lies beyond that.
    claimed = all(errors[name] <= RECOVERED for name in _THREE[:2])
    return {
        "system": case.system.name,
        "dim": len(case.system.truth.states),
        "admitted": good if admitted is None else admitted,
        "recovered_any": good,
        "functional": good and admitted is not False,
        "wrong_admitted": admitted is True and not claimed,
        "missed_beyond": admitted is True and claimed and not good,
        "wrong_outside": admitted is True and not claimed and _leaves(case),
        **{f"nmse_{name}": errors[name] for name in _THREE},
        "law": "; ".join(_text(law) for law in laws),
    }


def _leaves(case: StatesCase) -> bool:
    """Say whether the second start lies outside the ranges that were sampled."""
    start, seen = np.array(case.system.starts[1]), case.public.states
    return bool(((start < seen.min(axis=0)) | (start > seen.max(axis=0))).any())


def _text(law: Expr) -> str:
    from alder.expr.text import to_text

    return to_text(law)


def _followed(
    laws: Sequence[Expr], names: Sequence[str]
) -> Callable[[Sequence[float], FloatArray], FloatArray]:
    from alder.expr.operators import Floors
    from alder.integration import SATURATION

    rates = [at_point(law, names, {}, Floors()) for law in laws]

    def slope(_t: float, state: FloatArray) -> FloatArray:
        point = np.clip(state, -SATURATION, SATURATION).tolist()
        return np.array([rate(point) for rate in rates])

    def path(start: Sequence[float], times: FloatArray) -> FloatArray:
        states = solve(slope, np.array(start, dtype=np.float64), times)
        lost = np.full((len(times) - len(states), len(names)), SATURATION)
        return np.concatenate([states, lost])

    return path


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one method; failures stay in every denominator."""
    found: dict[str, float] = {
        "functional": float(sum(bool(row.get("functional")) for row in rows)),
        "recovered_any": float(sum(bool(row.get("recovered_any")) for row in rows)),
        "total": float(len(rows)),
        "admitted": float(sum(bool(row.get("admitted")) for row in rows)),
        "wrong_admitted": float(sum(bool(row.get("wrong_admitted")) for row in rows)),
        "wrong_outside": float(sum(bool(row.get("wrong_outside")) for row in rows)),
        "missed_beyond": float(sum(bool(row.get("missed_beyond")) for row in rows)),
        "cpu_s_median": float(np.median([row.get("cpu_s", 0.0) for row in rows])),
        "cpu_s_total": float(sum(row.get("cpu_s", 0.0) for row in rows)),
        "failed": float(sum("error" in row for row in rows)),
    }
    for name in _THREE:
        errors = [_number(row.get(f"nmse_{name}")) for row in rows]
        found[f"nmse_{name}"] = float(np.median(errors))
        found[f"{name}_recovered"] = float(sum(error <= RECOVERED for error in errors))
    return found


def _number(error: Any) -> float:  # noqa: ANN401 (a JSON value)
    return 1e30 if error is None else float(error)


def table(rows: Sequence[Row], found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return every method's figures, and what the best of pysindy reaches however it is chosen."""
    lines = [
        f"{'':28} {'recovered':>10} {'recon':>6} {'gen':>6} {'future':>6} {'admitted':>8} "
        f"{'wrong':>6} {'outside':>7} {'beyond':>6} {'cpu s':>7}"
    ]
    for method, f in found.items():
        lines.append(
            f"{method:28} {f['functional']:6.0f}/{f['total']:<3.0f} "
            f"{f['reconstruction_recovered']:6.0f} {f['generalization_recovered']:6.0f} "
            f"{f['future_recovered']:6.0f} {f['admitted']:8.0f} {f['wrong_admitted']:6.0f} "
            f"{f['wrong_outside']:7.0f} {f['missed_beyond']:6.0f} {f['cpu_s_total']:7.0f}"
        )
    rivals = {method: f for method, f in found.items() if method in SINDY}
    if rivals:
        best = max(rivals, key=lambda method: rivals[method]["functional"])
        any_of = {row["case"] for row in rows if row["method"] in SINDY and row.get("functional")}
        lines.append(f"best of pysindy: {best}, {rivals[best]['functional']:.0f}")
        lines.append(f"recovered by any setting of pysindy, chosen by the truth: {len(any_of)}")
    return lines


def _require(settings: Settings) -> None:
    if settings["sampling"] not in _SAMPLINGS:
        raise BadStudy(f"`--sampling {settings['sampling']}` is none of {', '.join(_SAMPLINGS)}.")
    _systems(settings)


def _systems(settings: Settings) -> Sequence[OdeSystem]:
    return read_systems(systems_file("odebench", settings["systems"]), "rounded")


def _missing(method: str, _settings: Settings) -> str | None:
    if method in SINDY and find_spec("pysindy") is None:
        return f'{method} needs pysindy; `pip install "alder[bench]"` brings it.'
    return None


BENCHMARK = Benchmark(
    name="odestates",
    home=__name__,
    cases=places(63),
    default_cases="*",
    methods=METHODS,
    measure=measure,
    figures=figures,
    table=table,
    options={"systems": "", "noise": 0.01, "sampling": "regular"},
    require=_require,
    missing=_missing,
    listed=lambda settings: places(len(_systems(settings))),
)
"""The 63 systems of ODEBench, from states with noise."""
