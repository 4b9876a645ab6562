"""Four families of mechanisms, each a fixed set of four structures that agree where one starts.

Every structure is written so that `k` is the response to an action at the reference point (distance
1, mass ratio 1, small action), whatever the structure: its bounds then mean the same for all, and
no candidate is preferred for the units of its coefficients.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from alder.expr.nodes import parameters
from alder.expr.text import parse
from alder.records.grammar import Grammar
from alder.records.proposal import Bounds, Proposal
from alder.records.variable import Variable

VARIABLES = (
    Variable("r", description="distance"),
    Variable("v", description="radial speed"),
    Variable("u", description="action"),
    Variable("m", description="mass ratio"),
)
TARGET = Variable("a", description="radial acceleration")
GRAMMAR = Grammar(VARIABLES, TARGET)

BOUNDS: Mapping[str, Bounds] = MappingProxyType(
    {
        "k": Bounds(0.0, 6.0),
        "c": Bounds(0.0, 4.0),
        # The place of a contact and the scale of an actuator are known to fifteen per cent.
        "d": Bounds(0.85, 1.15),
        "s": Bounds(0.85, 1.15),
    }
)
"""What is known of the coefficients before the first row."""

DRAWN: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"k": (1.0, 3.0), "c": (0.4, 1.6), "d": (0.85, 1.15), "s": (0.85, 1.15)}
)
"""The ranges true coefficients are drawn from."""


@final
@dataclass(frozen=True, slots=True)
class Family:
    """Four candidate structures, by name, and the variable along which they part.

    Where `decisive` stays in the initial range, all candidates agree, however far the other
    variables are moved.
    """

    name: str
    decisive: str
    laws: Mapping[str, str]

    def proposals(self) -> tuple[Proposal, ...]:
        """Return the candidates with the bounds of their coefficients."""
        return tuple(_proposal(law) for law in self.laws.values())


def _proposal(law: str) -> Proposal:
    structure = parse(law, [variable.name for variable in VARIABLES])
    return Proposal(structure, {name: BOUNDS[name] for name in parameters(structure)})


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family(
                "contact",
                "r",
                {
                    "ungated": "k*u - c*v",
                    "smooth": "2*k*u*gate(8*(d - r)) - c*v",
                    "screened": "2.718281828*k*u*exp(-r/d) - c*v",
                    "rational": "2*k*u/(1 + (r/d)^4) - c*v",
                },
            ),
            Family(
                "mass",
                "m",
                {
                    "none": "k*u - c*v",
                    "inverse": "k*u/m - c*v",
                    "total": "2*k*u/(1 + m) - c*v",
                    "root": "k*u/sqrt(m) - c*v",
                },
            ),
            Family(
                "action",
                "u",
                {
                    "linear": "k*u - c*v",
                    "saturating": "k*s*tanh(u/s) - c*v",
                    "falling": "k*u/(1 + (u/s)^2) - c*v",
                    "hardening": "k*u*(1 + (u/s)^2) - c*v",
                },
            ),
            Family(
                "coupled",
                "r",
                {
                    "neither": "k*u - c*v",
                    "action": "2*k*u*gate(8*(d - r)) - c*v",
                    "speed": "k*u - 2*c*v*gate(8*(d - r))",
                    "both": "2*(k*u - c*v)*gate(8*(d - r))",
                },
            ),
        )
    }
)
"""Contact gating, mass-action scaling, action response, coupled contact response."""
