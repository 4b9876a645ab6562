"""The built-in Law Revision Agent."""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.expr.text import to_text
from alder.ports import Submission
from alder.proposers.search.beam import Scored, Width, search
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal

# Structures whose description is longer by less than this explain the rows about as well.
_ABOUT_AS_WELL = 12.0


@final
@dataclass(frozen=True, slots=True)
class Search:
    """Propose the structure with the shortest description that was not refused on these rows."""

    width: Width = field(default_factory=Width)

    def propose(self, evidence: Evidence, rng: np.random.Generator) -> Submission | None:
        """Return the best structure within the grammar, and rivals that fit about as well."""
        del rng
        n_rows = evidence.initial.n_rows + sum(t.n_rows for t in evidence.trajectories)
        refused = {
            skeleton_digest(attempt.proposal.structure)
            for attempt in evidence.attempts
            if attempt.proposal is not None
            and (attempt.problems or (attempt.fit is not None and attempt.fit.n_rows == n_rows))
        }
        rows = evidence.rows()
        ranked = [
            scored
            for scored in search(evidence, self.width)
            if not check(Proposal(scored.structure), evidence.grammar, rows)
        ]
        fresh = [one for one in ranked if skeleton_digest(one.structure) not in refused]
        if not fresh:
            return None
        best, *others = fresh
        rivals = tuple(
            Proposal(one.structure) for one in others if one.length < best.length + _ABOUT_AS_WELL
        )
        rationale = _rationale(best, others, evidence, n_rows)
        return Submission(Proposal(best.structure, rationale=rationale), rivals=rivals)


def _rationale(best: Scored, others: list[Scored], evidence: Evidence, n_rows: int) -> str:
    names = evidence.grammar.variable_names
    text = f"Shortest description of {n_rows} rows among the structures tried"
    if others:
        gap = others[0].length - best.length
        text += f"; {gap:.1f} nats shorter than {to_text(others[0].structure, names)}"
    return text + "."
