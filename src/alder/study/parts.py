"""From names to stages: proposers, selectors, and how rivals are refitted."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeAlias, cast

import numpy as np

from alder.checking import check
from alder.errors import BadStudy
from alder.expr.canonical import digest
from alder.expr.text import parse, to_text
from alder.loop import Journal, Refit
from alder.plugins import plugin, plugins
from alder.ports import Named, Proposer, Selector, World
from alder.proposers.guesses import Guesses
from alder.proposers.search.proposer import Search
from alder.records.effort import Tally
from alder.records.evidence import Candidate, Evidence
from alder.records.grammar import Grammar
from alder.records.limits import Limits
from alder.records.proposal import Proposal
from alder.selection.comparison import comparison_set
from alder.selection.registry import SELECTORS
from alder.selection.registry import selector as named_selector
from alder.selection.safety import Predicate, Safeguarded, require_foreseen
from alder.spelling import printable

Safe: TypeAlias = Limits | Mapping[str, tuple[float, float]] | Predicate
"""Limits on what an experiment may show: ends by column, or a function of its forecast rows."""


def as_proposer(
    wanted: str | Proposer, guesses: Sequence[str | Proposal], grammar: Grammar
) -> tuple[str, Proposer]:
    """Return a proposer and the name under which the configuration knows it."""
    known = [
        Proposal(parse(guess, grammar.variable_names)) if isinstance(guess, str) else guess
        for guess in guesses
    ]
    for guess in known:
        require_in_grammar(guess, grammar)
    if not isinstance(wanted, str):
        return wanted.name if isinstance(wanted, Named) else type(wanted).__name__, wanted
    if wanted == "guesses" and not known:
        raise BadStudy('The proposer "guesses" needs at least one guess.')
    if wanted in ("guesses", "search") or wanted.partition(":")[0] in ("llm", "hybrid", "agent"):
        return _from_guesses(wanted, known)
    if wanted in plugins("proposers"):
        made = plugin("proposers", wanted)()
        if isinstance(made, Proposer):
            return wanted, made
        raise BadStudy(
            f"The plug-in `{wanted}` makes a {type(made).__name__}, which is no proposer."
        )
    raise BadStudy(
        f"`{printable(wanted)}` is not a proposer; search and guesses are, models such as "
        f'llm:openai:NAME, and agent:"command ...".'
    )


def _from_guesses(wanted: str, known: Sequence[Proposal]) -> tuple[str, Proposer]:
    """Return the proposer of a name, after the guesses where there are some."""
    then = None if wanted == "guesses" else _named(wanted)
    name = then.name if isinstance(then, Named) else wanted
    if not known and then is not None:
        return name, then
    laws = "".join(sorted(digest(guess.structure) for guess in known))
    name = f"{name}, from {len(known)} guesses {sha256(laws.encode()).hexdigest()[:8]}"
    return name, Guesses(tuple(known), then)


def _named(wanted: str) -> Proposer:
    """Return the search, a model or an agent by its name."""
    if wanted == "search":
        return Search()
    if wanted.partition(":")[0] == "agent":
        from alder.proposers.agent import agent_from_text

        return agent_from_text(wanted)
    from alder.proposers.llm.naming import model_proposer

    return model_proposer(wanted)


def require_in_grammar(guess: Proposal, grammar: Grammar) -> None:
    """Refuse a guess that the grammar cannot say: it would be proposed in vain."""
    problems = check(guess, grammar)
    if problems:
        law = to_text(guess.structure, grammar.variable_names)
        raise BadStudy(f"The guess `{law}` is no law of this grammar: {problems[0].message}")


def as_selector(wanted: str | Selector) -> tuple[str, Selector]:
    """Return a selector and the name under which the configuration knows it."""
    if not isinstance(wanted, str):
        return wanted.name if isinstance(wanted, Named) else type(wanted).__name__, wanted
    if wanted in SELECTORS or wanted not in plugins("selectors"):
        return wanted, named_selector(wanted)
    made = plugin("selectors", wanted)()
    if isinstance(made, Selector):
        return wanted, made
    raise BadStudy(f"The plug-in `{wanted}` makes a {type(made).__name__}, which is no selector.")


def as_limits(wanted: Safe) -> Limits | Predicate:
    """Return limits from whatever they were given as."""
    if isinstance(wanted, Limits):
        return wanted
    if isinstance(wanted, Mapping):
        return Limits(cast("Mapping[str, tuple[float, float]]", wanted))
    if callable(wanted):
        return wanted
    raise BadStudy(
        f"limits is a mapping of columns to their two ends, or a function of forecast columns; "
        f"got a {type(wanted).__name__}."
    )


def limits_to_json(limits: Limits | Predicate | None) -> dict[str, object]:
    """Write limits as the configuration holds them: as numbers, or a function by its name."""
    match limits:
        case None:
            return {}
        case Limits(columns, sigmas):
            ends = {name: list(pair) for name, pair in columns.items()}
            return {"columns": ends, "sigmas": sigmas}
        case _:
            module = getattr(limits, "__module__", "")
            name = getattr(limits, "__qualname__", type(limits).__qualname__)
            return {"predicate": f"{module}.{name}"}


def limits_from_json(value: Mapping[str, Any]) -> Limits | None:
    """Read limits that are numbers; None for none, and for a function, which only has a name."""
    if "columns" not in value:
        return None
    return Limits({k: (low, high) for k, (low, high) in value["columns"].items()}, value["sigmas"])


def safeguarded(
    selector: Selector, limits: Limits | Predicate, world: World, grammar: Grammar
) -> Safeguarded:
    """Return the selector within limits; raise `BadStudy` where this world cannot foresee them."""
    require_foreseen(limits, world, grammar.target.name)
    return Safeguarded(selector, limits)


def refitter(journal: Journal) -> Refit:
    """Return how candidates are made: proposals so far, their rivals, and edits of the best."""

    def candidates(
        evidence: Evidence, rng: np.random.Generator, tally: Tally
    ) -> tuple[Candidate, ...]:
        offered = [rival for attempt in evidence.attempts[-1:] for rival in attempt.rivals]
        return comparison_set(evidence, offered, rng=rng, labels=journal.state.labels, tally=tally)

    return candidates
