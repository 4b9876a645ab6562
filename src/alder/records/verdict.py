"""What the verifier answers: accept, or one coarse category. Never a score."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

Category: TypeAlias = Literal[
    "accept",
    "invalid",
    "inaccurate",
    "no-better-than-reference",
    "unstable",
    "fails-under-shift",
    "fails-criterion",
    "too-complex",
    "budget-spent",
]


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer of the verifier.

    `bound` accompanies an admission only: the error on rows like the admission rows that holds at
    `confidence` after `submissions` submissions, in the unit of the target; `shift_bound` is the
    same of rows like the shift rows, where there are any. `budget-spent` means that the verifier
    may reveal nothing more.
    """

    category: Category
    submissions: int
    bound: float | None = None
    confidence: float | None = None
    shift_bound: float | None = None

    @property
    def accepted(self) -> bool:
        """Whether the law is admitted."""
        return self.category == "accept"


@final
@dataclass(frozen=True, slots=True)
class Commitment:
    """A salted SHA-256 digest of protected rows, published before the first proposal."""

    role: str
    n_rows: int
    digest: str
