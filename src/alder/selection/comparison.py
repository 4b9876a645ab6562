"""The comparison set of a round: what was proposed, what was supplied, and their rivals."""

from collections.abc import Mapping, Sequence

import numpy as np

from alder.expr.canonical import skeleton_digest
from alder.records.effort import Tally
from alder.records.evidence import Candidate, Evidence
from alder.records.proposal import Proposal
from alder.selection.candidates import refit
from alder.selection.rivals import rivals

# Rivals are made of this many of the best laws, and only while fewer laws than this many stand.
_PARENTS, _ENOUGH = 3, 8


def comparison_set(
    evidence: Evidence,
    supplied: Sequence[Proposal] = (),
    *,
    rng: np.random.Generator,
    labels: Mapping[str, str] | None = None,
    most: int = 16,
    tally: Tally | None = None,
) -> tuple[Candidate, ...]:
    """Return the laws between which the next experiment should decide, the heaviest first.

    Every proposal of the evidence that passed its checks takes part, refused by the verifier or
    not, beside the `supplied` ones (a proposer's own rivals, or a set of yours). Where only few of
    them stand, edits of the best join them. `tally` counts the fits.
    """
    attempts = [a.proposal for a in evidence.attempts if a.proposal is not None and not a.problems]
    proposals = [*attempts, *supplied]
    standing = refit(proposals, evidence, labels=labels, most=most, tally=tally)
    if not standing or len(standing) >= _ENOUGH:
        return standing
    known = {skeleton_digest(proposal.structure): proposal for proposal in proposals}
    parents = [known[skeleton_digest(c.law.structure)] for c in standing[:_PARENTS]]
    others = rivals(parents, evidence, rng, most=most, tally=tally)
    if not others:
        return standing
    return refit([*proposals, *others], evidence, labels=labels, most=most, tally=tally)
