"""`alder bench backbones`: one harness, the same worlds, any proposer."""

from collections.abc import Iterator, Mapping, Sequence

from alder.bench.backbones.joints import JOINTS, measure_joint, missing_joint
from alder.bench.backbones.proposers import BACKBONES, HOSTED, missing, proposer
from alder.bench.backbones.support import support
from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.novellaw.recipes import PLACES
from alder.bench.novellaw.scoring import describe
from alder.bench.novellaw.studies import study
from alder.bench.novellaw.variation import OPTIONS, varied_case
from alder.bench.studies import study_seed
from alder.ledger.events import replay
from alder.ledger.store import read_events

FORMS = ("a", "b")
"""The form sets of NovelLaw that the worlds are drawn from; the third is kept out of sight."""


def measure(job: Job) -> Iterator[Row]:
    """Run one study with each proposer; drawing the world is nobody's time."""
    if job.case in JOINTS:
        yield from measure_joint(job)
        return
    forms, _, name = job.case.partition("-")
    seed = job.settings["seed"]
    case = varied_case(name, {**OPTIONS, "forms": forms, "seed": seed})
    for method in job.methods:
        ledger = job.folder / "ledgers" / f"{job.case}-{method.replace(':', '-')}.alder"
        made = proposer(method, job.settings)
        number = study_seed(seed, case.draw.place.number)
        found = study(case, "alder", number, ledger, proposer=made)
        state = replay(read_events(ledger))
        law = None if state.end is None else state.end.law
        truth = support(case.draw.target.structure)
        yield {
            **describe(case),
            **found,
            "support": law is not None and support(law.structure) == truth,
            "invalid": sum(bool(attempt.problems) for attempt in state.attempts),
        }


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one proposer; cases refused and crashed stay in every denominator.

    Recovered and wrong laws are counted in the worlds of NovelLaw alone: a joint is scored by its
    terms.
    """
    laws = [row for row in rows if row["case"] not in JOINTS]
    recovery = {
        "recovery_1e3": _rate(laws, "recovered_1e3"),
        "wrong_admitted": _rate(laws, "wrong_admitted"),
        "wrong_total": float(sum(bool(row.get("wrong_admitted", False)) for row in laws)),
    }
    n_proposals = sum(int(row.get("proposals", 0)) for row in rows)
    n_invalid = sum(int(row.get("invalid", 0)) for row in rows)
    crashed = sum("error" in row for row in rows) / len(rows)
    return {
        "cases": float(len(rows)),
        "admitted": _rate(rows, "admitted"),
        **(recovery if laws else {}),
        "support": _rate(rows, "support"),
        "refused": 1.0 - _rate(rows, "admitted") - crashed,
        "crashed": crashed,
        "invalid": n_invalid / max(n_proposals, 1),
        "invalid_total": float(n_invalid),
        "proposals_total": float(n_proposals),
        "queries_total": float(sum(row.get("queries", 0) for row in rows)),
        "tokens_total": float(sum(row.get("tokens", 0) for row in rows)),
        "cpu_s_total": float(sum(row.get("cpu_s", 0.0) for row in rows)),
    }


def _rate(rows: Sequence[Row], name: str) -> float:
    return sum(bool(row.get(name, False)) for row in rows) / max(len(rows), 1)


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set the proposers below each other, the joints in a table of their own."""
    joints = [row for row in rows if row["case"] in JOINTS]
    laws = [row for row in rows if row["case"] not in JOINTS]
    if not (joints and laws):
        return _table(figures)
    return [
        "NovelLaw",
        *_table({method: _of(laws, method) for method in figures}),
        "joints",
        *_table({method: _of(joints, method) for method in figures}),
    ]


def _of(rows: Sequence[Row], method: str) -> Mapping[str, float]:
    return figures([row for row in rows if row["method"] == method])


def _table(figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    lines = [
        f"{'':16} {'cases':>5} {'admitted':>8} {'recovered':>9} {'support':>7} {'wrong':>5} "
        f"{'refused':>7} {'crashed':>7} {'invalid':>12} {'queries':>7} {'tokens':>9} {'cpu s':>7}"
    ]
    for method, f in figures.items():
        n = f["cases"]
        invalid = f"{f['invalid_total']:.0f} of {f['proposals_total']:.0f}"
        recovered = f"{f['recovery_1e3']:.1%}" if "recovery_1e3" in f else ""
        wrong = f"{f['wrong_total']:.0f}" if "wrong_total" in f else ""
        lines.append(
            f"{method:16} {n:5.0f} {f['admitted']:8.1%} {recovered:>9} "
            f"{f['support']:7.1%} {wrong:>5} {round(n * f['refused']):7} "
            f"{round(n * f['crashed']):7} {invalid:>12} {f['queries_total']:7.0f} "
            f"{f['tokens_total']:9.0f} {f['cpu_s_total']:7.1f}"
        )
    return lines


BENCHMARK = Benchmark(
    name="backbones",
    home=__name__,
    cases=(
        *(
            f"{forms}-{place.name}"
            for place in PLACES.values()
            for forms in FORMS
            if place.split == "development"
        ),
        *JOINTS,
    ),
    default_cases="*",
    methods=tuple(BACKBONES),
    measure=measure,
    figures=figures,
    table=table,
    options={"model": HOSTED},
    missing=missing,
    missing_case=missing_joint,
)
"""`alder bench backbones`."""
