"""One fitted number and what is known about it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

CoefficientState: TypeAlias = Literal[
    "free", "fixed", "at lower bound", "at upper bound", "undetermined"
]
Loss: TypeAlias = Literal["squared", "events"]


@final
@dataclass(frozen=True, slots=True)
class Coefficient:
    """One fitted number with its 95 % interval.

    A fixed coefficient and one at a bound have a standard error of zero; an undetermined one has
    an infinite one. `unit` is what makes the law consistent, where units were given.
    """

    name: str
    value: float
    standard_error: float
    lower: float
    upper: float
    state: CoefficientState
    unit: str | None = None
