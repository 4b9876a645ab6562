"""A structure somebody proposes, with bounds for its parameters and the reason for it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

from alder.errors import BadParameter
from alder.expr.loosen import literal_exponents
from alder.expr.nodes import Expr, parameters


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a parameter may lie, infinite ends allowed, and where to look for it first, if known.

    >>> Bounds(0.0, 10.0).clip(12.0)
    10.0
    """

    lower: float = -math.inf
    upper: float = math.inf
    start: float | None = None

    def __post_init__(self) -> None:
        """Refuse NaN, an empty interval, and a start outside it."""
        object.__setattr__(self, "lower", float(self.lower))
        object.__setattr__(self, "upper", float(self.upper))
        if not self.lower < self.upper:
            raise BadParameter(
                f"A lower bound must lie below the upper one; got {self.lower} to {self.upper}."
            )
        if self.start is not None:
            object.__setattr__(self, "start", float(self.start))
            if not (math.isfinite(self.start) and self.clip(self.start) == self.start):
                raise BadParameter(
                    f"A start must lie within its bounds {self.lower} to {self.upper}; "
                    f"got {self.start}."
                )

    def clip(self, value: float) -> float:
        """Return the nearest value inside."""
        return min(max(value, self.lower), self.upper)


@final
@dataclass(frozen=True, slots=True)
class Proposal:
    """A structure, the bounds of its parameters, a rationale and the intended scope in words.

    A parameter without bounds is unbounded. `exponents` are literal exponents that were read off
    the rows: how well those determine them is part of what a fitted law knows about itself.
    """

    structure: Expr
    bounds: Mapping[str, Bounds] = field(default_factory=dict[str, Bounds])
    rationale: str = ""
    scope: str = ""
    exponents: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Freeze the bounds, refuse one that names no parameter, drop exponents it has not."""
        names = parameters(self.structure)
        for name in self.bounds:
            if name not in names:
                raise BadParameter(
                    f"`{name}` has bounds but is no parameter of the law; "
                    f"{', '.join(names) or 'it has none'}."
                )
        object.__setattr__(self, "bounds", MappingProxyType(dict(self.bounds)))
        if self.exponents:
            own = tuple(n for n in literal_exponents(self.structure) if n in self.exponents)
            object.__setattr__(self, "exponents", own)
