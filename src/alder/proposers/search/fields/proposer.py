"""A proposer of laws of rates: nested spaces first, the general search where they hold none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.checking import check
from alder.expr.canonical import digest
from alder.expr.nodes import Apply, variables, walk
from alder.ports import Proposer, Submission
from alder.proposers.search.fields.description import Field
from alder.proposers.search.fields.finding import find_fields
from alder.proposers.search.fields.lent import Part, parts_of
from alder.proposers.search.proposer import Search
from alder.records.evidence import Evidence
from alder.records.law import Law
from alder.records.proposal import Bounds, Proposal

_MOST_RIVALS = 6
# A law that leaves more than this, relative to each row, is none of these spaces.
_FOUND = 1e-3


@final
@dataclass(frozen=True, slots=True)
class VectorFields:
    """Propose the law of a rate with the shortest description over all nested spaces.

    `then` is asked where no space holds the rows. `leading` are the best laws of other rates so
    far, parts of which are tried here: what saturates one rate often saturates another.
    """

    then: Proposer | None = field(default_factory=Search)
    leading: Mapping[str, Law] = field(default_factory=dict[str, Law])

    @property
    def name(self) -> str:
        """The name under which a configuration knows it."""
        return "vector-fields" if self.then is not None else "vector-fields alone"

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the shortest law that was not refused on these rows, and its rivals."""
        grammar, rows = evidence.grammar, evidence.rows()
        columns = {name: rows[name] for name in grammar.variable_names}
        target = rows[grammar.target.name]
        ranges = {v.name: v.range for v in grammar.variables if v.range is not None}
        allowed = set(grammar.operators)
        found = find_fields(
            columns, target, allowed=allowed, max_nodes=grammar.max_nodes,
            floors=grammar.floors, ranges=ranges, lent=self._lent(set(columns), allowed),
        )  # fmt: skip
        refused = _refused(evidence)
        laws = [one for one in found if digest(one.structure) not in refused]
        laws = [one for one in laws if not check(_proposal(one), grammar, rows)]
        if self.then is not None and not any(one.rest <= _FOUND for one in laws):
            general = self.then.propose(evidence, rng)
            if general is not None:
                return general
        if not laws:
            return None
        best, *others = laws
        rivals = tuple(_proposal(one) for one in others[:_MOST_RIVALS])
        return Submission(_proposal(best), rivals=rivals, fits=len(found))

    def _lent(self, known: set[str], allowed: set[str]) -> list[Part]:
        """Return parts that this grammar can say."""
        return [
            part
            for part in parts_of(self.leading.values())
            if set(variables(part.expr)) <= known
            and all(n.operator.name in allowed for n in walk(part.expr) if isinstance(n, Apply))
        ]


def _proposal(one: Field) -> Proposal:
    bounds = {name: Bounds(start=value) for name, value in one.values.items()}
    why = (
        f"The shortest description over nested spaces, found as {one.label}; it leaves "
        f"{one.rest:.1e} of the rate."
    )
    return Proposal(one.structure, bounds, why)


def _refused(evidence: Evidence) -> set[str]:
    """Return what was refused on as many rows as there are now."""
    n_rows = evidence.initial.n_rows + sum(t.n_rows for t in evidence.trajectories)
    return {
        digest(attempt.proposal.structure)
        for attempt in evidence.attempts
        if attempt.proposal is not None
        and (attempt.problems or (attempt.fit is not None and attempt.fit.n_rows == n_rows))
    }
