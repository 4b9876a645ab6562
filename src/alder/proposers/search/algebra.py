"""Products gathered and shortened: what was written over ratios becomes short again.

A law found over x/t and u/t and multiplied by t names t again and again. Equal factors are gathered
into one power, and factors outside a sum move into it where that makes the law shorter:
t (x/t - u) is x - u t.
"""

from collections.abc import Iterator
from typing import TypeAlias

from alder.expr.nodes import Apply, Const, Expr, size
from alder.proposers.search.growth import power
from alder.proposers.search.shapes import op

Gathered: TypeAlias = dict[Expr, float]
"""Exponents of what is multiplied."""


def shortened(expr: Expr, allowed: set[str]) -> Expr:
    """Return an equal tree with fewer nodes, or the tree itself."""
    match expr:
        case Apply(operator, arguments):
            inner = Apply(operator, tuple(shortened(one, allowed) for one in arguments))
        case _:
            return expr
    if inner.operator.name not in ("mul", "div", "pow"):
        return inner
    best = inner
    for factors in _ways(gathered(inner), allowed):
        made = written(factors, allowed)
        if made is not None and size(made) < size(best):
            best = made
    return best


def _ways(factors: Gathered, allowed: set[str]) -> Iterator[Gathered]:
    """Yield the factors as they are, and with those outside of a sum moved into it."""
    yield factors
    for one, exponent in factors.items():
        if exponent == 1.0 and _is_sum(one):
            rest = {other: e for other, e in factors.items() if other is not one}
            moved = {other: e for other, e in rest.items() if not _is_sum(other)}
            for into in (moved, {b: e for b, e in moved.items() if size(b) == 1}):
                inside = _times(one, into, allowed)
                if inside is not None:
                    yield {inside: 1.0, **{b: e for b, e in rest.items() if b not in into}}


def _is_sum(expr: Expr) -> bool:
    return isinstance(expr, Apply) and expr.operator.name in ("add", "sub")


def _times(expr: Expr, factors: Gathered, allowed: set[str]) -> Expr | None:
    """Multiply every member of a sum."""
    match expr:
        case Apply(operator, (left, right)) if operator.name in ("add", "sub"):
            first, second = _times(left, factors, allowed), _times(right, factors, allowed)
            if first is None or second is None:
                return None
            return Apply(operator, (first, second))
        case _:
            both = gathered(expr)
            for base, exponent in factors.items():
                both[base] = both.get(base, 0.0) + exponent
            return written(both, allowed)


def gathered(expr: Expr, exponent: float = 1.0) -> Gathered:
    """Collect the factors of a product, a quotient or a whole power of one."""
    found: Gathered = {}
    for base, e in _factors(expr, exponent):
        found[base] = found.get(base, 0.0) + e
    return {base: e for base, e in found.items() if e and base != Const(1.0)}


def _factors(expr: Expr, exponent: float) -> Iterator[tuple[Expr, float]]:
    match expr:
        case Apply(operator, (left, right)) if operator.name in ("mul", "div"):
            yield from _factors(left, exponent)
            yield from _factors(right, exponent if operator.name == "mul" else -exponent)
        case Apply(operator, (base, Const(value))) if operator.name == "pow":
            whole = float(value).is_integer()
            if whole:
                yield from _factors(base, exponent * value)
            else:
                yield expr, exponent
        case _:
            yield expr, exponent


def written(factors: Gathered, allowed: set[str]) -> Expr | None:
    """Write a product of powers, those with negative exponents below."""
    above: Expr | None = None
    below: Expr | None = None
    for base, exponent in factors.items():
        under = exponent < 0.0 and "div" in allowed
        part = power(base, abs(exponent) if under else exponent, allowed) if exponent else None
        if exponent and part is None:
            return None
        if part is not None and under:
            below = part if below is None else op("mul", below, part)
        elif part is not None:
            above = part if above is None else op("mul", above, part)
    if below is None:
        return Const(1.0) if above is None else above
    return op("div", Const(1.0) if above is None else above, below)
