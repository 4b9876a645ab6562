"""Arithmetic on literals: done exactly and rounded once, so that order does not matter."""

from fractions import Fraction
from math import copysign, fsum

import numpy as np

from alder.expr.evaluate import DEFAULT_FLOORS
from alder.expr.operators import OPERATORS, saturate

# Beyond this power a literal is raised in float64, not exactly.
_EXACT_POWER = 64


def round_exponent(exponent: float) -> float:
    """Round a computed exponent, so that 0.1 + 0.2 is 0.3."""
    return float(f"{exponent:.12g}")


def add_literals(parts: list[float]) -> float:
    """Add exactly, then round once."""
    try:
        total = fsum(parts)
    except OverflowError:
        total = sum(parts)
    return float(np.clip(total, -DEFAULT_FLOORS.saturation, DEFAULT_FLOORS.saturation))


def multiply_literals(literals: list[tuple[float, int]]) -> float:
    """Multiply literals exactly, then round once, so that their order does not matter."""
    if not literals:
        return 1.0
    if len(literals) == 1 and literals[0][1] == 1:
        return literals[0][0]
    product = Fraction(1)
    for value, n in literals:
        if abs(n) > _EXACT_POWER:
            product *= Fraction(fold("pow", value, float(n)))
        elif n >= 0:
            product *= Fraction(value) ** n
        else:
            divisor = Fraction(value) ** -n
            floor = Fraction(DEFAULT_FLOORS.denominator)
            if abs(divisor) < floor:
                divisor = floor if copysign(1.0, value) > 0 or n % 2 == 0 else -floor
            product /= divisor
    limit = Fraction(DEFAULT_FLOORS.saturation)
    return float(min(max(product, -limit), limit))


def fold(name: str, *values: float) -> float:
    """Apply an operator to literals, with its total semantics."""
    arguments = tuple(np.array([value]) for value in values)
    with np.errstate(all="ignore"):
        result = OPERATORS[name].value(arguments, DEFAULT_FLOORS)
    return float(saturate(result, DEFAULT_FLOORS)[0])
