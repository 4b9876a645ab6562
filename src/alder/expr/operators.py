r"""The operator table: everything the rest of Alder knows about an operator is a row of it.

Semantics are total and right. A law never returns NaN for finite inputs, and never a wrong value
where mathematics has one: floors are tiny unless a grammar says otherwise, results saturate.
The compiled kernel implements the same rows; a property test holds the two together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import final

import numpy as np

from alder.arrays import FloatArray

# Where asin and acos meet the edge of their domain the slope is infinite; it is cut off at the
# slope one float64 step inside the edge, so that a Jacobian stays finite.
_EDGE = 2.3e-16

TINY = 1e-300
"""Powers with a floored base that fall below this are zero: float64 runs out of digits there, and
the C library, NumPy and the kernel would each lose them differently."""


@final
@dataclass(frozen=True, slots=True)
class Floors:
    """The numbers that make every operator total; they belong to the grammar.

    Tiny by default, so that a change of units changes nothing. Benchmarks that follow the paper
    set larger ones.
    """

    denominator: float = 1e-150
    base: float = 1e-150
    exponent: float = 690.0
    saturation: float = 1e300


class UnitRule(Enum):
    """How an operator carries units from its arguments to its result."""

    SAME = "all arguments and the result share one unit"
    PRODUCT = "units multiply"
    QUOTIENT = "units divide"
    POWER = "the unit is raised to the literal exponent"
    ROOT = "the unit is raised to one half"
    PURE = "the argument and the result have no unit"
    FROM_ANGLE = "an angle goes in, a pure number comes out"
    TO_ANGLE = "a pure number goes in, an angle comes out"
    SIGN = "any unit goes in, a pure number comes out"
    CHOICE = "the condition has any unit; both branches and the result share one"


Values = Callable[[tuple[FloatArray, ...], Floors], FloatArray]
Partials = Callable[[tuple[FloatArray, ...], FloatArray, Floors], tuple[FloatArray, ...]]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One row of the table.

    `value` maps arguments to the result before saturation; `partials` maps arguments and result
    to one partial derivative per argument. `latex` has one `{}` per argument.
    """

    name: str
    arity: int
    symbol: str
    unit_rule: UnitRule
    value: Values
    partials: Partials
    latex: str
    domain: str
    meaning: str

    def __repr__(self) -> str:
        """Show the name, which identifies the row."""
        return f"Operator({self.name!r})"

    def __reduce__(self) -> tuple[Callable[[str], "Operator"], tuple[str]]:
        """Pickle and copy by name, so that a row stays a single object."""
        return (operator, (self.name,))


def saturate(values: FloatArray, floors: Floors) -> FloatArray:
    """Clip to the saturation of the grammar; keeps every later operator finite."""
    return np.clip(values, -floors.saturation, floors.saturation)


def is_integer(exponent: float) -> bool:
    """Say whether a literal exponent is an integer that float64 holds exactly.

    >>> is_integer(-3.0), is_integer(0.5)
    (True, False)
    """
    return float(exponent).is_integer() and abs(exponent) < 2**53


def _away_from_zero(values: FloatArray, floor: float) -> FloatArray:
    return np.where(np.abs(values) < floor, np.copysign(floor, values), values)


def _flush(values: FloatArray) -> FloatArray:
    return np.where(values < TINY, 0.0, values)


def _divide(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    numerator, denominator = args
    return numerator / _away_from_zero(denominator, floors.denominator)


def _divide_partials(
    args: tuple[FloatArray, ...], value: FloatArray, floors: Floors
) -> tuple[FloatArray, ...]:
    denominator = _away_from_zero(args[1], floors.denominator)
    floored = np.abs(args[1]) < floors.denominator
    return 1.0 / denominator, np.where(floored, 0.0, -value / denominator)


def _power(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    base, exponent = args
    n = float(exponent.flat[0])
    if not is_integer(n):
        return _flush(np.power(np.maximum(base, floors.base), n))
    if n >= 0:
        return np.power(base, n)
    return 1.0 / _away_from_zero(np.power(base, -n), floors.denominator)


def _power_partials(
    args: tuple[FloatArray, ...], value: FloatArray, floors: Floors
) -> tuple[FloatArray, ...]:
    base, exponent = args
    n = float(exponent.flat[0])
    if is_integer(n) and n >= 0:
        slope = n * np.power(base, n - 1.0) if n > 0 else np.zeros_like(base)
    elif is_integer(n):
        floored = np.abs(np.power(base, -n)) < floors.denominator
        slope = np.where(floored, 0.0, n * value / _away_from_zero(base, floors.denominator))
    else:
        slope = np.where(base < floors.base, 0.0, n * value / np.maximum(base, floors.base))
    return slope, np.zeros_like(base)


def _power_by_parameter(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    return _flush(np.power(np.maximum(args[0], floors.base), args[1]))


def _power_by_parameter_partials(
    args: tuple[FloatArray, ...], value: FloatArray, floors: Floors
) -> tuple[FloatArray, ...]:
    base = np.maximum(args[0], floors.base)
    slope = np.where(args[0] < floors.base, 0.0, args[1] * value / base)
    return slope, value * np.log(base)


def _exp(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    return np.exp(np.clip(args[0], -floors.exponent, floors.exponent))


def _exp_partials(
    args: tuple[FloatArray, ...], value: FloatArray, floors: Floors
) -> tuple[FloatArray, ...]:
    return (np.where(np.abs(args[0]) > floors.exponent, 0.0, value),)


def _log(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    return np.log(np.maximum(args[0], floors.base))


def _log_partials(
    args: tuple[FloatArray, ...], value: FloatArray, floors: Floors
) -> tuple[FloatArray, ...]:
    return (np.where(args[0] < floors.base, 0.0, 1.0 / np.maximum(args[0], floors.base)),)


def _sqrt(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    # The zero below zero is +0: divided by, -0 has another sign.
    return np.sqrt(np.maximum(args[0], 0.0)) + 0.0


def _sqrt_partials(
    args: tuple[FloatArray, ...], value: FloatArray, floors: Floors
) -> tuple[FloatArray, ...]:
    slope = 0.5 / np.sqrt(np.maximum(args[0], floors.base))
    return (np.where(args[0] < floors.base, 0.0, slope),)


def _arc_slope(x: FloatArray) -> FloatArray:
    inside = 1.0 / np.sqrt(np.maximum(1.0 - x * x, _EDGE))
    return np.where(np.abs(x) > 1.0, 0.0, inside)


def _gate(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    return 1.0 / (1.0 + np.exp(-np.clip(args[0], -floors.exponent, floors.exponent)))


def _choose(args: tuple[FloatArray, ...], floors: Floors) -> FloatArray:
    return np.where(args[0] > 0.0, args[1], args[2])


def _choose_partials(
    args: tuple[FloatArray, ...], value: FloatArray, floors: Floors
) -> tuple[FloatArray, ...]:
    first = np.where(args[0] > 0.0, 1.0, 0.0)
    return np.zeros_like(first), first, 1.0 - first


_ROWS: tuple[Operator, ...] = (
    Operator("add", 2, "+", UnitRule.SAME,
             lambda a, f: a[0] + a[1],
             lambda a, y, f: (np.ones_like(y), np.ones_like(y)),
             "{} + {}", "all", "sum"),
    Operator("sub", 2, "-", UnitRule.SAME,
             lambda a, f: a[0] - a[1],
             lambda a, y, f: (np.ones_like(y), -np.ones_like(y)),
             "{} - {}", "all", "difference"),
    Operator("mul", 2, "*", UnitRule.PRODUCT,
             lambda a, f: a[0] * a[1],
             lambda a, y, f: (a[1], a[0]),
             "{} \\, {}", "all", "product"),
    Operator("div", 2, "/", UnitRule.QUOTIENT, _divide, _divide_partials,
             "\\frac{{{}}}{{{}}}", "denominator not zero",
             "quotient; the denominator keeps its sign and its magnitude is floored"),
    Operator("neg", 1, "-", UnitRule.SAME,
             lambda a, f: -a[0],
             lambda a, y, f: (-np.ones_like(y),),
             "-{}", "all", "negation"),
    Operator("pow", 2, "^", UnitRule.POWER, _power, _power_partials,
             "{{{}}}^{{{}}}", "base positive unless the exponent is an integer",
             "power with a literal exponent; exact for integer exponents of any sign"),
    Operator("powp", 2, "^", UnitRule.POWER, _power_by_parameter, _power_by_parameter_partials,
             "{{{}}}^{{{}}}", "base positive",
             "power with a parameter exponent; the base is floored"),
    Operator("exp", 1, "exp", UnitRule.PURE, _exp, _exp_partials,
             "\\exp\\left({}\\right)", "all", "exponential, its argument clipped"),
    Operator("log", 1, "log", UnitRule.PURE, _log, _log_partials,
             "\\ln\\left({}\\right)", "positive", "natural logarithm of the floored argument"),
    Operator("sqrt", 1, "sqrt", UnitRule.ROOT, _sqrt, _sqrt_partials,
             "\\sqrt{{{}}}", "not negative", "square root; zero below zero"),
    Operator("tanh", 1, "tanh", UnitRule.PURE,
             lambda a, f: np.tanh(a[0]),
             lambda a, y, f: (1.0 - y * y,),
             "\\tanh\\left({}\\right)", "all", "hyperbolic tangent"),
    Operator("sin", 1, "sin", UnitRule.FROM_ANGLE,
             lambda a, f: np.sin(a[0]),
             lambda a, y, f: (np.cos(a[0]),),
             "\\sin\\left({}\\right)", "all", "sine"),
    Operator("cos", 1, "cos", UnitRule.FROM_ANGLE,
             lambda a, f: np.cos(a[0]),
             lambda a, y, f: (-np.sin(a[0]),),
             "\\cos\\left({}\\right)", "all", "cosine"),
    Operator("asin", 1, "asin", UnitRule.TO_ANGLE,
             lambda a, f: np.arcsin(np.clip(a[0], -1.0, 1.0)),
             lambda a, y, f: (_arc_slope(a[0]),),
             "\\arcsin\\left({}\\right)", "-1 to 1", "inverse sine of the clipped argument"),
    Operator("acos", 1, "acos", UnitRule.TO_ANGLE,
             lambda a, f: np.arccos(np.clip(a[0], -1.0, 1.0)),
             lambda a, y, f: (-_arc_slope(a[0]),),
             "\\arccos\\left({}\\right)", "-1 to 1", "inverse cosine of the clipped argument"),
    Operator("atan", 1, "atan", UnitRule.TO_ANGLE,
             lambda a, f: np.arctan(a[0]),
             lambda a, y, f: (1.0 / (1.0 + np.square(saturate(a[0], Floors(saturation=1e150)))),),
             "\\arctan\\left({}\\right)", "all", "inverse tangent"),
    Operator("abs", 1, "abs", UnitRule.SAME,
             lambda a, f: np.abs(a[0]),
             lambda a, y, f: (np.sign(a[0]),),
             "\\left|{}\\right|", "all", "absolute value"),
    Operator("max", 2, "max", UnitRule.SAME,
             lambda a, f: np.maximum(a[0], a[1]),
             lambda a, y, f: (np.where(a[0] >= a[1], 1.0, 0.0), np.where(a[0] >= a[1], 0.0, 1.0)),
             "\\max\\left({},\\, {}\\right)", "all", "the larger of two"),
    Operator("min", 2, "min", UnitRule.SAME,
             lambda a, f: np.minimum(a[0], a[1]),
             lambda a, y, f: (np.where(a[0] <= a[1], 1.0, 0.0), np.where(a[0] <= a[1], 0.0, 1.0)),
             "\\min\\left({},\\, {}\\right)", "all", "the smaller of two"),
    Operator("sign", 1, "sign", UnitRule.SIGN,
             lambda a, f: np.sign(a[0]),
             lambda a, y, f: (np.zeros_like(y),),
             "\\operatorname{{sgn}}\\left({}\\right)", "all", "-1, 0 or 1"),
    Operator("softsign", 1, "softsign", UnitRule.PURE,
             lambda a, f: a[0] / (1.0 + np.abs(a[0])),
             lambda a, y, f: (np.square(1.0 / (1.0 + np.abs(a[0]))),),
             "\\operatorname{{softsign}}\\left({}\\right)", "all", "x / (1 + |x|)"),
    Operator("gate", 1, "gate", UnitRule.PURE, _gate,
             lambda a, y, f: (y * (1.0 - y),),
             "\\operatorname{{gate}}\\left({}\\right)", "all",
             "smooth step from 0 to 1: 1 / (1 + exp(-x))"),
    Operator("where", 3, "where", UnitRule.CHOICE, _choose, _choose_partials,
             "\\operatorname{{where}}\\left({} > 0,\\, {},\\, {}\\right)", "all",
             "the second argument where the first is positive, else the third"),
)  # fmt: skip

OPERATORS = MappingProxyType({row.name: row for row in _ROWS})
"""Every operator by name, in the order that fixes the opcodes of the kernel."""


def operator(name: str) -> Operator:
    """Return the row of that name.

    >>> operator("add").arity
    2
    """
    return OPERATORS[name]
