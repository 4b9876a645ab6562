"""Components of a target: text with named coefficients, and the ranges these are drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np

Span: TypeAlias = tuple[float, float]

# Literal exponents are drawn on a grid, so that they can be written down.
_EXPONENT_STEP = 0.05


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """One form of one component.

    `text` is human syntax; a name in braces stands for a literal exponent. `coefficients` and
    `exponents` say where numbers are drawn; the text "" means that the component is absent.
    """

    text: str
    coefficients: Mapping[str, Span] = field(default_factory=dict[str, Span])
    exponents: Mapping[str, Span] = field(default_factory=dict[str, Span])

    def draw(self, rng: np.random.Generator) -> tuple[str, dict[str, float]]:
        """Return the text with its exponents written in, and the coefficients."""
        literals = {
            name: f"({round(float(rng.uniform(*span)) / _EXPONENT_STEP) * _EXPONENT_STEP:.2f})"
            for name, span in self.exponents.items()
        }
        values = {name: float(rng.uniform(*span)) for name, span in self.coefficients.items()}
        return self.text.format(**literals), values


@final
@dataclass(frozen=True, slots=True)
class FormSet:
    """One algebra for every component name of the benchmark."""

    range: Mapping[str, Piece]
    context: Mapping[str, Piece]
    velocity: Mapping[str, Piece]
    action: Mapping[str, Piece]
