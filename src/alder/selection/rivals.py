"""Rivals: edits of the best laws that the grammar permits and the rows do not refute.

Even a single proposal gets rivals this way, so that there is something for an experiment to decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.checking import check
from alder.expr.canonical import digest, skeleton_digest
from alder.expr.neighbours import neighbours
from alder.expr.nodes import Expr, parameters, size, variables
from alder.fitting.evidence import fit_all
from alder.records.effort import SCREENED, Tally
from alder.records.evidence import Evidence
from alder.records.grammar import Grammar
from alder.records.proposal import Proposal
from alder.selection.candidates import REFUTED
from alder.selection.likelihood import bic

# Edits fitted for each call: a few tenths of a second on one core.
_MOST_EDITS = 512
# Two structures whose losses agree to this share fit the same curve to the rows.
_SAME_LOSS = 1e-6


def rivals(
    proposals: Sequence[Proposal],
    evidence: Evidence,
    rng: np.random.Generator,
    *,
    most: int = 16,
    tally: Tally | None = None,
) -> tuple[Proposal, ...]:
    """Return up to `most` rivals of the proposals, the best fits first.

    Every edit of every proposal is considered, or a random share where there are too many. A
    rival passes `check`, is no rewriting of another, and is kept where its BIC is not above that
    of the law it came from by more than refutes a law. Proposals themselves are not among them.
    `tally` counts the fits.
    """
    edits = _distinct(proposals, evidence.grammar)
    if len(edits) > _MOST_EDITS:
        chosen = np.sort(rng.choice(len(edits), _MOST_EDITS, replace=False))
        edits = [edits[int(i)] for i in chosen]
    edits = [e for e in edits if not check(e.proposal.structure, evidence.grammar)]
    if not edits:
        return ()
    fitted = fit_all(proposals, evidence, SCREENED, tally)
    fits = fit_all([e.proposal for e in edits], evidence, SCREENED, tally)
    found = bic(fits, evidence)
    limits = bic(fitted, evidence)[[e.parent for e in edits]] + REFUTED
    order = [int(i) for i in np.argsort(found, kind="stable") if found[i] <= limits[i]]
    known = {skeleton_digest(proposal.structure) for proposal in proposals}
    losses = list(fitted.loss)
    kept: list[Proposal] = []
    for i in order:
        if len(kept) >= most:
            break
        if _is_among(fits.loss[i], losses):
            continue
        identity = skeleton_digest(edits[i].proposal.structure)
        if identity not in known:
            known.add(identity)
            losses.append(fits.loss[i])
            kept.append(edits[i].proposal)
    return tuple(kept)


def _is_among(loss: float, losses: Sequence[float]) -> bool:
    """Say whether a loss was met before: then the structure is another way to write a law."""
    return any(abs(loss - other) <= _SAME_LOSS * other for other in losses)


@final
@dataclass(frozen=True, slots=True)
class _Edit:
    """An edited proposal and the number of the one it came from."""

    proposal: Proposal
    parent: int


def _distinct(proposals: Sequence[Proposal], grammar: Grammar) -> list[_Edit]:
    """List the edits of all proposals that fit the node limit, equal ones once."""
    seen = {digest(proposal.structure) for proposal in proposals}
    found: list[_Edit] = []
    for number, parent in enumerate(proposals):
        for edited in neighbours(parent.structure, grammar.variable_names):
            if size(edited) > grammar.max_nodes or not variables(edited):
                continue
            identity = digest(edited)
            if identity not in seen:
                seen.add(identity)
                found.append(_Edit(_like(parent, edited), number))
    return found


def _like(parent: Proposal, structure: Expr) -> Proposal:
    """Keep the bounds of the parameters that are left."""
    left = parameters(structure)
    bounds = {name: pair for name, pair in parent.bounds.items() if name in left}
    return Proposal(structure, bounds, rationale="a rival by one edit", scope=parent.scope)
