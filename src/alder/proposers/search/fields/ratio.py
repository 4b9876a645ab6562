r"""Ratios of sums of monomials, as values: evaluated, divided out and written as trees."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param
from alder.expr.operators import OPERATORS
from alder.proposers.search.fields.monomials import Atoms, Exponents
from alder.records.short import FREE_BITS, bits_of

Sum: TypeAlias = Mapping[Exponents, float]
# A difference of coefficients below this share of them is nothing.
_CANCELS = 1e-9
# Nodes of an atom that is written again in every term.
_SMALL = 2


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """`whole + above / below`, each a sum of monomials; `inner` are parameters inside atoms."""

    atoms: Atoms
    above: Sum
    below: Sum
    whole: Sum = field(default_factory=dict[Exponents, float])
    inner: Mapping[str, float] = field(default_factory=dict[str, float])

    def values(self) -> FloatArray:
        """Return the value on each row."""
        found = self._sum(self.whole)
        if self.above:
            found = found + self._sum(self.above) / self._sum(self.below)
        return found

    def sizes(self) -> FloatArray:
        """Return the sizes of all terms on each row, added up: rounding is a share of them."""
        found = self._sizes(self.whole)
        if self.above:
            found = found + self._sizes(self.above) / np.abs(self._sum(self.below))
        return found

    def _sizes(self, terms: Sum) -> FloatArray:
        if not terms:
            return np.zeros(len(self.atoms.values))
        return np.abs(self.atoms.columns(list(terms))) @ np.abs(list(terms.values()))

    def _sum(self, terms: Sum) -> FloatArray:
        if not terms:
            return np.zeros(len(self.atoms.values))
        return self.atoms.columns(list(terms)) @ np.array(list(terms.values()))

    @property
    def weight(self) -> int:
        """About how many nodes the tree has; to count them it would have to be written."""
        return sum(map(self._weight, (self.whole, self.above, self.below)))

    def _weight(self, terms: Sum) -> int:
        sizes = self.atoms.sizes
        nodes = 0
        for e, number in terms.items():
            factors = [size + 2 * (k > 1) for size, k in zip(sizes, e, strict=True) if k]
            factors += [1] if abs(number) != 1.0 or not factors else []
            nodes += sum(factors) + len(factors)
        return nodes

    @property
    def bits(self) -> float:
        """What the numbers take to write."""
        numbers = [*self.above.values(), *self.below.values(), *self.whole.values()]
        return sum(bits_of(value) for value in numbers)


def written(ratio: Ratio) -> tuple[Expr, dict[str, float]]:
    """Return the tree, short numbers as literals, and the values of its parameters."""
    values: dict[str, float] = dict(ratio.inner)
    whole = _sum_tree(ratio, ratio.whole, values)
    if not ratio.above:
        return (whole or Const(0.0)), values
    below = ratio.below
    if len(below) == 1:
        ((monomial, number),) = below.items()
        above = {e: value / number for e, value in ratio.above.items()}
        parts = [
            _op("div", *_split_tree(ratio, e, monomial, value, values))
            for e, value in above.items()
        ]
        tree = parts[0]
        for part in parts[1:]:
            tree = _op("add", tree, part)
    else:
        top = _sum_tree(ratio, ratio.above, values)
        bottom = _sum_tree(ratio, below, values)
        assert top is not None
        assert bottom is not None
        tree = _op("div", top, bottom)
    return (tree if whole is None else _op("add", whole, tree)), values


def divided(ratio: Ratio) -> Ratio:
    """Take whole parts out of a ratio while that makes it shorter."""
    if len(ratio.below) < 2:
        return _without_monomial(ratio)
    best, size = ratio, ratio.weight
    while True:
        trials = [one for one in _divisions(best) if one is not None]
        sized = [(one.weight, k) for k, one in enumerate(trials)]
        if not sized or min(sized)[0] >= size:
            return best
        size, k = min(sized)
        best = trials[k]


def _without_monomial(ratio: Ratio) -> Ratio:
    """Divide by a lone constant."""
    ((monomial, number),) = ratio.below.items()
    if any(monomial):
        return ratio
    return replace(ratio, whole={e: v / number for e, v in ratio.above.items()}, above={})


def _divisions(ratio: Ratio) -> list[Ratio | None]:
    found: list[Ratio | None] = []
    for e, value in ratio.above.items():
        for d, number in ratio.below.items():
            quotient = tuple(a - b for a, b in zip(e, d, strict=True))
            if min(quotient) >= 0:
                found.append(_minus(ratio, quotient, value / number))
    return found


def _minus(ratio: Ratio, quotient: Exponents, number: float) -> Ratio | None:
    above = dict(ratio.above)
    most = ratio.atoms.at_most
    for d, value in ratio.below.items():
        e = tuple(a + b for a, b in zip(d, quotient, strict=True))
        if any(k > limit for k, limit in zip(e, most, strict=True)):
            return None
        old = above.get(e, 0.0)
        new = old - number * value
        above[e] = 0.0 if abs(new) <= _CANCELS * max(abs(old), abs(number * value)) else new
    above = {e: value for e, value in above.items() if value != 0.0}
    whole = dict(ratio.whole)
    whole[quotient] = whole.get(quotient, 0.0) + number
    return replace(ratio, above=above, whole=whole, below=ratio.below if above else {})


def _sum_tree(ratio: Ratio, terms: Sum, values: dict[str, float]) -> Expr | None:
    """Write a sum, a shape that several terms have in common once."""
    place = _common_shape(ratio, terms)
    if place is not None:
        inside = {(*e[:place], 0, *e[place + 1 :]): v for e, v in terms.items() if e[place] == 1}
        factor = _sum_tree(ratio, inside, values)
        assert factor is not None
        product = _op("mul", factor, ratio.atoms.exprs[place])
        others = _sum_tree(ratio, {e: v for e, v in terms.items() if e[place] != 1}, values)
        return product if others is None else _op("add", others, product)
    tree: Expr | None = None
    for e, number in sorted(terms.items(), key=lambda pair: pair[1] < 0.0):
        negative = number < 0.0 and tree is not None
        term = _term(ratio, e, -number if negative else number, values)
        tree = term if tree is None else _op("sub" if negative else "add", tree, term)
    return tree


def _common_shape(ratio: Ratio, terms: Sum) -> int | None:
    """Return the place of an atom, larger than a function of one variable, of several terms."""
    for place, size in enumerate(ratio.atoms.sizes):
        if size > _SMALL and sum(e[place] == 1 for e in terms) > 1:
            return place
    return None


def _term(ratio: Ratio, e: Exponents, number: float, values: dict[str, float]) -> Expr:
    product = _product(ratio, e)
    if product is None:
        return _number(number, values)
    if number == 1.0:
        return product
    return _op("mul", _number(number, values), product)


def _split_tree(
    ratio: Ratio, e: Exponents, below: Exponents, number: float, values: dict[str, float]
) -> tuple[Expr, Expr]:
    """Return a term over a monomial, common factors cancelled."""
    common = tuple(min(a, b) for a, b in zip(e, below, strict=True))
    top = tuple(a - c for a, c in zip(e, common, strict=True))
    bottom = tuple(b - c for b, c in zip(below, common, strict=True))
    return _term(ratio, top, number, values), _product(ratio, bottom) or Const(1.0)


def _product(ratio: Ratio, e: Exponents) -> Expr | None:
    tree: Expr | None = None
    for expr, k in zip(ratio.atoms.exprs, e, strict=True):
        if k:
            factor = expr if k == 1 else _op("pow", expr, Const(float(k)))
            tree = factor if tree is None else _op("mul", tree, factor)
    return tree


def _number(number: float, values: dict[str, float]) -> Expr:
    if bits_of(number) < FREE_BITS:
        return Const(number)
    name = f"c{len(values)}"
    values[name] = number
    return Param(name)


def _op(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)
