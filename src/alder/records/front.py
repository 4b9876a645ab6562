"""The front of accuracy against size: the laws that no other beats in both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

from alder.expr.canonical import skeleton_digest
from alder.expr.nodes import size
from alder.records.evidence import Attempt
from alder.records.law import Law

Standing: TypeAlias = Literal["admitted", "refused", "submitted", "open"]
"""What became of a law: `submitted` ones have no verdict yet, `open` ones never were submitted."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class FrontLaw:
    """A law of the front: the most accurate of its size, and more so than every smaller one.

    `error` is the root mean square of what it leaves over on the public rows it was fitted to, in
    the unit of the target. Such a law is no claim: only one whose `standing` is `admitted` was
    verified on rows that it was not fitted to.
    """

    law: Law
    error: float
    standing: Standing = "open"

    @property
    def nodes(self) -> int:
        """The size: operators, variables, parameters and literals."""
        return size(self.law.structure)

    @property
    def text(self) -> str:
        """The equation with its numbers."""
        return str(self.law)


def marked(front: Sequence[FrontLaw], attempts: Sequence[Attempt]) -> tuple[FrontLaw, ...]:
    """Say of every law of a front what became of it."""
    standings = {
        skeleton_digest(attempt.fit.structure): standing_of(attempt)
        for attempt in attempts
        if attempt.fit is not None
    }
    return tuple(
        replace(one, standing=standings.get(skeleton_digest(one.law.structure), "open"))
        for one in front
    )


def standing_of(attempt: Attempt) -> Standing:
    """Say what became of the law of an attempt; one that was not judged is only submitted."""
    match attempt.category:
        case None | "budget-spent":
            return "submitted"
        case "accept":
            return "admitted"
        case _:
            return "refused"
