"""Why no law was admitted, from public evidence alone, and what to do next.

Every test says what it computed, whether it speaks or not; the first that speaks decides.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.text import to_text
from alder.fitting.residuals import STRUCTURE
from alder.records.evidence import Attempt, Candidate, Evidence
from alder.records.law import Law
from alder.records.outcome import Cause, Finding, Refusal

Stop: TypeAlias = Literal["budget", "no-safe-experiment", "nothing-left-to-propose"]

# Scatter of replicates over their error bars, squared, beyond which something else moves them.
SCATTER = 2.0
_FEWEST_REPLICATES = 5
# A law that leaves half of the variance unexplained, without structure, faces noise.
NOISY = 0.5
# A variable that moved less than this share of its declared range was not excited.
MOVED = 0.05


@final
@dataclass(frozen=True, slots=True)
class _Test:
    """What one test computed; a test that speaks has advice."""

    cause: Cause
    sentence: str
    advice: str = ""
    is_made: bool = True

    @property
    def speaks(self) -> bool:
        return bool(self.advice)


def diagnose(
    evidence: Evidence, candidates: Sequence[Candidate], stop: Stop, held_back: str = ""
) -> Refusal:
    """Name the cause of a refusal; the first test that speaks decides, the most specific first.

    `held_back` names limits that alone left nothing to ask; they then are the cause, whatever the
    rows, which could not become more, say besides.
    """
    best = _best(evidence.attempts)
    rows = evidence.rows()
    tests = (
        _no_valid_proposal(evidence, stop),
        _hidden(evidence, rows),
        _unexcited(evidence, rows),
        _unsaid(evidence, best),
        _noisy(best),
        _inseparable(evidence, candidates, stop, held_back),  # laws that explain the rows: last
        _spent(evidence, stop),
    )
    speaking = sorted(
        (test for test in tests if test.speaks),
        key=lambda test: bool(held_back) and test.cause != "no-safe-experiment",
    )
    decided = next(iter(speaking), None)
    if decided is None:
        decided = _all_refused(evidence)
        tests = (*tests[:-1], decided)
    candidate = best.fit.law if best is not None and best.fit is not None else None
    return Refusal(
        cause=decided.cause,
        reason=decided.sentence,
        advice=decided.advice,
        candidate=candidate,
        rivals=tuple(c.law for c in candidates if not _same(c.law, candidate)),
        findings=tuple(_findings(tests, decided)),
    )


def _findings(tests: Sequence[_Test], decided: _Test) -> Iterator[Finding]:
    for test in tests:
        if test is decided:
            yield Finding(test.cause, "stands", test.sentence)
        elif test.speaks:
            yield Finding(test.cause, "undecided", test.sentence)
        else:
            yield Finding(test.cause, "ruled-out" if test.is_made else "untested", test.sentence)


def _same(law: Law, other: Law | None) -> bool:
    return other is not None and law.structure == other.structure


def _best(attempts: Sequence[Attempt]) -> Attempt | None:
    fitted = [attempt for attempt in attempts if attempt.fit is not None]
    return min(fitted, key=_error) if fitted else None


def _error(attempt: Attempt) -> float:
    if attempt.validation_nmse is not None and not attempt.folds:
        return attempt.validation_nmse
    return attempt.fit.nmse if attempt.fit is not None else float("inf")


def _count(n: int, one: str) -> str:
    return f"{n} {one}{'' if n == 1 else 's'}"


def _no_valid_proposal(evidence: Evidence, stop: Stop) -> _Test:
    cause: Cause = "no-valid-proposal"
    n_proposals = _count(len(evidence.attempts), "proposal")
    n_fitted = sum(attempt.fit is not None for attempt in evidence.attempts)
    if n_fitted:
        return _Test(cause, f"{n_fitted} of {n_proposals} passed the checks and could be fitted.")
    if not evidence.attempts and stop == "budget":
        return _Test(cause, "Time was over before anything could be proposed.", is_made=False)
    problems = [problem for attempt in evidence.attempts for problem in attempt.problems]
    if not problems:
        return _Test(
            cause,
            "Nothing was proposed.",
            "Allow more operators or nodes in the grammar, or give a guess.",
        )
    code, count = Counter(problem.code for problem in problems).most_common(1)[0]
    example = next(problem for problem in problems if problem.code == code)
    return _Test(
        cause,
        f"None of {n_proposals} passed the checks; {count} times the problem was {code}: "
        f"{example.message}",
        "Read the problems in the ledger, and widen the grammar or mend the proposer.",
    )


def _hidden(evidence: Evidence, rows: Mapping[str, FloatArray]) -> _Test:
    """Find replicates that scatter more than their error bars allow."""
    cause: Cause = "missing-variable"
    sigma = evidence.roles.sigma
    names = evidence.grammar.variable_names
    if sigma is None or not names:
        return _Test(cause, "Rows have no error bars to compare repeats with.", is_made=False)
    if evidence.roles.sums is not None:
        return _Test(cause, "Sums over rows are not compared with repeats.", is_made=False)
    inputs = np.column_stack([rows[name] for name in names])
    _, index, counts = np.unique(inputs, axis=0, return_inverse=True, return_counts=True)
    index = index.ravel()
    df = int(np.sum(counts - 1))
    if df < _FEWEST_REPLICATES:
        sentence = (
            f"{df} {'row repeats' if df == 1 else 'rows repeat'} earlier settings; the test needs "
            f"{_FEWEST_REPLICATES}."
        )
        return _Test(cause, sentence, is_made=False)
    y = rows[evidence.grammar.target.name]
    means = np.bincount(index, weights=y) / counts
    ratio = float(np.sum(np.square((y - means[index]) / rows[sigma])) / df)
    sentence = f"Rows with equal settings differ by {np.sqrt(ratio):.1f} times their error bars."
    if ratio < SCATTER:
        return _Test(cause, sentence)
    return _Test(
        cause,
        sentence,
        "Record a further quantity with each row, or the time and order of the rows.",
    )


def _unexcited(evidence: Evidence, rows: Mapping[str, FloatArray]) -> _Test:
    cause: Cause = "excitation"
    least, share = "", np.inf
    for variable in evidence.grammar.variables:
        column = rows[variable.name]
        low, high = float(column.min()), float(column.max())
        width = variable.range[1] - variable.range[0] if variable.range else 0.0
        if not (high > low and high - low >= MOVED * width):
            return _Test(
                cause,
                f"{variable.name} stayed between {low:.4g} and {high:.4g}, so nothing can be said "
                f"about how the target depends on it.",
                f"Measure with {variable.name} at two or more clearly different values, or leave "
                f"it out of the grammar.",
            )
        if width and (high - low) / width < share:
            least, share = variable.name, (high - low) / width
    n = len(evidence.grammar.variables)
    sentence = f"{n} of {_count(n, 'input')} moved"
    if least:
        sentence += f"; the least, {least}, through {100 * share:.0f} % of its range"
    return _Test(cause, f"{sentence}.")


def _inseparable(
    evidence: Evidence, candidates: Sequence[Candidate], stop: Stop, held_back: str
) -> _Test:
    cause: Cause = "no-safe-experiment"
    if stop != "no-safe-experiment":
        n = len(evidence.choices)
        if not n:
            return _Test(cause, "No experiment was asked for.", is_made=False)
        return _Test(cause, f"{_count(n, 'safe experiment')} on offer could be asked for.")
    names = [to_text(c.law.structure, [v.name for v in c.law.variables]) for c in candidates[:3]]
    reason = (
        f"{len(candidates)} laws are left and no safe experiment on offer separates them, because "
        "they agree within the noise about all of those"
    )
    if len(candidates) < 2:
        reason = "No safe experiment on offer would say more about the law that is left"
    if held_back:
        n_laws = _count(len(candidates), "law")
        return _Test(
            cause,
            f"No experiment on offer {held_back} under every one of {n_laws} that stand: "
            f"{'; '.join(names) or 'none'}.",
            "Offer gentler experiments, relax the limit where you can, or measure more where it "
            "is safe, so that fewer laws stand and their coefficients are known better.",
        )
    return _Test(
        cause,
        f"{reason}: {'; '.join(names) or 'none'}.",
        "Offer experiments over wider ranges, or relax the safety limits where you can.",
    )


def _unsaid(evidence: Evidence, best: Attempt | None) -> _Test:
    cause: Cause = "missing-operator"
    if best is None:
        return _Test(cause, "No law was fitted, so nothing is left over.", is_made=False)
    if not best.misfits:
        n = _count(len(evidence.grammar.variables), "input")
        return _Test(cause, f"The best law leaves no structure along {n}.")
    worst = best.misfits[0]
    if worst.strength < STRUCTURE:
        return _Test(
            cause,
            f"The most structure the best law leaves, along {worst.along}, is "
            f"{worst.strength:.1f} standard errors; {STRUCTURE:.0f} would be more than chance.",
        )
    return _Test(
        cause,
        f"The best law leaves structure along {worst.along}: {worst.where}, by "
        f"{worst.strength:.0f} standard errors.",
        f"Allow more operators or nodes for {worst.along}, or check it in that region.",
    )


def _noisy(best: Attempt | None) -> _Test:
    cause: Cause = "noise"
    if best is None or best.fit is None:
        return _Test(cause, "No law was fitted, so nothing is left over.", is_made=False)
    share = f"{100 * min(_error(best), 1.0):.2g} %"
    if _error(best) < NOISY:
        return _Test(cause, f"The best law leaves {share} of the variance unexplained.")
    if best.misfits and best.misfits[0].strength >= STRUCTURE:
        return _Test(cause, f"The {share} of the variance that is left over shows structure.")
    repeats = int(np.ceil(_error(best) / 0.05))
    return _Test(
        cause,
        f"What no law explains is {100 * min(_error(best), 1.0):.0f} % of the variance and shows "
        f"no structure.",
        f"Average about {repeats} repeats of each experiment, or measure more precisely.",
    )


def _used(evidence: Evidence) -> str:
    spent, budget = evidence.spent, evidence.budget
    return (
        f"{spent.proposals} of {budget.proposals} proposals and {spent.queries} of "
        f"{budget.queries} experiments were used"
    )


def _spent(evidence: Evidence, stop: Stop) -> _Test:
    if stop != "budget" and evidence.spent.proposals < evidence.budget.proposals:
        return _Test("budget", f"The budget was not what ended the study: {_used(evidence)}.")
    return _Test(
        "budget",
        f"The budget ended before a law was admitted; {_used(evidence)}.",
        "Resume the ledger with a larger budget.",
    )


def _all_refused(evidence: Evidence) -> _Test:
    """Say that nothing was left to propose, where no test speaks."""
    return _Test(
        "budget",
        f"Every law on offer was refused; {_used(evidence)}.",
        "Add guesses, or a proposer that searches further.",
    )
