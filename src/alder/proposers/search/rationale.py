"""Why a structure is proposed, in words that cite the evidence."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from alder.expr.nodes import Expr
from alder.expr.text import to_text
from alder.proposers.search.interactions import Structure
from alder.proposers.search.table import Table
from alder.records.evidence import Evidence

# Pairs are said to act together where chance explains them less often than this.
_SURE = 1e-4


class _Law(Protocol):
    @property
    def structure(self) -> Expr: ...
    @property
    def length(self) -> float: ...
    @property
    def loss(self) -> float: ...


class _Found(Protocol):
    @property
    def structure(self) -> Structure: ...
    @property
    def table(self) -> Table: ...
    @property
    def cut_short(self) -> bool: ...


def explain(best: _Law, others: Sequence[_Law], found: _Found, evidence: Evidence) -> str:
    """Say what the rows told before any law, what came of the last one, and how clear it is."""
    return " ".join(
        [
            *_tests(found.structure, evidence),
            *_history(evidence),
            *_verdict(best, others, found, evidence),
        ]
    )


def _tests(structure: Structure, evidence: Evidence) -> list[str]:
    names = evidence.grammar.variable_names
    said: list[str] = []
    idle = [name for name in names if name not in structure.relevant]
    if idle:
        said.append(f"{_list(idle)} changed nothing beyond chance.")
    together = [f"{a} with {b}" for (a, b), chance in structure.pairs.items() if chance < _SURE]
    if together:
        said.append(f"Acting together: {_list(together)}.")
    elif len(structure.relevant) > 1:
        said.append(f"{_list(structure.relevant)} act apart from one another.")
    for parity in ("odd", "even"):
        those = [name for name in structure.relevant if structure.parity[name] == parity]
        if those:
            said.append(f"The target is {parity} in {_list(those)}.")
    return said


def _history(evidence: Evidence) -> list[str]:
    """Cite the last refusal and what its residuals showed."""
    last = evidence.attempts[-1] if evidence.attempts else None
    if last is None or last.proposal is None or last.category in (None, "accept"):
        return []
    text = f"The last law was refused as {last.category}"
    if last.misfits and last.misfits[0].strength > 3.0:
        worst = last.misfits[0]
        text += f"; its residuals along {worst.along}: {worst.where}"
    return [text + "."]


def _verdict(best: _Law, others: Sequence[_Law], found: _Found, evidence: Evidence) -> list[str]:
    table = found.table
    spread = float(np.var(table.target))
    share = best.loss / spread if spread > 0.0 else 0.0
    text = f"Shortest description of {table.n} observations; it leaves {share:.2g} of the variance"
    if others:
        name = to_text(others[0].structure, evidence.grammar.variable_names)
        text += f", {others[0].length - best.length:.1f} nats before {name}"
    cut = ["The search was cut short by the guard on seconds."] if found.cut_short else []
    return [text + ".", *cut]


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
