"""Does a ledger keep its promises? Everything is recomputed from the events themselves.

The chain, the order of events, the budget, the choices (which must follow from public evidence
alone) and, where the caller holds them, that protected rows and salts occur nowhere.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from alder.errors import BadLedger
from alder.ledger.content import GENESIS, chain, pack
from alder.ledger.events import Replayed, Replaying
from alder.ledger.leaks import Secrets, count_recognisable, leaks
from alder.ledger.order import disorder
from alder.ports import Event
from alder.records.budget import Spent
from alder.records.evidence import Candidate, Evidence

Code: TypeAlias = Literal[
    "chain", "unreadable", "order", "budget", "selection", "leak", "commitment", "digest"
]

# A sum of costs may differ from the limit in its last digits.
_ROUNDING = 1.0 + 1e-9

Reselect: TypeAlias = Callable[[Evidence, Sequence[Candidate], int], Sequence[str]]
"""Chooses n experiments again from public evidence and candidates; returns their ids."""


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One broken promise: the number of the event (0 for the whole ledger), and a sentence."""

    event: int
    code: Code
    message: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"event {self.event}: {self.message}" if self.event else self.message


@final
@dataclass(frozen=True, slots=True)
class Report:
    """What an audit looked at and found; nothing found means that every promise is kept.

    `n_values` counts the protected values that were looked for: those of many digits that no public
    row holds as well.
    """

    findings: tuple[Finding, ...]
    n_events: int
    n_selections: int
    digest: str
    n_values: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def audit(
    events: Sequence[Event],
    *,
    reselect: Reselect | None = None,
    secrets: Secrets | None = None,
    digest: str | None = None,
) -> Report:
    """Recompute what the ledger promises and return every promise it breaks.

    Without `reselect` choices are not replayed, without `secrets` leaks are not looked for.
    `digest` is that of the last event as it was published: only it reveals a ledger that was
    written anew from its first event.
    """
    found = [Finding(n, "chain", sentence) for n, sentence in _broken_links(events)]
    found += [Finding(n, "order", sentence) for n, sentence in disorder(events)]
    walk = _Walk(reselect)
    for event in events:
        walk.step(event)
    found += walk.finish()
    state = walk.replaying.freeze()
    n_values = 0
    if secrets is not None and state.configuration is not None:
        grammar = state.configuration.grammar
        found += [Finding(n, "leak", sentence) for n, sentence in leaks(events, secrets, grammar)]
        found += _uncommitted(state, secrets)
        n_values = count_recognisable(events, secrets, grammar)
    last = events[-1].digest if events else GENESIS
    if digest is not None and digest != last:
        found.append(Finding(0, "digest", f"The ledger ends in {last}, not in {digest}."))
    return Report(tuple(found), len(events), walk.n_selections, last, n_values)


def _broken_links(events: Sequence[Event]) -> Iterator[tuple[int, str]]:
    """Compare every digest with what it should be after the event before it."""
    previous = GENESIS
    for number, event in enumerate(events, start=1):
        if event.number != number:
            yield event.number, f"It stands in place {number}: an event was moved or removed."
        if event.digest != chain(previous, number, event.kind, pack(event.content).text):
            yield event.number, "It does not match its digest: it was changed or moved."
        previous = event.digest


@final
class _Walk:
    """Replays the events one by one and looks at budget and choices on the way.

    Consecutive choices are one selection: made from what was public before the first of them.
    """

    def __init__(self, reselect: Reselect | None) -> None:
        self.replaying = Replaying(Replayed())
        self.n_selections = 0
        self._reselect = reselect
        self._found: list[Finding] = []
        self._unreadable = False
        self._before: Replayed | None = None
        self._first = 0

    def step(self, event: Event) -> None:
        """Add one event; after one that cannot be read there is nothing to compare with."""
        if self._unreadable:
            return
        if event.kind != "choice":
            self._compare()
        elif self._before is None and self._reselect is not None:
            self._before, self._first = self.replaying.freeze(), event.number
        spent = self.replaying.spent
        try:
            self.replaying.add(event)
        except BadLedger as error:
            self._unreadable = True
            self._found.append(Finding(event.number, "unreadable", str(error)))
            return
        sentences = _overspent(event, spent, self.replaying)
        self._found += [Finding(event.number, "budget", sentence) for sentence in sentences]

    def finish(self) -> Sequence[Finding]:
        """Return what was found."""
        self._compare()
        return self._found

    def _compare(self) -> None:
        """Choose again from what was public before the choices."""
        before, self._before = self._before, None
        if before is None or self._reselect is None:
            return
        self.n_selections += 1
        chosen = self.replaying.choices[len(before.choices) :]
        recorded = [choice.experiment.id for choice in chosen]
        if before.evidence is None:
            sentence = "It was chosen before there were public rows."
        else:
            again = list(self._reselect(before.evidence, before.candidates, len(recorded)))
            if again == recorded:
                return
            sentence = (
                f"Public evidence leads to {', '.join(again) or 'no experiment'}; the ledger has "
                f"{', '.join(recorded)}."
            )
        self._found.append(Finding(self._first, "selection", sentence))


def _overspent(event: Event, before: Spent, state: Replaying) -> Iterator[str]:
    """Compare what was charged with the budget, and at the end what was done with it.

    Seconds are a guard that a running step may pass. A call to a model cannot know its tokens
    and its price beforehand, so they may be passed once, by the last proposal.
    """
    budget, spent = state.budget, state.spent
    if budget is None:
        return
    if event.kind == "charge":
        for name in ("proposals", "queries", "cost"):
            used, limit = getattr(spent, name), getattr(budget, name)
            if used > limit * _ROUNDING and used > getattr(before, name):
                yield f"{used:g} {name} are charged; the budget has {limit:g}."
    if event.kind == "proposal" and budget.tokens is not None and spent.tokens > budget.tokens:
        yield f"{spent.tokens} tokens of {budget.tokens} were spent before it."
    if event.kind == "proposal" and spent.money > budget.money * _ROUNDING:
        yield f"${spent.money:.2f} of ${budget.money:.2f} were spent before it."
    if event.kind == "end":
        yield from _uncharged(state)


def _uncharged(state: Replaying) -> Iterator[str]:
    spent = state.spent
    if len(state.trajectories) > spent.queries:
        yield f"{len(state.trajectories)} experiments ran; {spent.queries} are charged."
    if len(state.verdicts) > spent.proposals:
        yield f"{len(state.verdicts)} laws were judged; {spent.proposals} are charged."


def _uncommitted(state: Replayed, secrets: Secrets) -> Iterator[Finding]:
    """Compare the commitments with those recomputed, or without salts with the number of rows.

    A ledger without any is judged by the order of its events: it may not hold a proposal.
    """
    published = {made.role: made.digest for made in state.commitments}
    recomputed = {made.role for made in secrets.commitments}
    for made in state.commitments:
        rows = secrets.rows.get(made.role)
        n_rows = 0 if rows is None else len(next(iter(rows.values())))
        if rows is not None and made.role not in recomputed and n_rows != made.n_rows:
            yield Finding(
                0,
                "commitment",
                f"{n_rows} {made.role} rows were given; the ledger committed to {made.n_rows}.",
            )
    for made in secrets.commitments:
        if published and published.get(made.role) != made.digest:
            yield Finding(
                0, "commitment", f"The {made.role} rows are not those the ledger committed to."
            )
