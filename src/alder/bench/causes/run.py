"""Measure how often a refusal names the planted cause, and what following its advice leads to."""

from collections.abc import Iterator
from dataclasses import asdict

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.causes.follow import follow
from alder.bench.causes.recipe import Recipe
from alder.bench.causes.scores import ADMITTED, figures
from alder.bench.causes.studies import run_study, wrongness
from alder.bench.causes.table import table
from alder.bench.causes.worlds import N_EACH, PLANTS, planted
from alder.bench.studies import fresh_ledger
from alder.ledger.coding import step_to_json
from alder.records.outcome import Outcome


def measure(job: Job) -> Iterator[Row]:
    """Study one planted world; where it is refused, follow the advice once and study it again."""
    recipe, n_draws = planted(job.case, int(job.settings["seed"]))
    folder = job.folder / "ledgers"
    outcome = run_study(recipe, fresh_ledger(folder / f"{job.case}.alder"))
    row: Row = {
        "planted": recipe.cause,
        "kind": recipe.kind,
        "law_text": recipe.truth.text,
        "variables": len(recipe.truth.variables),
        "noise": recipe.noise,
        "draws": n_draws,
        "named": ADMITTED if outcome.refusal is None else outcome.refusal.cause,
        **_end(recipe, outcome),
    }
    step = None if outcome.refusal is None else outcome.refusal.step
    if outcome.refusal is not None:
        row |= {
            "advice": outcome.refusal.advice,
            "step": None if step is None else step_to_json(step),
        }
    if step is not None:
        then = follow(recipe, step)
        again = run_study(then, fresh_ledger(folder / f"{job.case}-followed.alder"))
        row |= {f"followed_{name}": value for name, value in _end(then, again).items()}
        row["followed_named"] = ADMITTED if again.refusal is None else again.refusal.cause
    yield row


def _end(recipe: Recipe, outcome: Outcome) -> Row:
    law = outcome.law or (outcome.refusal.candidate if outcome.refusal else None)
    spent = asdict(outcome.spent)
    wrong = wrongness(recipe, outcome)
    return {
        "admitted": outcome.law is not None,
        "nmse": None if wrong is None else wrong.nmse,
        "beyond": wrong is not None and wrong.beyond,
        "law": None if law is None else str(law),
        "ledger": outcome.digest,
        **{name: spent[name] for name in ("proposals", "queries", "cost", "tokens", "fits")},
    }


BENCHMARK = Benchmark(
    name="causes",
    home=__name__,
    cases=tuple(f"{cause}-{number:02}" for number in range(N_EACH) for cause in PLANTS),
    default_cases="*",
    methods=("alder",),
    measure=measure,
    figures=figures,
    table=table,
)
"""`alder bench causes`."""
