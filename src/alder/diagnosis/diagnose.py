"""Why no law was admitted, from public evidence alone, and what to do next.

Every test says what it computed, whether it speaks or not; the first that speaks decides.
"""

from collections.abc import Iterator, Sequence

from alder.diagnosis.hidden import hidden, hidden_share
from alder.diagnosis.means import all_refused, inseparable, spent, unpaid
from alder.diagnosis.movement import Unmoved, unexcited, unmoved
from alder.diagnosis.noise import noisy
from alder.diagnosis.proposals import no_valid_proposal
from alder.diagnosis.signs import Sign, Stop
from alder.diagnosis.unsaid import unsaid
from alder.diagnosis.view import View, best_of, left_over
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Pool
from alder.records.law import Law
from alder.records.outcome import Cause, Finding, Refusal


def diagnose(
    evidence: Evidence,
    candidates: Sequence[Candidate],
    stop: Stop,
    held_back: str = "",
    *,
    pool: Pool | None = None,
    accuracy: float | None = None,
) -> Refusal:
    """Name the cause of a refusal; the first test that speaks decides, the most specific first.

    `held_back` names limits that alone left nothing to ask; they then are the cause, whatever the
    rows, which could not become more, say besides. `pool` is what the world offers, `accuracy` the
    NMSE that was asked for, where one was.
    """
    best = best_of(evidence.attempts)
    left = left_over(evidence, best)
    view = View(evidence, candidates, stop, held_back, pool, accuracy, best, left)
    signs = _signs(view)
    decided = next((sign for sign in signs if sign.speaks), None)
    if decided is None:
        decided = all_refused(view)
        signs = (*signs, decided)
    candidate = best.fit.law if best is not None and best.fit is not None else None
    return Refusal(
        cause=decided.cause,
        reason=decided.sentence,
        advice=decided.advice,
        candidate=candidate,
        rivals=tuple(c.law for c in candidates if not _same(c.law, candidate)),
        findings=tuple(_findings(signs, decided)),
        step=decided.step,
    )


def _signs(view: View) -> tuple[Sign, ...]:
    """Make every test, in the order in which they decide.

    First what needs no rows. Then what rows show however far they reach: structure, or a hidden
    variable, whichever explains more. Then what rows do not reach; noise only if they do reach. A
    variable that hardly moved at all comes before structure: little of it could be seen.
    """
    found = unmoved(view) if view.best is not None else Unmoved()
    held_back = inseparable(view, found)
    shown = [unsaid(view), hidden(view)]
    if view.left is not None and hidden_share(view) > view.left.pattern.share:
        shown.reverse()
    first = [no_valid_proposal(view)] + ([held_back] if view.held_back else [])
    last = [] if view.held_back else [held_back]
    reach = [unexcited(view, found), *_decisive(view, found, held_back), unpaid(view, found)]
    middle = (*reach, *shown) if found.is_still else (*shown, *reach)
    return (*first, *middle, noisy(view), *last, spent(view))


def _decisive(view: View, found: Unmoved, sign: Sign) -> list[Sign]:
    """Return the test of safety before that of noise where what was not moved is not safe."""
    is_unsafe = len(found.far) and view.pool is not None and not view.pool.safe[found.far].any()
    return [sign] if is_unsafe and not view.held_back else []


def _findings(signs: Sequence[Sign], decided: Sign) -> Iterator[Finding]:
    """Return one finding for each cause, in the order of the tests."""
    by_cause: dict[Cause, Sign] = {}
    for sign in signs:
        known = by_cause.get(sign.cause)
        if known is None or sign is decided or (sign.speaks and known is not decided):
            by_cause[sign.cause] = sign
    for sign in by_cause.values():
        if sign is decided:
            yield Finding(sign.cause, "stands", sign.sentence)
        elif sign.speaks:
            yield Finding(sign.cause, "undecided", sign.sentence)
        else:
            yield Finding(sign.cause, "ruled-out" if sign.is_made else "untested", sign.sentence)


def _same(law: Law, other: Law | None) -> bool:
    return other is not None and law.structure == other.structure
