"""How the study of a whole system ends: equations of motion, or a refusal that names a state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from alder.records.budget import Spent
from alder.records.dynamics import Dynamics
from alder.records.outcome import Outcome, Refusal
from alder.records.verdict import Verdict


@final
@dataclass(frozen=True, slots=True, eq=False)
class SystemOutcome:
    """The end of the study of a system: exactly one of `dynamics` and `refusal` is there.

    `state` names the state whose rate has no admitted law; it is empty where all have one, and
    where it is the equations together that were refused. `outcomes` holds the study of each rate,
    `verdict` the answer to all equations followed together. `candidate` are the best equations in
    hand, admitted or not. An experiment counts once in `spent`, however many rates it served.
    """

    dynamics: Dynamics | None
    refusal: Refusal | None
    state: str
    outcomes: Mapping[str, Outcome]
    spent: Spent
    verdict: Verdict | None = None
    candidate: Dynamics | None = None
    cut_short: bool = field(default=False)

    def __str__(self) -> str:
        """Return the equations, or the refusal and the state it is about, in words."""
        if self.refusal is None:
            return f"ADMITTED  {self.dynamics}"
        return f"{self.refusal}" + (f" (the rate of {self.state})" if self.state else "")
