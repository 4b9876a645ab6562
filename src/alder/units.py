"""Units as SI exponents and a scale, so that a law can be checked without knowing its numbers.

Unit strings are split here and each name is looked up in a small table of SI symbols; names that
are not in it are asked of pint, whose import costs a third of a second and is paid only then.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias, final

from alder.errors import BadUnit
from alder.spelling import printable, suggestion

BASE = ("m", "kg", "s", "A", "K", "mol", "cd")
"""The seven SI base units, in the order of `Unit.exponents`."""

Exponents: TypeAlias = tuple[float, ...]

# Exponents agree to 9 decimals (a third is 0.333333333), scales to 11 significant digits: both
# far above rounding and far below any difference between two real units.
_DECIMALS = 9
_DIGITS = 11
_NONE: Exponents = (0.0,) * len(BASE)
_LONGEST = 200


@final
@dataclass(frozen=True, slots=True, repr=False)
class Unit:
    """Exponents of the SI base units, and how many SI units one of it is.

    An angle is a pure number to the algebra (1 rad = 1); that it is an angle is remembered for
    the constraints on angles, and takes no part in equality. Offsets are ignored: a degree
    Celsius is a kelvin, so a law that needs the zero of a temperature needs kelvins.

    >>> parse_unit("N") == parse_unit("kg m/s^2")
    True
    """

    exponents: Exponents = _NONE
    scale: float = field(default=1.0, compare=False)
    is_angle: bool = field(default=False, compare=False)
    _rounded: float = field(init=False, default=1.0)

    def __post_init__(self) -> None:
        """Round the exponents, and the scale for comparing."""
        rounded = tuple(round(e, _DECIMALS) + 0.0 for e in self.exponents)
        object.__setattr__(self, "exponents", rounded)
        object.__setattr__(self, "_rounded", float(f"{self.scale:.{_DIGITS - 1}e}"))

    @property
    def is_pure(self) -> bool:
        """Whether this has no dimension; a percent and a degree are pure, with a scale."""
        return not any(self.exponents)

    def __mul__(self, other: "Unit") -> "Unit":
        """Multiply; a multiple of an angle by a pure number is an angle."""
        exponents = tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True))
        angle = self.is_pure and other.is_pure and self.is_angle != other.is_angle
        return Unit(exponents, self.scale * other.scale, angle)

    def __truediv__(self, other: "Unit") -> "Unit":
        """Divide; an angle over a pure number is an angle."""
        exponents = tuple(a - b for a, b in zip(self.exponents, other.exponents, strict=True))
        angle = self.is_angle and other.is_pure and not other.is_angle
        return Unit(exponents, self.scale / other.scale, angle)

    def __pow__(self, power: float) -> "Unit":
        """Raise to any real power."""
        exponents = tuple(e * power for e in self.exponents)
        return Unit(exponents, self.scale**power, self.is_angle and power == 1)

    def __repr__(self) -> str:
        """Show the unit as it would be written."""
        return f"Unit({format_unit(self)!r})"

    def __str__(self) -> str:
        """Write the unit."""
        return format_unit(self)


PURE = Unit()
"""The unit of a pure number."""


def _si(scale: float = 1.0, **exponents: float) -> Unit:
    return Unit(tuple(exponents.get(name, 0.0) for name in BASE), scale)


# Symbols that take a prefix. `format_unit` uses those in `_NAMED`.
_SYMBOLS: dict[str, Unit] = {
    "m": _si(m=1), "g": _si(1e-3, kg=1), "s": _si(s=1), "A": _si(A=1), "K": _si(K=1),
    "mol": _si(mol=1), "cd": _si(cd=1),
    "N": _si(kg=1, m=1, s=-2), "J": _si(kg=1, m=2, s=-2), "W": _si(kg=1, m=2, s=-3),
    "Pa": _si(kg=1, m=-1, s=-2), "Hz": _si(s=-1), "C": _si(A=1, s=1),
    "V": _si(kg=1, m=2, s=-3, A=-1), "ohm": _si(kg=1, m=2, s=-3, A=-2),
    "Ω": _si(kg=1, m=2, s=-3, A=-2), "F": _si(kg=-1, m=-2, s=4, A=2),
    "T": _si(kg=1, s=-2, A=-1), "Wb": _si(kg=1, m=2, s=-2, A=-1), "H": _si(kg=1, m=2, s=-2, A=-2),
    "L": _si(1e-3, m=3), "l": _si(1e-3, m=3), "eV": _si(1.602176634e-19, kg=1, m=2, s=-2),
    "rad": Unit(is_angle=True),
}  # fmt: skip
_WHOLE: dict[str, Unit] = {
    "min": _si(60.0, s=1), "h": _si(3600.0, s=1), "day": _si(86400.0, s=1),
    "deg": Unit(scale=math.pi / 180.0, is_angle=True),
    "°": Unit(scale=math.pi / 180.0, is_angle=True),
    "%": Unit(scale=1e-2), "°C": _si(K=1), "degC": _si(K=1),
}  # fmt: skip
_PREFIXES = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2,
    "da": 1e1, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9,
    "p": 1e-12, "f": 1e-15, "a": 1e-18, "z": 1e-21, "y": 1e-24,
}  # fmt: skip

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<raise>\*\*|\^)"
    r"|(?P<times>[*·⋅×.])"
    r"|(?P<per>/|per\b)"
    r"|(?P<open>\()|(?P<close>\))"
    r"|(?P<super>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<sign>[+-])"
    r"|(?P<name>°[A-Za-z]?|[%‰]|[^\W\d]\w*)"
    r"|\s+"
)
_Token: TypeAlias = tuple[str, str]


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """Read a unit: names with `*`, `/`, spaces and powers, from left to right as pint does.

    An empty text and `1` are a pure number. A number may stand first (`1e3*m`).

    >>> parse_unit("m/s^2"), parse_unit("m s^-2"), parse_unit("km")
    (Unit('m/s^2'), Unit('m/s^2'), Unit('km'))
    """
    if len(text) > _LONGEST:
        raise BadUnit(f"A unit has at most {_LONGEST} characters; got {len(text)}.")
    tokens = list(_tokens(text))
    if not tokens:
        return PURE
    unit = _product(tokens, text)
    if tokens:
        raise _unreadable(text, f"`{tokens[0][1]}` is left over")
    return unit


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _unreadable(text, f"`{printable(text[position])}` has no place in a unit")
        if found.lastgroup:
            yield found.lastgroup, found.group()
        position = found.end()


def _unreadable(text: str, why: str) -> BadUnit:
    return BadUnit(
        f"Cannot read the unit `{printable(text)}`: {why}; write for example m/s^2 or kg*m^2/s^2."
    )


def _product(tokens: list[_Token], text: str) -> Unit:
    unit = _power(tokens, text, first=True)
    while tokens and tokens[0][0] != "close":
        divide = tokens[0][0] == "per"
        if tokens[0][0] in ("per", "times"):
            tokens.pop(0)
        factor = _power(tokens, text, first=False)
        unit = unit / factor if divide else unit * factor
    return unit


def _power(tokens: list[_Token], text: str, *, first: bool) -> Unit:
    unit = _atom(tokens, text, first=first)
    if tokens and tokens[0][0] == "super":
        exponent = float(tokens.pop(0)[1].translate(_SUPERSCRIPTS))
    elif tokens and tokens[0][0] == "raise":
        tokens.pop(0)
        exponent = _exponent(tokens, text)
    else:
        return unit
    if abs(exponent) > 100 or abs(exponent * math.log10(unit.scale)) > 300:
        raise _unreadable(text, f"the exponent {exponent:g} is too large")
    return unit**exponent


def _atom(tokens: list[_Token], text: str, *, first: bool) -> Unit:
    kind, value = tokens.pop(0) if tokens else ("end", "it ends too early")
    match kind:
        case "open":
            unit = _product(tokens, text)
            if not tokens:
                raise _unreadable(text, "a `)` is missing")
            tokens.pop(0)
            return unit
        case "name":
            return _named(value)
        case "number" if first and 1e-300 < float(value) < 1e300:
            return Unit(scale=float(value))
        case "number":
            raise _unreadable(text, f"the number {printable(value)} may only stand first")
        case "end":
            raise _unreadable(text, value)
        case _:
            raise _unreadable(text, f"`{value}` needs a unit before it")


def _exponent(tokens: list[_Token], text: str) -> float:
    """Read `-2`, `1.5` or `(1/3)`."""
    bracket = bool(tokens) and tokens[0][0] == "open"
    if bracket:
        tokens.pop(0)
    sign = -1.0 if tokens and tokens[0] == ("sign", "-") else 1.0
    if tokens and tokens[0][0] == "sign":
        tokens.pop(0)
    exponent = sign * _number(tokens, text)
    if bracket and tokens and tokens[0][0] == "per":
        tokens.pop(0)
        exponent /= _number(tokens, text) or math.nan
    if bracket and (not tokens or tokens.pop(0)[0] != "close"):
        raise _unreadable(text, "a `)` is missing after an exponent")
    if not math.isfinite(exponent):
        raise _unreadable(text, "an exponent must be a finite number")
    return exponent


def _number(tokens: list[_Token], text: str) -> float:
    if not tokens or tokens[0][0] != "number":
        raise _unreadable(text, "an exponent must be a number")
    return float(tokens.pop(0)[1])


def _named(name: str) -> Unit:
    unit = _symbol(name)
    return _from_pint(name) if unit is None else unit


def _symbol(name: str) -> Unit | None:
    """Look a name up without pint; None where the table does not have it."""
    if name in _WHOLE:
        return _WHOLE[name]
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    for length in (1, 2):
        prefix, symbol = name[:length], name[length:]
        if prefix in _PREFIXES and symbol in _SYMBOLS:
            unit = _SYMBOLS[symbol]
            return Unit(unit.exponents, unit.scale * _PREFIXES[prefix], unit.is_angle)
    return None


@lru_cache(maxsize=1)
def _registry() -> object:
    import pint  # a third of a second; most studies never need it

    registry: Any = pint.UnitRegistry  # pint's own types are only partly known
    return registry()


# What pint counts in that is a pure number to a law.
_COUNTED = ("radian", "bit", "count")
_PINT_BASE = {
    "meter": "m", "gram": "kg", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol",
    "candela": "cd",
}  # fmt: skip


def _from_pint(name: str) -> Unit:
    from pint.errors import PintError

    registry: Any = _registry()
    try:
        unit = registry.parse_units(name)
        factor, root = registry.get_root_units(unit, check_nonmult=False)
        one = registry.Quantity(1.0, unit).to_root_units().magnitude
    except (PintError, LookupError, ValueError, TypeError, AttributeError, AssertionError):
        known = [*_WHOLE, *_SYMBOLS, *("k" + s for s in _SYMBOLS), *dir(registry)]
        raise BadUnit(
            f"`{printable(name)}` is not a unit.{_respell(name) or suggestion(name, known)}"
        ) from None
    # An offset or a logarithm shows in that one of it is not its factor; offsets are ignored.
    if not math.isclose(one, factor) and str(root) != "kelvin":
        raise BadUnit(f"`{name}` is a logarithmic unit; give the quantity itself, or unit=None.")
    parts = {str(part): float(power) for part, power in root._units.items()}
    return _root_unit(name, float(factor), parts)


def _respell(name: str) -> str:
    """Explain a power written without `^`, as in m2."""
    digits = name.lstrip("".join(c for c in name if not c.isdigit()))
    stem = name[: len(name) - len(digits)]
    return f" Write {stem}^{digits} for a power." if digits.isdigit() and _symbol(stem) else ""


def _root_unit(name: str, factor: float, parts: dict[str, float]) -> Unit:
    unknown = [part for part in parts if part not in _PINT_BASE and part not in _COUNTED]
    if unknown:
        raise BadUnit(f"`{name}` is no combination of SI units; leave the unit out (unit=None).")
    exponents = {_PINT_BASE[part]: power for part, power in parts.items() if part in _PINT_BASE}
    scale = factor * 1e-3 ** exponents.get("kg", 0.0)
    return Unit(_si(**exponents).exponents, scale, parts == {"radian": 1.0})


# Written forms, most readable first. Hz is missing: a rate constant is in 1/s.
_NAMED = ("N", "J", "W", "Pa", "V", "C", "T", "F", "H", "ohm", "Wb", "L", "eV")
_SHOWN_PREFIXES = ("", "k", "m", "M", "u", "c", "G", "n", "h", "p")
_VARIANTS: tuple[tuple[str, ...], ...] = (
    ("m", "km", "cm", "mm", "um", "nm"), ("kg", "g", "mg"),
    ("s", "h", "min", "ms", "day", "us", "ns"), ("A", "mA"), ("K",), ("mol", "mmol"), ("cd",),
)  # fmt: skip


def format_unit(unit: Unit) -> str:
    """Write a unit as briefly as `parse_unit` reads it back.

    >>> format_unit(parse_unit("m^3 s^-2") * parse_unit("m") ** -0.5)
    'm^2.5/s^2'
    >>> format_unit(parse_unit("kg m/s^2")), format_unit(parse_unit("km/h"))
    ('N', 'km/h')
    """
    return _format(unit, is_angle=unit.is_angle)


@lru_cache(maxsize=1024)
def _format(unit: Unit, *, is_angle: bool) -> str:
    """Write a unit; an angle equals a pure number, so the cache must be told which it is."""
    if unit.is_pure:
        known = ("deg", "rad", "mrad") if is_angle else ("%", "deg")
        same = (name for name in known if _symbol(name) == unit)
        return next(same, f"{unit.scale:.{_DIGITS}g}")
    for prefix, name in product(_SHOWN_PREFIXES, _NAMED):
        if _symbol(prefix + name) == unit:
            return prefix + name
    plain = _format_powers(BASE, unit.exponents)
    if unit == Unit(unit.exponents):
        return plain
    number = f"{unit.scale:.{_DIGITS}g}"
    scaled = number + plain[1:] if plain.startswith("1/") else f"{number}*{plain}"
    return _format_scaled(unit) or scaled


def _format_scaled(unit: Unit) -> str | None:
    """Find multiples of the base units whose product has the scale, changing as few as possible."""
    used = [i for i, e in enumerate(unit.exponents) if e]
    if len(used) > 3:
        return None
    wanted = math.log(unit.scale)
    logarithms = [[math.log(_named(name).scale) for name in names] for names in _VARIANTS]
    choices = sorted(
        product(*(range(len(_VARIANTS[i])) for i in used)),
        key=lambda c: (sum(map(bool, c)), sum(c)),
    )
    for choice in choices:
        logs = (unit.exponents[i] * logarithms[i][c] for i, c in zip(used, choice, strict=True))
        if abs(sum(logs) - wanted) < 1e-10:
            names = {i: _VARIANTS[i][c] for i, c in zip(used, choice, strict=True)}
            return _format_powers(
                tuple(names.get(i, base) for i, base in enumerate(BASE)), unit.exponents
            )
    return None


_ORDER = (1, 0, 2, 3, 4, 5, 6)  # kilograms first, as in kg*m^2/s^2


def _format_powers(names: tuple[str, ...], exponents: Exponents) -> str:
    above = [_raised(names[i], exponents[i]) for i in _ORDER if exponents[i] > 0]
    below = [_raised(names[i], -exponents[i]) for i in _ORDER if exponents[i] < 0]
    top = "*".join(above) or "1"
    if not below:
        return top
    return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({'*'.join(below)})"


def _raised(name: str, exponent: float) -> str:
    if exponent == 1.0:
        return name
    if round(exponent, 4) == exponent:
        return f"{name}^{exponent:g}"
    fraction = Fraction(exponent).limit_denominator(12)
    if round(float(fraction), _DECIMALS) == exponent:
        return f"{name}^({fraction})"
    return f"{name}^{exponent:.{_DECIMALS}f}".rstrip("0")
