r"""Units of a law, from its leaves up, and the units its parameters must have.

A unit is a vector: seven SI exponents and the logarithm of a scale. Multiplying adds vectors,
a literal power scales them, a sum demands that two are equal. So every node of a tree is an
affine form in the unknown vectors of its parameters, and every demand is one linear equation.
The equations are solved as they are met; the one that cannot hold is the mistake.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never, final

from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import UnitRule
from alder.units import BASE, PURE, Unit, format_unit

UnitMode: TypeAlias = Literal["absorb", "strict"]
Path: TypeAlias = tuple[int, ...]
"""Which argument to take at each step down from the root."""

# A form maps symbols to coefficients: 0 to 6 are the SI base units, 7 is the logarithm of the
# scale, and from 8 on are unknown vectors. A missing symbol has coefficient zero, so a pure
# number is the empty form.
_Form: TypeAlias = dict[int, float]
_LOG_SCALE = len(BASE)
_FIRST_UNKNOWN = _LOG_SCALE + 1

# Coefficients are sums and products of a few literals; rounding leaves some 1e-15 of them, and
# no two real units differ by less than this.
_ZERO = 1e-9
# Beyond the first nobody could write the unit; beyond the second exp of the scale overflows.
_LARGEST_EXPONENT = 1e4
_LARGEST_LOG = 690.0


@final
@dataclass(frozen=True, slots=True)
class Misfit:
    """A node whose arguments do not fit together, and why, in a sentence."""

    path: Path
    message: str


@final
@dataclass(frozen=True, slots=True)
class Inference:
    """What the units of the variables and the target say about a tree.

    `unit` is None where it is not determined. `parameters` holds the unit of every parameter
    that the tree determines: in k*r^-1.5, with a target in m/s^2, k is in m^2.5/s^2; in k*c*r
    neither k nor c is there, since only their product matters.
    """

    problems: tuple[Misfit, ...]
    unit: Unit | None
    parameters: Mapping[str, Unit]


def infer_units(
    expr: Expr,
    units: Mapping[str, Unit | None],
    target: Unit | None = None,
    *,
    mode: UnitMode = "absorb",
) -> Inference:
    """Check the units of a tree and find those of its parameters.

    A variable without a unit (None, or not in `units`) fits anywhere, each time it occurs. A
    literal is a pure number, except 0, which has any unit. With "absorb" a parameter has whatever
    unit makes the tree consistent, the same throughout; with "strict" it is a pure number. A
    parameter exponent is a pure number, and a power by it of something that is not pure has an
    unknown unit: put the fitted exponent in as a literal to learn more.

    >>> from alder.expr.operators import OPERATORS
    >>> from alder.units import parse_unit
    >>> law = Apply(OPERATORS["mul"], (Param("c"), Var("v")))
    >>> infer_units(law, {"v": parse_unit("m/s")}, parse_unit("m/s^2")).parameters["c"]
    Unit('1/s')
    """
    reading = _Reading(units, mode)
    root = reading.form(expr, ())
    if target is not None:
        reading.require_target(root, _form_of(target))
    reading.settle_powers()
    parameters = {
        name: unit
        for name, symbol in reading.parameters.items()
        if (unit := _unit_of(reading.system.reduce({symbol: 1.0}))) is not None
    }
    if mode == "strict":
        parameters = dict.fromkeys(reading.strict, PURE)
    return Inference(tuple(reading.problems), _unit_of(reading.system.reduce(root)), parameters)


def pointer(path: Path) -> str:
    """Write a path as a JSON pointer into the tree's JSON form.

    >>> pointer((0, 1))
    '/args/0/args/1'
    """
    return "".join(f"/args/{index}" for index in path)


@dataclass(slots=True)
class _System:
    """Linear equations between unknown units, kept solved: no solution mentions a solved symbol."""

    solved: dict[int, _Form] = field(default_factory=dict[int, _Form])
    n_unknown: int = 0

    def fresh(self) -> int:
        self.n_unknown += 1
        return _FIRST_UNKNOWN + self.n_unknown - 1

    def reduce(self, form: _Form) -> _Form:
        if not any(symbol in self.solved for symbol in form):
            return form
        total: _Form = {}
        for symbol, coefficient in form.items():
            solution = self.solved.get(symbol)
            _accumulate(total, {symbol: 1.0} if solution is None else solution, coefficient)
        return total

    def equate(self, left: _Form, right: _Form, keep: Mapping[int, str]) -> _Form:
        """Demand left = right; return what is left over, which is empty where it can hold.

        Symbols in `keep` have names; the nameless are solved for first, so that messages speak
        of the named.
        """
        difference = self.reduce(_combine(left, right, -1.0))
        unknown = [symbol for symbol in difference if symbol >= _FIRST_UNKNOWN]
        if not unknown:
            return difference
        pivot = min(unknown, key=lambda symbol: (symbol in keep, -abs(difference[symbol])))
        weight = -1.0 / difference.pop(pivot)
        solution = {symbol: weight * value for symbol, value in difference.items()}
        for form in self.solved.values():
            if pivot in form:
                _accumulate(form, solution, form.pop(pivot))
        self.solved[pivot] = solution
        return {}


@dataclass(slots=True)
class _Reading:
    """One walk over one tree."""

    units: Mapping[str, Unit | None]
    mode: UnitMode
    system: _System = field(default_factory=_System)
    problems: list[Misfit] = field(default_factory=list[Misfit])
    parameters: dict[str, int] = field(default_factory=dict[str, int])
    names: dict[int, str] = field(default_factory=dict[int, str])
    strict: list[str] = field(default_factory=list[str])
    powers: list[tuple[_Form, _Form, Path]] = field(default_factory=list[tuple[_Form, _Form, Path]])

    def form(self, expr: Expr, path: Path) -> _Form:
        match expr:
            case Const(value):
                return {} if value else self.unknown()
            case Param(name):
                return self.parameter(name)
            case Var(name):
                unit = self.units.get(name)
                return self.unknown() if unit is None else _form_of(unit)
            case Apply(operator, arguments):
                forms = [self.form(a, (*path, i)) for i, a in enumerate(arguments)]
                return _RULES[operator.unit_rule](self, expr, forms, path)
            case _:
                assert_never(expr)

    def unknown(self) -> _Form:
        return {self.system.fresh(): 1.0}

    def parameter(self, name: str) -> _Form:
        if self.mode == "strict":
            self.strict.append(name)
            return {}
        if name not in self.parameters:
            symbol = self.system.fresh()
            self.parameters[name] = symbol
            self.names[symbol] = name
        return {self.parameters[name]: 1.0}

    def require(self, left: _Form, right: _Form, path: Path, wording: str) -> bool:
        """Demand that two units are equal; `wording` has a place for each."""
        rest = self.system.equate(left, right, self.names)
        if rest:
            said = wording.format(self.describe(left), self.describe(right))
            self.problems.append(
                Misfit(path, f"{said}{_scale_hint(rest)}{self.elsewhere(left, right)}.")
            )
        return not rest

    def require_target(self, root: _Form, target: _Form) -> None:
        self.require(root, target, (), "The law is in {}; its target is in {}")

    def settle_powers(self) -> None:
        """Make powers by a parameter pure whose base turned out to be pure."""
        pending = self.powers
        while True:
            pure = [p for p in pending if not self.system.reduce(p[0])]
            if not pure:
                return
            pending = [p for p in pending if p not in pure]
            for _, result, path in pure:
                self.require(
                    result,
                    {},
                    path,
                    "A power of a pure number is a pure number, but here it must be in {}",
                )

    def describe(self, form: _Form) -> str:
        reduced = self.system.reduce(form)
        known = {symbol: value for symbol, value in reduced.items() if symbol < _FIRST_UNKNOWN}
        unit = _unit_of(known)
        text = "an unheard-of unit" if unit is None else format_unit(unit)
        unknown = [symbol for symbol in reduced if symbol >= _FIRST_UNKNOWN]
        if not unknown:
            return "a pure number" if text == "1" else text
        named = sorted(f"`{self.names[s]}`" for s in unknown if s in self.names)
        factor = "" if text == "1" else f"{text} times "
        return f"{factor}the unit of {' and '.join(named) or 'something'}"

    def elsewhere(self, *forms: _Form) -> str:
        """Name the parameters that other parts of the tree have given a unit."""
        fixed = [
            f"`{self.names[symbol]}` is in {self.describe({symbol: 1.0})}"
            for symbol in dict.fromkeys(s for form in forms for s in form)
            if symbol in self.names and symbol in self.system.solved
        ]
        return f" ({'; '.join(fixed[:3])} by its other uses)" if fixed else ""


_Rule: TypeAlias = Callable[[_Reading, Apply, list[_Form], Path], _Form]

_WORDS = {
    "add": "`add` adds {1} to {0}",
    "sub": "`sub` subtracts {1} from {0}",
    "max": "`max` compares {0} with {1}",
    "min": "`min` compares {0} with {1}",
    "where": "`where` chooses between {0} and {1}",
}


def _same(reading: _Reading, node: Apply, forms: list[_Form], path: Path) -> _Form:
    if len(forms) == 1:
        return forms[0]
    left, right = forms[-2:]
    if reading.require(left, right, path, _WORDS[node.operator.name]):
        return left
    return reading.unknown()  # one mistake is told once


def _product(reading: _Reading, node: Apply, forms: list[_Form], path: Path) -> _Form:
    return _combine(forms[0], forms[1], 1.0)


def _quotient(reading: _Reading, node: Apply, forms: list[_Form], path: Path) -> _Form:
    return _combine(forms[0], forms[1], -1.0)


def _power(reading: _Reading, node: Apply, forms: list[_Form], path: Path) -> _Form:
    exponent = node.arguments[1]
    if isinstance(exponent, Const):
        raised = _combine({}, forms[0], exponent.value)
        return raised if _is_writable(raised) else reading.unknown()
    reading.require(
        forms[1], {}, (*path, 1), "An exponent is a pure number, but this parameter is in {}"
    )
    if not reading.system.reduce(forms[0]):
        return {}
    result = reading.unknown()
    reading.powers.append((forms[0], result, path))
    return result


def _root(reading: _Reading, node: Apply, forms: list[_Form], path: Path) -> _Form:
    return _combine({}, forms[0], 0.5)


def _pure(reading: _Reading, node: Apply, forms: list[_Form], path: Path) -> _Form:
    wanted = (
        "an angle in rad" if node.operator.unit_rule is UnitRule.FROM_ANGLE else "a pure number"
    )
    wording = f"`{node.operator.name}` takes {wanted}, but its argument is in {{0}}"
    reading.require(forms[0], {}, path, wording)
    return {}


def _sign(reading: _Reading, node: Apply, forms: list[_Form], path: Path) -> _Form:
    return {}


_RULES: Mapping[UnitRule, _Rule] = {
    UnitRule.SAME: _same,
    UnitRule.PRODUCT: _product,
    UnitRule.QUOTIENT: _quotient,
    UnitRule.POWER: _power,
    UnitRule.ROOT: _root,
    UnitRule.PURE: _pure,
    UnitRule.FROM_ANGLE: _pure,
    UnitRule.TO_ANGLE: _pure,
    UnitRule.SIGN: _sign,
    UnitRule.CHOICE: _same,
}


def _accumulate(total: _Form, form: _Form, weight: float) -> None:
    """Add a multiple of a form in place, dropping what cancels."""
    for symbol, value in form.items():
        coefficient = total.get(symbol, 0.0) + weight * value
        if abs(coefficient) < _ZERO:
            total.pop(symbol, None)
        else:
            total[symbol] = coefficient


def _combine(left: _Form, right: _Form, weight: float) -> _Form:
    if not right:
        return left
    total = dict(left)
    _accumulate(total, right, weight)
    return total


def _is_writable(form: _Form) -> bool:
    """Refuse exponents nobody could mean; the scale does not count, for it depends on the units."""
    return math.isfinite(form.get(_LOG_SCALE, 0.0)) and all(
        abs(value) <= _LARGEST_EXPONENT for symbol, value in form.items() if symbol != _LOG_SCALE
    )


def _form_of(unit: Unit) -> _Form:
    form = {symbol: value for symbol, value in enumerate(unit.exponents) if value}
    if unit.scale != 1.0:
        form[_LOG_SCALE] = math.log(unit.scale)
    return form


def _unit_of(form: _Form) -> Unit | None:
    """Return the unit of a form without unknowns; None for any other."""
    log_scale = form.get(_LOG_SCALE, 0.0)
    if any(symbol >= _FIRST_UNKNOWN for symbol in form) or abs(log_scale) > _LARGEST_LOG:
        return None
    return Unit(tuple(form.get(symbol, 0.0) for symbol in range(len(BASE))), math.exp(log_scale))


def _scale_hint(rest: _Form) -> str:
    if set(rest) != {_LOG_SCALE} or abs(rest[_LOG_SCALE]) > _LARGEST_LOG:
        return ""
    return f": same dimension, different scale (factor {math.exp(abs(rest[_LOG_SCALE])):.4g})"
