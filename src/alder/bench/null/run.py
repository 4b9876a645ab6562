"""Measure false admissions in null worlds, and true admissions at the same settings."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.null.adversary import Adversary, tally
from alder.bench.null.worlds import TARGET, VARIABLES, World, null_world, true_world
from alder.fitting import fit
from alder.records.law import Law
from alder.records.verdict import Category, Verdict
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Criteria, Reference
from alder.verification.spending import AlphaSpending, Naive, Spending, Thresholdout
from alder.verification.terms import Terms

N_SUBMISSIONS = 100
# The rate of false admissions is promised with this confidence.
_CONFIDENCE = 0.95

METHODS: dict[str, tuple[Criteria, Spending]] = {
    "alpha-spending": (Criteria(), AlphaSpending()),
    "thresholdout": (Criteria(), Thresholdout()),
    "naive": (Criteria(), Naive()),
    "alpha-spending, any improvement": (Criteria(improvement=0.0), AlphaSpending()),
    "naive, any improvement": (Criteria(improvement=0.0), Naive()),
}
"""The defaults come first; the last two leave out the margin, so that reuse alone is compared."""


N_CASES, MOST_CASES = 200, 2000


def measure(job: Job) -> Iterator[Row]:
    """Let an adversary submit 100 laws in a null world, and submit true laws beside it.

    An admission is false where the law's error on fresh rows exceeds the bound it was admitted
    with, or where it is no better than the reference there.
    """
    number, seed = int(job.case.removeprefix("world-")), int(job.settings["seed"])
    yield from world_rows(number, seed, job.methods)


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set the figures of the methods below each other; the paper has none."""
    lines = [
        f"{'':32} {'false':>7} {'at most':>8} {'admitted':>9} {'true, 1st':>10} {'true, 100th':>12}"
    ]
    lines += [
        f"{name:32} {f['false_admitted']:7.1%} {f['false_admitted_upper']:8.1%} "
        f"{f['null_admitted']:9.1%} {f['true_admitted']:10.1%} {f['true_admitted_last']:12.1%}"
        for name, f in figures.items()
    ]
    return lines


def upper_bound(n_events: int, n_trials: int, confidence: float = _CONFIDENCE) -> float:
    """Return the one-sided upper end of the Clopper-Pearson interval of a rate.

    >>> round(upper_bound(0, 200), 4)
    0.0149
    """
    from scipy.special import betaincinv  # pyright: ignore[reportMissingTypeStubs]

    if n_events >= n_trials:
        return 1.0
    return float(betaincinv(n_events + 1, n_trials - n_events, confidence))


def world_rows(number: int, seed: int, methods: Sequence[str]) -> Iterator[Row]:
    """Yield what became of one null world and of its true one, by method."""
    world = null_world(number, np.random.default_rng([seed, number, 0]))
    true, structure = true_world(number, np.random.default_rng([seed, number, 1]))
    law = fit(structure, true.public, target=TARGET).law
    for name in methods:
        sealed = _seal(world, name, seed, number)
        adversary = Adversary(world.public, np.random.default_rng([seed, number, 2]))
        verdict, found, answers = _attack(adversary, sealed)
        truth = _seal(true, name, seed, number)
        refusals: list[Category] = [answer for answer in answers if answer != "accept"]
        yield {
            "world": world.kind,
            "method": name,
            "submissions": len(answers),
            "answers": tally(answers),
            "admitted": found is not None,
            "false": found is not None and _is_false(world, found, verdict),
            "true_world": true.kind,
            "true_first": admit(truth, law, []).category,
            "true_last": admit(truth, law, refusals[: N_SUBMISSIONS - 1]).category,
        }


def _attack(
    adversary: Adversary, sealed: Sealed
) -> tuple[Verdict | None, Law | None, list[Category]]:
    verdicts: list[Verdict] = []

    def submit(law: Law) -> Category:
        verdicts.append(admit(sealed, law, [verdict.category for verdict in verdicts]))
        return verdicts[-1].category

    found, answers = adversary.attack(submit, N_SUBMISSIONS)
    return verdicts[-1], found, answers


def _seal(world: World, method: str, seed: int, number: int) -> Sealed:
    criteria, spending = METHODS[method]
    mean = float(np.mean(world.public[TARGET]))
    terms = Terms(VARIABLES, TARGET, (Reference(mean),), criteria, spending)
    return Sealed(world.protected, terms, f"{seed} {number}".encode())


def _is_false(world: World, law: Law, verdict: Verdict | None) -> bool:
    y = world.final[TARGET]
    error = float(np.sqrt(np.mean(np.square(y - law.predict(world.final)))))
    reference = float(np.sqrt(np.mean(np.square(y - np.mean(world.public[TARGET])))))
    bound = verdict.bound if verdict is not None else None
    return bound is None or error > bound or error >= reference


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the rates of one method; a world that failed counts as admitted, and falsely so."""
    n_worlds = len(rows)
    n_false = sum(bool(row.get("false", True)) for row in rows)
    return {
        "worlds": n_worlds,
        "false_admitted": n_false / n_worlds,
        "false_admitted_upper": upper_bound(n_false, n_worlds),
        "null_admitted": sum(bool(row.get("admitted", True)) for row in rows) / n_worlds,
        "true_admitted": sum(row.get("true_first") == "accept" for row in rows) / n_worlds,
        "true_admitted_last": sum(row.get("true_last") == "accept" for row in rows) / n_worlds,
    }


BENCHMARK = Benchmark(
    name="null",
    home=__name__,
    cases=tuple(f"world-{number:04}" for number in range(MOST_CASES)),
    default_cases=str(N_CASES),
    methods=tuple(METHODS),
    measure=measure,
    figures=figures,
    table=table,
)
"""`alder bench null`."""
