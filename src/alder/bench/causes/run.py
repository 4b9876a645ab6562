"""Measure how often a refusal names the planted cause, and what following its advice leads to."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from alder.bench.benchmark import Benchmark, Job, Row
from alder.bench.causes.follow import follow
from alder.bench.causes.recipe import Recipe
from alder.bench.causes.studies import run_study, wrongness
from alder.bench.causes.worlds import N_EACH, PLANTS, planted
from alder.records.nextstep import NextStep
from alder.records.outcome import Outcome

WRONG = 1e-2
"""An admitted law whose noise-free NMSE over the whole domain exceeds this is wrong."""

ADMITTED = "admitted"
"""Stands where a cause would: the study of a planted world ended with a law."""


def measure(job: Job) -> Iterator[Row]:
    """Study one planted world; where it is refused, follow the advice once and study it again."""
    recipe, n_draws = planted(job.case, int(job.settings["seed"]))
    folder = job.folder / "ledgers"
    outcome = _study(recipe, folder / f"{job.case}.alder")
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
        row |= {"advice": outcome.refusal.advice, "step": None if step is None else _plain(step)}
    if step is not None:
        then = follow(recipe, step)
        again = _study(then, folder / f"{job.case}-followed.alder")
        row |= {f"followed_{name}": value for name, value in _end(then, again).items()}
        row["followed_named"] = ADMITTED if again.refusal is None else again.refusal.cause
    yield row


def _study(recipe: Recipe, ledger: Path) -> Outcome:
    """Run a study whose ledger stays beside the rows; what a stopped run left of it is removed."""
    ledger.parent.mkdir(parents=True, exist_ok=True)
    for leftover in ledger.parent.glob(f"{ledger.name}*"):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()
    return run_study(recipe, ledger)


def _end(recipe: Recipe, outcome: Outcome) -> Row:
    law = outcome.law or (outcome.refusal.candidate if outcome.refusal else None)
    spent = asdict(outcome.spent)
    return {
        "admitted": outcome.law is not None,
        "nmse": wrongness(recipe, outcome),
        "law": None if law is None else str(law),
        "ledger": outcome.digest,
        **{name: spent[name] for name in ("proposals", "queries", "cost", "tokens", "fits")},
    }


def _plain(step: NextStep) -> dict[str, Any]:
    return {
        "action": step.action,
        "operators": list(step.operators),
        "variables": list(step.variables),
        "ranges": {name: list(ends) for name, ends in step.ranges.items()},
        "settings": dict(step.settings),
    }


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return macro-F1 over the causes, what following led to, and the figures of each cause.

    A row that failed names nothing. A world whose study was admitted is missed by its cause; there
    is no advice to follow, so it counts for `named` and not for `followed_admitted`.
    `macro_f1_refused` is macro-F1 of the refusals alone.
    """
    causes = [cause for cause in PLANTS if any(_planted(row) == cause for row in rows)]
    by_cause = {cause: _scores(rows, cause) for cause in causes}
    refused = [row for row in rows if row.get("named") != ADMITTED]
    found: dict[str, float] = {
        "worlds": len(rows),
        "macro_f1": sum(f1 for _, _, f1 in by_cause.values()) / max(len(causes), 1),
        "macro_f1_refused": sum(_scores(refused, cause)[2] for cause in causes)
        / max(len(causes), 1),
        "named": sum(row.get("named") == _planted(row) for row in rows) / len(rows),
        "refused": len(refused) / len(rows),
        "followed_admitted": _rate(refused, "followed_admitted"),
        "wrong_admitted": sum(_is_wrong(row) for row in rows) / len(rows),
    }
    for cause, (precision, recall, f1) in by_cause.items():
        own = [row for row in refused if _planted(row) == cause]
        found |= {
            f"precision_{cause}": precision,
            f"recall_{cause}": recall,
            f"f1_{cause}": f1,
            f"followed_admitted_{cause}": _rate(own, "followed_admitted"),
        }
    return found


def _planted(row: Row) -> str:
    """Return the planted cause; the name of a case holds it, so that a failed row has one too."""
    return str(row["case"]).rpartition("-")[0]


def _scores(rows: Sequence[Row], cause: str) -> tuple[float, float, float]:
    r"""Return precision $p$, recall $r$ and $F_1 = 2 p r / (p + r)$ of one cause."""
    planted_rows = [row for row in rows if _planted(row) == cause]
    named_rows = [row for row in rows if row.get("named") == cause]
    right = sum(row.get("named") == cause for row in planted_rows)
    precision = right / len(named_rows) if named_rows else 0.0
    recall = right / max(len(planted_rows), 1)
    f1 = 2.0 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1


def _rate(rows: Sequence[Row], name: str) -> float:
    return sum(bool(row.get(name, False)) for row in rows) / max(len(rows), 1)


def _is_wrong(row: Row) -> bool:
    errors = [row.get("nmse"), row.get("followed_nmse")]
    return any(error is not None and float(error) > WRONG for error in errors)


def table(rows: Sequence[Row], figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set planted causes against named ones, and what following the advice led to."""
    columns = (*PLANTS, ADMITTED)
    short = {cause: cause.removeprefix("missing-").removeprefix("no-")[:9] for cause in columns}
    lines = [
        f"{'planted / named':20}"
        + "".join(f"{short[c]:>10}" for c in columns)
        + f"{'F1':>7}{'followed':>10}"
    ]
    for found in figures.values():
        for cause in PLANTS:
            own = [row for row in rows if _planted(row) == cause]
            if not own:
                continue
            counts = [sum(row.get("named") == name for row in own) for name in columns]
            lines.append(
                f"{cause:20}"
                + "".join(f"{count or '.':>10}" for count in counts)
                + f"{found[f'f1_{cause}']:7.2f}{found[f'followed_admitted_{cause}']:10.0%}"
            )
        lines += [
            "",
            f"macro-F1 {found['macro_f1']:.3f} (goal 0.9) on {found['worlds']:.0f} worlds, "
            f"{found['macro_f1_refused']:.3f} on the {found['refused']:.0%} refused",
            f"admitted after following the advice once {found['followed_admitted']:.1%} "
            f"(goal 80 %); wrong laws admitted {round(found['wrong_admitted'] * found['worlds'])}",
        ]
    return lines


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
