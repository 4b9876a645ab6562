"""Placeholder until the unit algebra lands."""
from dataclasses import dataclass
@dataclass(frozen=True)
class Unit:
    text: str
    is_angle: bool = False
def parse_unit(text: str) -> Unit:
    return Unit(text)
