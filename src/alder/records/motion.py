"""How rows of a trajectory follow each other, where the target is a rate of change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

from alder.records.grammar import Grammar


@final
@dataclass(frozen=True, slots=True)
class Motion:
    r"""The target is $\dot s$, the rate at which the variable `state` changes.

    `kinematics` maps further variables to the variable that is their rate, such as
    `{"x": "v"}` for $\dot x = v$; nothing else is known about how rows follow each other.
    """

    state: str
    kinematics: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """Freeze the mapping."""
        object.__setattr__(self, "kinematics", MappingProxyType(dict(self.kinematics)))


def motion_by_name(grammar: Grammar) -> Motion | None:
    """Return the motion that names declare: a target `d<state>_dt`, the state with that role."""
    states = [v.name for v in grammar.variables if v.role == "state"]
    found = [name for name in states if grammar.target.name == f"d{name}_dt"]
    return Motion(found[0]) if found else None
