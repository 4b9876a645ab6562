"""A measured quantity: what it is called, what it is measured in, where it was measured."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, final, get_args

from alder.errors import BadGrammar
from alder.units import Unit, parse_unit

Role: TypeAlias = Literal["state", "action", "property", "geometry"]
Kind: TypeAlias = Literal["real", "angle", "indicator"]


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """A column of the rows; only the name is required.

    Without a unit no unit is checked; `unit="1"` declares a pure number. An indicator is 0 or 1.

    >>> Variable("r", unit="m", role="geometry", range=(0.5, 4.0)).dimension
    Unit('m')
    """

    name: str
    unit: str | None = None
    role: Role | None = None
    range: tuple[float, float] | None = None
    description: str = ""
    kind: Kind = "real"

    def __post_init__(self) -> None:
        """Refuse an empty name, an unreadable unit, an unknown role and an empty range."""
        if not self.name:
            raise BadGrammar("A variable needs a name; got an empty one.")
        if self.role is not None and self.role not in get_args(Role):
            raise BadGrammar(
                f"`{self.role}` is not a role of a variable; {', '.join(get_args(Role))} are."
            )
        if self.kind not in get_args(Kind):
            raise BadGrammar(
                f"`{self.kind}` is not a kind of variable; {', '.join(get_args(Kind))} are."
            )
        if self.range is not None:
            low, high = (float(end) for end in self.range)
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise BadGrammar(
                    f"The range of `{self.name}` must be two finite numbers, the smaller first; "
                    f"got {self.range}."
                )
            object.__setattr__(self, "range", (low, high))
        if self.unit is not None:
            parse_unit(self.unit)

    @property
    def dimension(self) -> Unit | None:
        """The unit as SI exponents and a scale; None where no unit was given."""
        return None if self.unit is None else parse_unit(self.unit)

    @property
    def is_angle(self) -> bool:
        """Whether this is an angle, by its kind or by its unit."""
        dimension = self.dimension
        return self.kind == "angle" or (dimension is not None and dimension.is_angle)
