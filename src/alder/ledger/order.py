"""Which event may follow which: the rules an audit holds a ledger to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from alder.ledger.budgets import is_larger
from alder.ports import Event


class _Seen:
    """What the events so far contain, as far as the rules ask."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.last = ""
        self.budget: Mapping[str, object] | None = None
        self.n_attempts = 0
        self.fitted: set[object] = set()
        self.chosen: set[object] = set()
        self.told: set[object] = set()
        self.submissions = 0


def disorder(events: Sequence[Event]) -> Iterator[tuple[int, str]]:
    """Yield the number of every event that may not stand where it does, and why."""
    seen = _Seen()
    for event in events:
        for rule in _rules(event.kind):
            sentence = rule(seen, event)
            if sentence:
                yield event.number, sentence
        _note(seen, event)


_Rule = Callable[[_Seen, Event], str]


def _rules(kind: str) -> tuple[_Rule, ...]:
    return (_begun, _not_frozen, *_OF_KIND.get(kind, ()))


def _begun(seen: _Seen, event: Event) -> str:
    begun = "configuration" in seen.kinds
    if event.kind == "configuration":
        return "There is a second configuration." if begun else ""
    return "" if begun else "It stands before the configuration."


def _not_frozen(seen: _Seen, event: Event) -> str:
    return "It follows the end." if seen.last == "end" and event.kind != "resume" else ""


def _resume(seen: _Seen, event: Event) -> str:
    budget = event.content.get("budget")
    if seen.last != "end":
        return ""
    if isinstance(budget, Mapping) and is_larger(cast("Mapping[str, Any]", budget), seen.budget):
        return ""
    return "It resumes an ended study without a larger budget."


def _before_proposals(seen: _Seen, event: Event) -> str:
    if event.kind in seen.kinds:
        return f"There is a second event of the kind {event.kind!r}."
    return "It comes after the first proposal." if "proposal" in seen.kinds else ""


def _proposal(seen: _Seen, event: Event) -> str:
    missing = [kind for kind in ("commitments", "initial") if kind not in seen.kinds]
    return f"A proposal stands before {' and '.join(missing)}." if missing else ""


def _of_attempt(seen: _Seen, event: Event) -> str:
    attempt = event.content.get("attempt")
    known = isinstance(attempt, int) and 0 <= attempt < seen.n_attempts
    return "" if known else f"It speaks of attempt {attempt}, which was not proposed yet."


def _verdict(seen: _Seen, event: Event) -> str:
    attempt = event.content.get("attempt")
    if attempt not in seen.fitted:
        return f"Attempt {attempt} is judged before it is fitted."
    if _submissions(event) < seen.submissions:
        return "The verifier counts fewer submissions than before."
    return ""


def _front(seen: _Seen, event: Event) -> str:
    return "" if seen.fitted else "A front stands before the first fit."


def _choice(seen: _Seen, event: Event) -> str:
    identity = _experiment(event)
    return f"{identity} was chosen before." if identity in seen.chosen else ""


def _answer(seen: _Seen, event: Event) -> str:
    identity = _experiment(event)
    if identity not in seen.chosen:
        return f"{identity} is answered before it is chosen."
    if identity in seen.told:
        return f"{identity} is answered twice."
    return ""


_OF_KIND: Mapping[str, tuple[_Rule, ...]] = {
    "commitments": (_before_proposals,),
    "initial": (_before_proposals,),
    "validation": (_before_proposals,),
    "proposal": (_proposal,),
    "problems": (_of_attempt,),
    "fit": (_of_attempt,),
    "front": (_front,),
    "verdict": (_of_attempt, _verdict),
    "choice": (_choice,),
    "outcome": (_answer,),
    "failed": (_answer,),
    "abandoned": (_answer,),
    "resume": (_resume,),
}


def _note(seen: _Seen, event: Event) -> None:
    seen.kinds.add(event.kind)
    seen.last = event.kind
    match event.kind:
        case "configuration" | "resume":
            budget = event.content.get("budget")
            if isinstance(budget, Mapping):
                seen.budget = cast("Mapping[str, Any]", budget)
        case "proposal":
            seen.n_attempts += 1
        case "fit":
            seen.fitted.add(event.content.get("attempt"))
        case "verdict":
            seen.submissions = max(seen.submissions, _submissions(event))
        case "choice":
            seen.chosen.add(_experiment(event))
        case "outcome":
            seen.told.add(_experiment(event))
        case _:
            pass


def _experiment(event: Event) -> object:
    """Return the id of the experiment an event speaks of."""
    experiment = event.content.get("experiment")
    if isinstance(experiment, Mapping):
        return cast("Mapping[str, object]", experiment).get("id")
    return experiment


def _submissions(event: Event) -> int:
    verdict = event.content.get("verdict")
    count = cast("Mapping[str, object]", verdict).get("submissions") if verdict else 0
    return count if isinstance(count, int) else 0
