"""The rivals of a study: one letter each, and how each of them ended."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from alder.expr.canonical import skeleton_digest
from alder.records.law import Law
from alder.report.measure import REFUTED
from alder.report.story import Answer, Said, Story

Standing: TypeAlias = Literal["admitted", "refuted", "rejected", "dropped", "undecided"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rival:
    """A law that was once in the running: its last fit, its rounds, and how it ended.

    `answer` and `said` are the experiment that refuted it and what it had said there. `category` is
    all that is known of a law the verifier rejected.
    """

    label: str
    law: Law
    first: int
    last: int
    standing: Standing
    answer: Answer | None = None
    said: Said | None = None
    category: str | None = None


@final
@dataclass(slots=True)
class _Draft:
    label: str
    law: Law
    first: int
    last: int
    category: str | None = None
    answer: Answer | None = None
    said: Said | None = None


def rivals(story: Story) -> tuple[Rival, ...]:
    """Return every law that was submitted or weighed, in the order of their letters."""
    drafts: dict[str, _Draft] = {}
    for round_ in story.rounds:
        for candidate in round_.candidates:
            draft = _draft(drafts, story, candidate.law, round_.number)
            draft.law = candidate.law
            draft.answer, draft.said = _fatal(round_.answers, candidate.label)
        fit = round_.attempt.fit
        if fit is not None:
            draft = _draft(drafts, story, fit.law, round_.number)
            draft.category = round_.attempt.category
    ordered = sorted(drafts.values(), key=lambda draft: (len(draft.label), draft.label))
    return tuple(_finish(draft, story) for draft in ordered)


def _key(law: Law) -> str:
    return skeleton_digest(law.structure)


def _draft(drafts: dict[str, _Draft], story: Story, law: Law, number: int) -> _Draft:
    draft = drafts.setdefault(_key(law), _Draft(story.letter(law.structure), law, number, number))
    draft.last = number
    return draft


def _fatal(answers: tuple[Answer, ...], label: str) -> tuple[Answer | None, Said | None]:
    """Return the experiment a rival missed most, if the miss refutes it."""
    found = [(answer, said) for answer in answers for said in answer.said if said.label == label]
    if not found:
        return None, None
    answer, said = max(found, key=lambda pair: pair[1].sigmas)
    return (answer, said) if said.sigmas >= REFUTED else (None, None)


def _finish(draft: _Draft, story: Story) -> Rival:
    standing = _standing(draft, story)
    fatal = standing == "refuted"
    return Rival(
        draft.label, draft.law, draft.first, draft.last, standing,
        answer=draft.answer if fatal else None, said=draft.said if fatal else None,
        category=draft.category,
    )  # fmt: skip


def _standing(draft: _Draft, story: Story) -> Standing:
    admitted, key = story.law, _key(draft.law)
    if admitted is not None and _key(admitted) == key:
        return "admitted"
    if draft.said is not None:
        return "refuted"
    selections = [r for r in story.rounds if r.candidates]
    stands = bool(selections) and any(_key(c.law) == key for c in selections[-1].candidates)
    if draft.category not in (None, "accept"):
        return "rejected"
    return "undecided" if stands or not selections else "dropped"
