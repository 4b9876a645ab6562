"""Fitting structures to the public rows of a study."""

from collections.abc import Sequence

from alder.fitting.many import Fits, fit_many
from alder.records.effort import Effort, Tally
from alder.records.evidence import Evidence
from alder.records.proposal import Proposal


def fit_all(
    proposals: Sequence[Proposal], evidence: Evidence, effort: Effort, tally: Tally | None = None
) -> Fits:
    """Fit proposals to all public rows, as the roles of their columns say; `tally` counts them."""
    if tally is not None:
        tally.fits += len(proposals)
    grammar, roles = evidence.grammar, evidence.roles
    return fit_many(
        proposals, evidence.rows(), target=grammar.target, variables=grammar.variables,
        sigma=roles.sigma, weight=roles.weight, group=roles.group, sums=roles.sums, effort=effort,
        floors=grammar.floors,
    )  # fmt: skip
