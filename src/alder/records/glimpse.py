"""How far a proposer is while it looks for laws; for progress only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from alder.expr.nodes import Expr


@final
@dataclass(frozen=True, slots=True, eq=False)
class Glimpse:
    """What a proposer is doing, how many structures it has fitted, and its best law so far.

    `values` are the parameters of that law where the search has them now.
    """

    stage: str
    fits: int = 0
    best: Expr | None = None
    values: Mapping[str, float] = field(default_factory=dict[str, float])
