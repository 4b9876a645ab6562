"""What a report says in words, generated from the ledger: headline, paragraph, fates, causes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.diagnosis import COVERED, NOISY, SCATTER, SHOWN
from alder.records.evidence import Attempt, Evidence
from alder.records.law import Law
from alder.records.outcome import CAUSES, Cause, Finding, Refusal, Ruling
from alder.records.verdict import Verdict
from alder.report.numbers import short, with_unit
from alder.report.rivals import Rival
from alder.report.story import Story
from alder.segments import Segments
from alder.study.parts import limits_from_json

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
    "missing-variable": "Do rows that are alike give unequal results?",
    "excitation": "Was an input moved too little?",
    "no-safe-experiment": "Was no safe experiment left that separates the laws?",
    "missing-operator": "Does what is left over follow an input?",
    "noise": "Is what is left over large and without structure?",
    "budget": "Did the budget end first?",
}


CHANGES: dict[Cause, str] = {
    "noise": f"Rows of which a law explains more than {100 * (1 - NOISY):.0f} % of the variance.",
    "missing-operator": (
        f"A law of whose residuals the inputs foresee less than {100 * SHOWN:.0f} %, each row from "
        "the others."
    ),
    "missing-variable": (
        f"Repeats or neighbours that agree within {SCATTER**0.5:.1f} times their error bars, in "
        "every region, at every time and in every batch."
    ),
    "excitation": (
        f"Rows in at least {100 * COVERED:.0f} % of the parts of every input's range, and no two "
        "inputs that move together only."
    ),
    "no-safe-experiment": (
        "A safe experiment on offer on which the laws that are left part by more than the noise."
    ),
    "budget": "A law that the verifier admits before a larger budget ends.",
    "no-valid-proposal": "One proposal that passes the checks and can be fitted.",
}
"""What would change the verdict, by its cause: the number of its test."""


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
    shifted = verdict.shift_bound
    under_shift = "" if shifted is None else f", below {short(shifted, 2)} under shift"
    return (
        f"RMS error on rows like the protected ones, noise included{under_shift}; {sure:g}\u00a0% "
        f"bound, valid after {count(verdict.submissions, 'submission')}"
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


RULINGS: dict[Ruling, str] = {
    "stands": "stands",
    "ruled-out": "ruled out",
    "untested": "not tested",
    "undecided": "not decided",
}
"""What a ruling is called."""


@final
@dataclass(frozen=True, slots=True)
class CauseRow:
    """One possible cause: its test, what was found, and whether it stands."""

    cause: Cause
    test: str
    found: str
    verdict: str


def causes(refusal: Refusal) -> list[CauseRow]:
    """Return every cause with what its test found; the one that stands comes first."""
    kept = refusal.findings or (Finding(refusal.cause, "stands", refusal.reason),)
    ordered = sorted(kept, key=lambda finding: list(RULINGS).index(finding.ruling))
    return [CauseRow(f.cause, _TESTS[f.cause], f.sentence, RULINGS[f.ruling]) for f in ordered]


def held_out(attempt: Attempt, evidence: Evidence) -> str:
    """Say the error of a fit on rows it was not fitted to, and which rows those are."""
    if attempt.validation_nmse is None or attempt.fit is None:
        return ""
    target = evidence.grammar.target
    if evidence.validation is not None and not attempt.folds:
        y = evidence.validation.columns[target.name]
        which = "on validation rows"
    else:
        rows, sums = evidence.rows(), evidence.roles.sums
        segments = Segments.of(None if sums is None else rows[sums])
        y = segments.first(rows[target.name])[: attempt.fit.n_rows]
        which = f"cross-validated over {count(attempt.folds, 'fold')}"
    rms = float(np.sqrt(attempt.validation_nmse * np.var(y)))
    return f"RMS error {with_unit(short(rms, 2), target.unit)}, {which}"


def limits_held(limits: Mapping[str, object]) -> str:
    """Say what every experiment had to show under every law that stood.

    >>> limits_held({"columns": {"T": [0.0, 350.0]}, "sigmas": 2.0})
    '0 <= T <= 350, with coefficients moved by 2 sd'
    """
    held = limits_from_json(limits)
    if held is None:
        return f"as the function {limits.get('predicate', '')} says"
    return f"{held}, with coefficients moved by {held.sigmas:g} sd"
