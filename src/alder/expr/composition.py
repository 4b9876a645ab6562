"""Composition constraints: where angles and indicators may stand, and what may nest in what."""

from collections.abc import Collection, Iterator
from enum import Enum, auto

from alder.expr.infer import Misfit, Path
from alder.expr.nodes import Apply, Expr, Var
from alder.expr.operators import UnitRule

# Sums and multiples of an angle are angles; so is the one of two angles that is chosen.
_KEEPS_ANGLE = ("add", "sub", "neg", "mul", "abs", "max", "min")


class Kind(Enum):
    """What a subtree stands for, as far as the constraints ask."""

    NUMBER = auto()
    ANGLE = auto()


def misplaced_angles(
    expr: Expr, angles: Collection[str], *, may_be_angle: bool = False
) -> Iterator[Misfit]:
    """Find the angles that do not stand under a trigonometric function.

    Sums of angles and multiples of one are angles; a product of two is none. The whole law may
    be an angle only if its target is one (`may_be_angle`).
    """
    problems: list[Misfit] = []
    kind = _kind(expr, (), angles, problems)
    if kind is Kind.ANGLE and not may_be_angle:
        path = _first_angle(expr, (), angles)
        problems.append(_stray(path))
    yield from problems


def _kind(expr: Expr, path: Path, angles: Collection[str], problems: list[Misfit]) -> Kind:
    if not isinstance(expr, Apply):
        return Kind.ANGLE if isinstance(expr, Var) and expr.name in angles else Kind.NUMBER
    arguments = expr.arguments
    kinds = [_kind(a, (*path, i), angles, problems) for i, a in enumerate(arguments)]
    held = [i for i, kind in enumerate(kinds) if kind is Kind.ANGLE]
    if not held or expr.operator.unit_rule is UnitRule.FROM_ANGLE:
        return Kind.NUMBER
    if _carries_angle(expr.operator.name, held):
        return Kind.ANGLE
    problems.extend(_stray(_first_angle(arguments[i], (*path, i), angles)) for i in held)
    return Kind.NUMBER


def _carries_angle(name: str, held: list[int]) -> bool:
    match name:
        case "mul":
            return len(held) == 1
        case "div":
            return held == [0]
        case "where":
            return 0 not in held
        case _:
            return name in _KEEPS_ANGLE


def _first_angle(expr: Expr, path: Path, angles: Collection[str]) -> Path:
    """Return the path of the first angle of a subtree of kind angle."""
    if not isinstance(expr, Apply):
        return path
    unreported: list[Misfit] = []
    for i, argument in enumerate(expr.arguments):
        if _kind(argument, (*path, i), angles, unreported) is Kind.ANGLE:
            return _first_angle(argument, (*path, i), angles)
    return path


def _stray(path: Path) -> Misfit:
    return Misfit(path, "An angle may stand only under a trigonometric function.")


def misplaced_indicators(expr: Expr, indicators: Collection[str]) -> Iterator[Misfit]:
    """Find the indicators that are no factor, under no gate and in no condition of a `where`."""
    if indicators:
        yield from _indicators(expr, (), indicators, is_factor=False)


def _indicators(
    expr: Expr, path: Path, indicators: Collection[str], *, is_factor: bool
) -> Iterator[Misfit]:
    if not isinstance(expr, Apply):
        if isinstance(expr, Var) and expr.name in indicators and not is_factor:
            yield Misfit(
                path,
                "An indicator may stand only as a factor of a product, under a `gate` or as the "
                "condition of a `where`.",
            )
        return
    name = expr.operator.name
    if name == "gate":
        return
    for i, argument in enumerate(expr.arguments):
        if name == "where" and i == 0:
            continue
        here = name == "mul" or (name == "div" and i == 0) or (name == "neg" and is_factor)
        yield from _indicators(argument, (*path, i), indicators, is_factor=here)


def misnested(expr: Expr, *, outer: str, inner: str, at_most: int) -> Iterator[Misfit]:
    """Find each `outer` that has more than `at_most` of `inner` anywhere below it."""
    yield from _misnested(expr, (), outer, inner, at_most)


def _misnested(expr: Expr, path: Path, outer: str, inner: str, at_most: int) -> Iterator[Misfit]:
    if not isinstance(expr, Apply):
        return
    below = [_occurrences(argument, inner) for argument in expr.arguments]
    if expr.operator.name == outer and sum(below) > at_most:
        allowed = f"at most {at_most}" if at_most else "no"
        yield Misfit(path, f"`{outer}` holds {sum(below)} `{inner}`; {allowed} may stand below it.")
    for i, argument in enumerate(expr.arguments):
        yield from _misnested(argument, (*path, i), outer, inner, at_most)


def _occurrences(expr: Expr, name: str) -> int:
    if not isinstance(expr, Apply):
        return 0
    return (expr.operator.name == name) + sum(_occurrences(a, name) for a in expr.arguments)
