"""Why no law was admitted, from public evidence alone, and what to do next."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.text import to_text
from alder.records.evidence import Attempt, Candidate, Evidence
from alder.records.law import Law
from alder.records.outcome import Cause, Refusal

Stop: TypeAlias = Literal["budget", "no-safe-experiment", "nothing-left-to-propose"]

# Mean residual of a part of the rows, in standard errors, beyond which chance is no explanation.
_STRUCTURE = 6.0
# Scatter of replicates over their error bars, squared, beyond which something else moves them.
_SCATTER = 2.0
_FEWEST_REPLICATES = 5
# A law that leaves half of the variance unexplained, without structure, faces noise.
_NOISY = 0.5
# A variable that moved less than this share of its declared range was not excited.
_MOVED = 0.05


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """A cause with the sentence that proves it and the sentence that helps."""

    cause: Cause
    reason: str
    advice: str


def diagnose(evidence: Evidence, candidates: Sequence[Candidate], stop: Stop) -> Refusal:
    """Name the cause of a refusal; the first test that speaks decides, the most specific first."""
    best = _best(evidence.attempts)
    rows = evidence.rows()
    finding = (
        _no_valid_proposal(evidence, stop)
        or _hidden(evidence, rows)
        or _unexcited(evidence, rows)
        or _unsaid(best)
        or _noisy(best)
        or _inseparable(candidates, stop)  # laws that explain the rows, so after the two above
        or _spent(evidence, stop)
    )
    candidate = best.fit.law if best is not None and best.fit is not None else None
    return Refusal(
        cause=finding.cause,
        reason=finding.reason,
        advice=finding.advice,
        candidate=candidate,
        rivals=tuple(c.law for c in candidates if not _same(c.law, candidate)),
    )


def _same(law: Law, other: Law | None) -> bool:
    return other is not None and law.structure == other.structure


def _best(attempts: Sequence[Attempt]) -> Attempt | None:
    fitted = [attempt for attempt in attempts if attempt.fit is not None]
    return min(fitted, key=_error) if fitted else None


def _error(attempt: Attempt) -> float:
    if attempt.validation_nmse is not None:
        return attempt.validation_nmse
    return attempt.fit.nmse if attempt.fit is not None else float("inf")


def _no_valid_proposal(evidence: Evidence, stop: Stop) -> Finding | None:
    if any(attempt.fit is not None for attempt in evidence.attempts):
        return None
    if not evidence.attempts and stop == "budget":
        return None  # time was over before anything could be proposed
    problems = [problem for attempt in evidence.attempts for problem in attempt.problems]
    if not problems:
        return Finding(
            "no-valid-proposal",
            "Nothing was proposed.",
            "Allow more operators or nodes in the grammar, or give a guess.",
        )
    code, count = Counter(problem.code for problem in problems).most_common(1)[0]
    example = next(problem for problem in problems if problem.code == code)
    return Finding(
        "no-valid-proposal",
        f"None of {len(evidence.attempts)} proposals passed the checks; {count} times the problem "
        f"was {code}: {example.message}",
        "Read the problems in the ledger, and widen the grammar or mend the proposer.",
    )


def _hidden(evidence: Evidence, rows: Mapping[str, FloatArray]) -> Finding | None:
    """Find replicates that scatter more than their error bars allow."""
    sigma = evidence.roles.sigma
    names = evidence.grammar.variable_names
    if sigma is None or not names:
        return None
    inputs = np.column_stack([rows[name] for name in names])
    _, index, counts = np.unique(inputs, axis=0, return_inverse=True, return_counts=True)
    index = index.ravel()
    df = int(np.sum(counts - 1))
    if df < _FEWEST_REPLICATES:
        return None
    y = rows[evidence.grammar.target.name]
    means = np.bincount(index, weights=y) / counts
    ratio = float(np.sum(np.square((y - means[index]) / rows[sigma])) / df)
    if ratio < _SCATTER:
        return None
    return Finding(
        "missing-variable",
        f"Rows with equal settings differ by {np.sqrt(ratio):.1f} times their error bars.",
        "Record a further quantity with each row, or the time and order of the rows.",
    )


def _unexcited(evidence: Evidence, rows: Mapping[str, FloatArray]) -> Finding | None:
    for variable in evidence.grammar.variables:
        column = rows[variable.name]
        low, high = float(column.min()), float(column.max())
        width = variable.range[1] - variable.range[0] if variable.range else 0.0
        if high > low and high - low >= _MOVED * width:
            continue
        return Finding(
            "excitation",
            f"{variable.name} stayed between {low:.4g} and {high:.4g}, so nothing can be said "
            f"about how the target depends on it.",
            f"Measure with {variable.name} at two or more clearly different values, or leave it "
            f"out of the grammar.",
        )
    return None


def _inseparable(candidates: Sequence[Candidate], stop: Stop) -> Finding | None:
    if stop != "no-safe-experiment":
        return None
    names = [to_text(c.law.structure, [v.name for v in c.law.variables]) for c in candidates[:3]]
    reason = (
        f"{len(candidates)} laws explain the rows and no safe experiment on offer separates them"
    )
    if len(candidates) < 2:
        reason = "No safe experiment on offer would say more about the law that is left"
    return Finding(
        "no-safe-experiment",
        f"{reason}: {'; '.join(names) or 'none'}.",
        "Offer experiments over wider ranges, or relax the safety limits where you can.",
    )


def _unsaid(best: Attempt | None) -> Finding | None:
    if best is None or not best.misfits or best.misfits[0].strength < _STRUCTURE:
        return None
    worst = best.misfits[0]
    return Finding(
        "missing-operator",
        f"The best law leaves structure along {worst.along}: {worst.where}, by "
        f"{worst.strength:.0f} standard errors.",
        f"Allow more operators or nodes for {worst.along}, or check it in that region.",
    )


def _noisy(best: Attempt | None) -> Finding | None:
    if best is None or best.fit is None or _error(best) < _NOISY:
        return None
    repeats = int(np.ceil(_error(best) / 0.05))
    return Finding(
        "noise",
        f"What no law explains is {100 * min(_error(best), 1.0):.0f} % of the variance and shows "
        f"no structure.",
        f"Average about {repeats} repeats of each experiment, or measure more precisely.",
    )


def _spent(evidence: Evidence, stop: Stop) -> Finding:
    spent = evidence.spent
    used = f"{spent.proposals} proposals and {spent.queries} experiments were used"
    if stop == "nothing-left-to-propose":
        return Finding(
            "budget",
            f"Every law on offer was refused; {used}.",
            "Add guesses, or a proposer that searches further.",
        )
    return Finding(
        "budget",
        f"The budget ended before a law was admitted; {used}.",
        "Resume the ledger with a larger budget.",
    )
