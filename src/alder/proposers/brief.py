"""Evidence as text: what a language model is told before it proposes, within a token budget.

A brief has two messages. The instructions depend on nothing. The evidence is one JSON document
whose keys are fixed, and in which all that came from data is a number or a quoted, shortened text:
a sentence planted in a column name or a description stands where texts stand, and nowhere else.
The same evidence gives the same brief; `VERSION` changes with every word of it.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from alder.errors import BadStudy
from alder.ports import Message
from alder.proposers.llm.history import attempts, experiments
from alder.proposers.llm.instructions import INSTRUCTIONS, VERSION
from alder.proposers.llm.names import Names
from alder.proposers.llm.short import SHORT_INSTRUCTIONS, short_documents
from alder.proposers.llm.tables import best_fitted, sample, statistics
from alder.records.evidence import Evidence
from alder.records.grammar import Grammar
from alder.records.variable import Variable
from alder.spelling import printable

__all__ = ["VERSION", "estimate_tokens", "write_brief"]

_CHARACTERS_PER_TOKEN = 2.0  # cautious: tokenizers cut numbers into pieces of one to three digits
_MEANING = 160


@final
@dataclass(frozen=True, slots=True)
class _Room:
    """How much of each part is shown."""

    rows: int
    attempts: int
    experiments: int
    meaning: int


_ROOMS = (
    _Room(48, 12, 16, _MEANING),
    _Room(32, 10, 12, _MEANING),
    _Room(24, 8, 8, 120),
    _Room(16, 5, 4, 80),
    _Room(10, 3, 2, 60),
    _Room(6, 2, 0, 30),
    _Room(3, 1, 0, 0),
)


def estimate_tokens(text: str) -> int:
    """Return how many tokens a text may be, without knowing the tokenizer; rather too many."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def write_brief(evidence: Evidence, names: Names, *, tokens: int = 6000) -> tuple[Message, ...]:
    """Write the brief in these names, with as many rows and attempts as `tokens` leave room for.

    Where the long brief does not fit, the short one is written, with instructions of its own.
    Raise `BadStudy` where not even that fits.
    """
    needed = 0
    for instructions, document in _documents(evidence, names, tokens):
        # ASCII only: what looks like a quote or a line break to a reader cannot be one.
        text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        needed = estimate_tokens(instructions) + estimate_tokens(text)
        if needed <= tokens:
            return Message("system", instructions), Message("user", text)
    raise BadStudy(
        f"The shortest brief of this study takes some {needed} tokens; {tokens} are allowed. "
        f"Allow more, or declare fewer variables."
    )


def _documents(
    evidence: Evidence, names: Names, tokens: int
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield instructions and documents, the longest first."""
    for room in _ROOMS if estimate_tokens(INSTRUCTIONS) < tokens else ():
        yield INSTRUCTIONS, _document(evidence, names, room)
    for document in short_documents(evidence, names):
        yield SHORT_INSTRUCTIONS, document


def _document(evidence: Evidence, names: Names, room: _Room) -> dict[str, object]:
    grammar, rows, roles = evidence.grammar, evidence.rows(), evidence.roles
    best = best_fitted(evidence)
    return {
        "brief": VERSION,
        "target": _variable(grammar.target, names, room),
        "variables": [_variable(variable, names, room) for variable in grammar.variables],
        "grammar": _grammar(grammar),
        "target_is_sum_over_rows_of_an_observation": roles.sums is not None,
        "statistics": statistics(evidence, rows, names),
        "rows": sample(evidence, rows, names, best, room.rows),
        "attempts": attempts(evidence, names, best, room.attempts),
        "experiments": experiments(evidence, names, room.experiments),
        "left": _left(evidence),
    }


def _variable(variable: Variable, names: Names, room: _Room) -> dict[str, object]:
    shown = names.shown[variable.name]
    known: list[str] = [] if names.hidden or shown == variable.name else [variable.name]
    if variable.description and not names.hidden:
        known.append(variable.description)
    return {
        "name": shown,
        "unit": variable.unit if variable.unit is None else printable(variable.unit),
        "role": variable.role,
        "kind": variable.kind,
        "range": variable.range,
        "meaning": printable("; ".join(known), room.meaning) if room.meaning else "",
    }


def _grammar(grammar: Grammar) -> dict[str, object]:
    return {
        "operators": list(grammar.operators),
        "max_nodes": grammar.max_nodes,
        "max_depth": grammar.max_depth,
        "parameters_absorb_units": grammar.units == "absorb",
        "rules": list(_rules(grammar)),
    }


def _rules(grammar: Grammar) -> Iterator[str]:
    if grammar.angles_in_trig:
        yield "angles stand only under trigonometric functions"
    if grammar.indicators_as_factors:
        yield "indicators stand only as factors, under gate, or as the condition of where"
    for rule in grammar.nesting:
        yield f"at most {rule.at_most} {rule.inner} below {rule.outer}"


def _left(evidence: Evidence) -> dict[str, object]:
    budget, spent = evidence.budget, evidence.spent
    tokens = None if budget.tokens is None else max(budget.tokens - spent.tokens, 0)
    return {
        "proposals": budget.proposals - spent.proposals,
        "experiments": budget.queries - spent.queries,
        "tokens": tokens,
    }
