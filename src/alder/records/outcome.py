"""How a study ends: a law, or a refusal that names its cause."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from alder.records.budget import Spent
from alder.records.front import FrontLaw
from alder.records.law import Law
from alder.records.nextstep import NextStep
from alder.records.verdict import Verdict

Cause: TypeAlias = Literal[
    "noise",
    "missing-operator",
    "missing-variable",
    "excitation",
    "no-safe-experiment",
    "budget",
    "no-valid-proposal",
]

CAUSES: dict[Cause, str] = {
    "noise": "the noise is larger than the accuracy that was asked for",
    "missing-operator": "the grammar cannot say what the rows show",
    "missing-variable": "rows with equal settings differ by more than the noise",
    "excitation": "a variable, or a combination of variables, was never moved enough",
    "no-safe-experiment": "no safe experiment separates the laws that are left",
    "budget": "the budget ended before a law was admitted",
    "no-valid-proposal": "no proposal passed the checks",
}


Ruling: TypeAlias = Literal["stands", "ruled-out", "untested", "undecided"]
"""What a test says of its cause: it decided, its number speaks against it, it could not be made,
or it would have spoken too had an earlier one not decided."""


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """What the test of one cause computed: a ruling, and a sentence with the number behind it."""

    cause: Cause
    ruling: Ruling
    sentence: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """Why no law is returned, what to do next, and what was left standing.

    `candidate` is the last fitted law, kept for scoring and pictures; it was not admitted.
    `findings` hold what the test of every cause computed, in the order of the tests; ledgers from
    before they were kept have none. `step` is the advice as data; older ledgers have none.
    """

    cause: Cause
    reason: str
    advice: str
    candidate: Law | None = None
    rivals: tuple[Law, ...] = ()
    findings: tuple[Finding, ...] = ()
    step: NextStep | None = None

    def __str__(self) -> str:
        """Say in words why no law is returned, and what to do.

        >>> print(Refusal("noise", "The rows scatter.", "Repeat experiments."))
        REFUSED  noise: The rows scatter. Repeat experiments.
        """
        return f"REFUSED  {self.cause}: {self.reason} {self.advice}"

    @property
    def ruled_out(self) -> tuple[Finding, ...]:
        """The causes whose tests speak against them, each with the number that rules it out."""
        return tuple(finding for finding in self.findings if finding.ruling == "ruled-out")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The end of a study: exactly one of `law` and `refusal` is there.

    `digest` is that of the last event of the ledger; `cut_short` says that the guard on seconds
    ended the study, so that another machine might have gone on. `front` holds for each size the
    most accurate law of the public rows, where no smaller one is as accurate, the smallest first;
    ledgers from before it was kept have none.
    """

    law: Law | None
    refusal: Refusal | None
    spent: Spent
    digest: str
    verdict: Verdict | None = None
    cut_short: bool = False
    ledger: str = ""
    front: tuple[FrontLaw, ...] = ()

    def __str__(self) -> str:
        """Return the law, or the refusal, in words."""
        return str(self.refusal) if self.law is None else f"ADMITTED  {self.law}"
