"""What a study may use up, and what it has used."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import final

from alder.errors import BadStudy
from alder.spelling import printable


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a study: proposals, queries in batches, their cost, seconds, tokens and money.

    A query is one experiment. `seconds` is a guard; everything else is counted, so that a result
    does not depend on the machine. `money` is what hosted models may ask, in US dollars; like
    `tokens` it may be passed once, by the last reply.
    """

    proposals: int = 8
    queries: int = 48
    batch: int = 8
    cost: float = math.inf
    seconds: float = math.inf
    tokens: int | None = None
    money: float = math.inf

    def __post_init__(self) -> None:
        """Refuse limits that are no numbers, or below zero, and batches of nothing."""
        self._require_numbers()
        for name in ("proposals", "batch"):
            if getattr(self, name) < 1:
                raise BadStudy(f"budget.{name} must be at least 1; got {getattr(self, name)}.")
        for name in ("queries", "cost", "seconds", "money"):
            if not getattr(self, name) >= 0:
                raise BadStudy(f"budget.{name} must not be negative; got {getattr(self, name)}.")

    def _require_numbers(self) -> None:
        for name in ("proposals", "queries", "batch", "tokens"):
            limit: object = getattr(self, name)
            if not (isinstance(limit, Integral) or (name == "tokens" and limit is None)):
                raise BadStudy(f"budget.{name} is a whole number; got {printable(repr(limit))}.")
        for name in ("cost", "seconds", "money"):
            limit = getattr(self, name)
            if not isinstance(limit, Real):
                raise BadStudy(f"budget.{name} is a number; got {printable(repr(limit))}.")


@final
@dataclass(frozen=True, slots=True)
class Spent:
    """What a study has used so far."""

    proposals: int = 0
    queries: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    tokens: int = 0
    fits: int = 0
    money: float = 0.0
