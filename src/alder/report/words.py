"""What a report says in words, generated from the ledger: headline, paragraph, fates, causes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.records.budget import Budget, Spent
from alder.records.law import Law
from alder.records.outcome import CAUSES, Cause, Refusal
from alder.records.verdict import Verdict
from alder.report.numbers import short, with_unit
from alder.report.rivals import Rival
from alder.report.story import Story

CATEGORIES: dict[str, str] = {
    "accept": "admitted",
    "invalid": "not a law that can be evaluated",
    "inaccurate": "its error on protected rows is larger than the noise allows",
    "no-better-than-reference": "no better than a simple reference",
    "unstable": "numerically unstable",
    "fails-under-shift": "does not hold under a shift",
    "fails-criterion": "fails a criterion that this study added",
    "too-complex": "more complex than allowed",
    "budget-spent": "the verifier may reveal nothing more",
}
"""What each answer of the verifier means; it never says more."""

_TESTS: dict[Cause, str] = {
    "no-valid-proposal": "Did no proposal pass the checks?",
    "missing-variable": "Do equal settings give unequal results?",
    "excitation": "Was an input moved too little?",
    "no-safe-experiment": "Was no safe experiment left that separates the laws?",
    "missing-operator": "Does what is left over follow an input?",
    "noise": "Is what is left over large and without structure?",
    "budget": "Did the budget end first?",
}


def count(n: float, one: str, many: str = "") -> str:
    """Write a number with its noun.

    >>> count(1, "rival"), count(3, "query", "queries")
    ('1 rival', '3 queries')
    """
    return f"{n:g} {one if n == 1 else many or one + 's'}"


def subject(story: Story) -> str:
    """Name the target in words where it was described."""
    target = story.evidence.grammar.target
    return target.description or target.name


def headline(story: Story, found: Sequence[Rival]) -> str:
    """Say how the study ended, in one line."""
    end = story.state.end
    if end is None:
        return f"Still running: no verdict on {subject(story)} yet"
    if end.refusal is not None:
        return f"No law is returned: {CAUSES[end.refusal.cause]}"
    fallen = sum(rival.standing in ("refuted", "dropped", "rejected") for rival in found)
    tail = f", {count(fallen, 'rival')} fell" if fallen else ""
    return f"{subject(story).capitalize()}: one law stands{tail}"


def bound_words(verdict: Verdict | None, unit: str | None) -> str:
    """State the bound with the submissions it survives; never without."""
    if verdict is None or verdict.bound is None:
        return ""
    return f"< {with_unit(short(verdict.bound, 2), unit)}"


def bound_note(verdict: Verdict) -> str:
    """Say what the bound is and what it survives."""
    sure = 100.0 * (verdict.confidence or 0.95)
    return (
        f"RMS error on rows like the protected ones, noise included; {sure:g}\u00a0% bound, valid "
        f"after {count(verdict.submissions, 'submission')}"
    )


def noise_size(law: Law, story: Story) -> float:
    """Return the typical noise of one observation on public rows."""
    rows = story.evidence.rows()
    sigma = story.evidence.roles.sigma
    if sigma is not None:
        return float(np.median(rows[sigma]))
    return float(np.median(law.noise.sigma(law.predict(rows))))


def paragraph(story: Story) -> str:
    """Say in one plain paragraph what was found, and what is not claimed."""
    end, spent = story.state.end, story.state.spent
    if end is None:
        return (
            f"{count(spent.proposals, 'proposal')} and {count(spent.queries, 'experiment')} so "
            "far. The ledger keeps everything; this page shows what it holds now."
        )
    if end.refusal is not None:
        return f"{end.refusal.reason} No formula that was tried is offered as a law."
    law = end.law
    assert law is not None
    target = story.evidence.grammar.target
    inputs = [v.description or v.name for v in law.variables]
    text = (
        f"{subject(story).capitalize()} follows from {_listed(inputs) or 'no input'} by the "
        f"equation above. An independent verifier, holding rows nobody else had seen, admitted it "
        f"after {count(spent.queries, 'experiment')}."
    )
    if end.verdict is not None and end.verdict.bound is not None:
        bound = with_unit(short(end.verdict.bound, 2), target.unit)
        text += (
            f" On such rows its RMS error is below {bound}, where one observation itself scatters "
            f"by {with_unit(short(noise_size(law, story), 2), target.unit)}."
        )
    return text + " It speaks for the ranges below, and does not say that no other law fits there."


def _listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def fate(rival: Rival, story: Story) -> str:
    """Say how a rival ended."""
    match rival.standing:
        case "admitted":
            return "✓ admitted"
        case "refuted":
            assert rival.answer is not None
            return f"× refuted in round {rival.answer.round}"
        case "rejected":
            return f"× rejected by the verifier: {rival.category}"
        case "dropped":
            return "× outweighed once refitted to more rows"
        case "undecided":
            ended = story.state.end is not None
            return "undecided: no experiment refuted it" if ended else "still in the running"


@final
@dataclass(frozen=True, slots=True)
class Ruling:
    """One possible cause: its test, what was found, and whether it stands."""

    cause: Cause
    test: str
    found: str
    verdict: str


def rulings(story: Story, refusal: Refusal) -> list[Ruling]:
    """Go through the causes in the order in which they are tested; the first that speaks stands.

    Those before it are ruled out, or could not be tested; those after it are not decided.
    """
    order = list(_TESTS)
    place = order.index(refusal.cause)
    made: list[Ruling] = []
    for i, cause in enumerate(order):
        found, tested = _found(story, cause, refusal)
        verdict = "not tested" if not tested else "ruled out" if i < place else "not decided"
        if cause == refusal.cause:
            found, verdict = refusal.reason, "stands"
        made.append(Ruling(cause, _TESTS[cause], found, verdict))
    return sorted(made, key=lambda ruling: ruling.cause != refusal.cause)


def _found(story: Story, cause: Cause, refusal: Refusal) -> tuple[str, bool]:
    """Return what the ledger shows about a cause, and whether it could be tested at all."""
    evidence, law = story.evidence, refusal.candidate
    n_fitted = sum(attempt.fit is not None for attempt in evidence.attempts)
    n_attempts = count(len(evidence.attempts), "proposal")
    n_choices = count(len(evidence.choices), "experiment")
    has_bars = evidence.roles.sigma is not None
    repeats = (
        "Repeats agree within their error bars, or there are too few"
        if has_bars
        else "Rows carry no error bars to compare repeats with"
    )
    left = "No law was fitted"
    if law is not None:
        left = f"The best candidate leaves {short(100.0 * law.nmse, 2)} % of the variance"
    found: dict[Cause, tuple[str, bool]] = {
        "no-valid-proposal": (f"{n_fitted} of {n_attempts} passed the checks", True),
        "missing-variable": (repeats, has_bars),
        "excitation": ("Every input moved", True),
        "no-safe-experiment": (f"{n_choices} could be asked", True),
        "missing-operator": (_leftover(story), True),
        "noise": (left, law is not None),
        "budget": (_used(evidence.spent, evidence.budget), True),
    }
    return found[cause]


def _leftover(story: Story) -> str:
    misfits = [m for attempt in story.evidence.attempts for m in attempt.misfits]
    if not misfits:
        return "Residuals show no structure along any input"
    last = misfits[-1]
    return f"Structure of the last candidate along {last.along}: {short(last.strength, 2)} sd"


def _used(spent: Spent, budget: Budget) -> str:
    return (
        f"{spent.proposals} of {budget.proposals} proposals and {spent.queries} of "
        f"{budget.queries} experiments were used"
    )
