r"""Ratios of sums, behind a function or not: linear once they are multiplied out.

$t(y) = \dfrac{\sum_j a_j \varphi_j}{\varphi_0 + \sum_j b_j \varphi_j}$ says that
$t(y)\,\varphi_0 = \sum_j a_j \varphi_j - \sum_j b_j\, t(y)\,\varphi_j$, which is linear in $a$ and
$b$. A few columns are chosen one after another, several choices side by side; the ratio is then
fitted to the target itself, since multiplying out has moved the noise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import cast, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Const, Expr, Param, Var, size
from alder.proposers.search.growth import power
from alder.proposers.search.interactions import monomials
from alder.proposers.search.laws import Fitter, Law
from alder.proposers.search.shapes import op
from alder.proposers.search.table import Table
from alder.proposers.search.transforms import fitted
from alder.records.proposal import Bounds, Proposal

# Columns chosen at most, choices side by side, and ratios fitted.
_CHOSEN = 6
_BEAM = 6
_FITTED = 8
# Degree of the monomials by number of variables, and how many of the columns may stand below.
_DEGREE = {1: 4, 2: 4, 3: 3}
_BELOW = 6
# A rest below this share of the target is rounding.
_EXACT = 1e-20
_NODE = 1.6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Behind:
    """A function of the target: what it needs, when it applies, its values, slope and inverse."""

    needs: frozenset[str]
    applies: Callable[[FloatArray], bool]
    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    back: Callable[[Expr, set[str]], Expr | None]


def _one_sign(y: FloatArray) -> bool:
    return bool((y > 0.0).all() or (y < 0.0).all())


PLAIN = Behind(frozenset(), lambda y: True, lambda y: y, np.ones_like, lambda law, allowed: law)
ROOT = Behind(frozenset(), lambda y: bool((y >= 0.0).all()), np.square, lambda y: 2.0 * y,
              lambda law, allowed: power(law, 0.5, allowed))  # fmt: skip
EXPONENTIAL = Behind(
    frozenset({"exp", "mul"}),
    _one_sign,
    lambda y: np.log(np.abs(y)),
    lambda y: 1.0 / y,
    lambda law, allowed: op("mul", Param("c0"), op("exp", law)),
)
"""A multiple of an exponential: the logarithm of the target."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """Columns chosen beside a first one below, their coefficients, and the description length."""

    first: int
    chosen: tuple[int, ...]
    values: FloatArray
    length: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Library:
    """Columns of a table (m, n), and the same times the target's function after them (2 m, n).

    `weight` counts what is left of that function t as the rows count.
    """

    nodes: list[int]
    t: FloatArray
    weight: FloatArray
    plain: FloatArray
    both: FloatArray

    @property
    def m(self) -> int:
        """Count the columns."""
        return len(self.nodes)

    def below(self, choice: _Choice) -> FloatArray:
        """Return what stands below."""
        below = self.plain[choice.first - self.m].copy()
        for k, value in zip(choice.chosen, choice.values, strict=True):
            if k >= self.m:
                below -= value * self.plain[k - self.m]
        return below

    def choice(self, first: int, chosen: tuple[int, ...]) -> _Choice:
        """Solve for the coefficients, and measure what the ratio itself leaves."""
        chosen_columns = self.both[list(chosen)].T
        scale = np.sqrt(np.square(chosen_columns).sum(axis=0))
        scaled = chosen_columns / scale
        solved = cast(
            "tuple[FloatArray, ...]", np.linalg.lstsq(scaled, self.both[first], rcond=None)
        )
        values = solved[0] / scale
        n = len(self.t)
        above = np.zeros(n)
        for k, value in zip(chosen, values, strict=True):
            if k < self.m:
                above += value * self.plain[k]
        below = self.below(_Choice(first, chosen, values, np.inf))
        if below.min() <= 0.0 <= below.max():
            return _Choice(first, chosen, values, np.inf)
        off = self.weight * (self.t - above / below)
        all_of_it = self.weight * (self.t - np.average(self.t, weights=np.square(self.weight)))
        share = float(off @ off) / float(all_of_it @ all_of_it)
        if share < _EXACT:
            return _Choice(first, chosen, values, -np.inf)
        price = sum(0.5 * np.log(n) + _NODE * (self.nodes[k % self.m] + 3) for k in chosen)
        return _Choice(first, chosen, values, float(0.5 * n * np.log(share) + price))


def ratios(table: Table, allowed: set[str], fitter: Fitter) -> list[Law]:
    """Return laws that are ratios of short sums, the shortest first."""
    found: list[tuple[float, Proposal]] = []
    for behind in (PLAIN, ROOT, EXPONENTIAL):
        if not ({"add", "mul"} | behind.needs <= allowed and behind.applies(table.target)):
            continue
        for exprs in _libraries(table, allowed, logarithms=behind is EXPONENTIAL):
            found += _of_library(exprs, behind, table, allowed)
        if found and min(length for length, _ in found) == -np.inf:
            break
    short = sorted(found, key=lambda one: one[0])[:_FITTED]
    return fitted([proposal for _, proposal in short], fitter)


def _of_library(
    exprs: list[Expr], behind: Behind, table: Table, allowed: set[str]
) -> Iterator[tuple[float, Proposal]]:
    with np.errstate(all="ignore"):
        t, slope = behind.value(table.target), np.abs(behind.slope(table.target))
        columns = np.array([np.broadcast_to(evaluate(e, table.columns, {}, table.floors), t.shape)
                            for e in exprs])  # fmt: skip
    good = np.isfinite(columns).all(axis=1) & np.any(columns != 0.0, axis=1)
    exprs = [e for e, fine in zip(exprs, good, strict=True) if fine]
    if not (np.isfinite(t).all() and np.isfinite(slope).all()) or len(exprs) > table.n // 3:
        return
    weight = table.root / np.maximum(slope, 1e-3 * slope.max())
    plain = columns[good]
    both = np.vstack([plain, t * plain]) * weight
    library = _Library([size(e) for e in exprs], t, weight, plain, both)
    for choice in _choices(library):
        proposal = _proposed(choice, exprs, behind, allowed)
        if proposal is not None:
            yield choice.length, proposal
        if behind is ROOT:
            yield from _halved(choice, library, exprs, table, allowed)


def _halved(
    choice: _Choice, library: _Library, exprs: list[Expr], table: Table, allowed: set[str]
) -> Iterator[tuple[float, Proposal]]:
    """Yield a sum over the root of another: what is above may be a square."""
    m = library.m
    below = library.below(choice)
    if not any(k >= m for k in choice.chosen) or below.min() <= 0.0:
        return
    root = np.sqrt(below)
    above, weight = table.target * root, table.root / root
    both = np.vstack([library.plain, above * library.plain]) * weight
    inner = _Library(library.nodes, above, weight, library.plain, both)
    for half in _chosen(inner, m, sides=1)[:1]:
        bounds: dict[str, Bounds] = {}
        parts = list(zip(half.chosen, map(float, half.values), strict=True))
        top = _sum(parts, exprs, "c", bounds)
        found = zip(choice.chosen, map(float, choice.values), strict=True)
        rest = _sum([(k - m, -v) for k, v in found if k >= m], exprs, "b", bounds)
        if top is not None and rest is not None:
            under = power(op("add", exprs[choice.first - m], rest), 0.5, allowed)
            if under is not None:
                yield half.length, Proposal(op("div", top, under), bounds)


def _choices(library: _Library) -> list[_Choice]:
    """Choose a few columns for each that may stand below, the shortest descriptions first."""
    simple = sorted(range(library.m), key=lambda j: library.nodes[j])[:_BELOW]
    found: list[_Choice] = []
    for j in simple:
        found += _chosen(library, library.m + j)
        if any(one.length == -np.inf for one in found):
            break
    return sorted(found, key=lambda one: (one.length, len(one.chosen)))[:_FITTED]


def _chosen(library: _Library, first: int, sides: int = 2) -> list[_Choice]:
    """Add columns above and below, or above only, several choices side by side."""
    sizes = np.sqrt(np.square(library.both).sum(axis=1))
    columns = library.both / sizes[:, None]
    beam: list[tuple[_Choice, FloatArray, FloatArray]] = [
        (_Choice(first, (), np.empty(0), np.inf), columns[first], columns)
    ]
    found: list[_Choice] = []
    for _ in range(_CHOSEN):
        grown: dict[frozenset[int], tuple[_Choice, FloatArray, FloatArray]] = {}
        for choice, rest, left in beam:
            for k in _promising(rest, left, {first, *choice.chosen}, library.m, sides):
                key = frozenset((*choice.chosen, k))
                if key not in grown:
                    grown[key] = (library.choice(first, (*choice.chosen, k)), rest, left)
        kept = sorted(grown.values(), key=lambda one: one[0].length)[:_BEAM]
        found += [choice for choice, _, _ in kept if choice.length < np.inf]
        exact = [_fewest(choice, library) for choice in found if choice.length == -np.inf]
        if exact:
            return exact
        beam = [(one, *_without(rest, left, one.chosen[-1])) for one, rest, left in kept]
    return sorted(found, key=lambda one: one.length)[:_FITTED]


def _promising(
    rest: FloatArray, left: FloatArray, used: set[int], m: int, sides: int
) -> Iterator[int]:
    """Yield the columns that explain most, as many above as below."""
    own = np.square(left).sum(axis=1)
    gains = np.where(own > 1e-9, np.square(left @ rest) / np.maximum(own, 1e-300), 0.0)
    gains[list(used)] = 0.0
    for start in (0, m)[:sides]:
        best = np.argsort(-gains[start : start + m], kind="stable")[:_BEAM]
        yield from (start + int(k) for k in best if gains[start + k] > 0.0)


def _fewest(choice: _Choice, library: _Library) -> _Choice:
    """Leave out columns as long as what is left is rounding."""
    for k in choice.chosen:
        others = tuple(other for other in choice.chosen if other != k)
        fewer = library.choice(choice.first, others) if others else choice
        if fewer.length == -np.inf and len(fewer.chosen) < len(choice.chosen):
            return _fewest(fewer, library)
    return choice


def _without(rest: FloatArray, left: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Take one direction out of the rest and of all columns, twice against rounding."""
    unit = left[k] / np.sqrt(float(left[k] @ left[k]))
    for _ in range(2):
        rest = rest - unit * float(rest @ unit)
        left = left - np.outer(left @ unit, unit)
    return rest, left


def _proposed(
    choice: _Choice, exprs: list[Expr], behind: Behind, allowed: set[str]
) -> Proposal | None:
    """Write a choice as a ratio, with its coefficients as starts."""
    m = len(exprs)
    found = list(zip(choice.chosen, map(float, choice.values), strict=True))
    above = [(k, value) for k, value in found if k < m]
    below = [(k - m, -value) for k, value in found if k >= m]
    bounds: dict[str, Bounds] = {}
    top = _sum(above, exprs, "c", bounds)
    if top is None or (below and "div" not in allowed):
        return None
    under: Expr = exprs[choice.first - m]
    rest = _sum(below, exprs, "b", bounds)
    law = top
    if rest is not None:
        law = op("div", top, op("add", under, rest))
    elif size(under) > 1 or isinstance(under, Var):
        law = op("div", top, under)
    back = behind.back(law, allowed)
    return None if back is None else Proposal(back, bounds)


def _sum(
    parts: Sequence[tuple[int, float]], exprs: list[Expr], letter: str, bounds: dict[str, Bounds]
) -> Expr | None:
    law: Expr | None = None
    for number, (k, value) in enumerate(parts):
        name = f"{letter}{number + 1}"
        bounds[name] = Bounds(start=value)
        constant = size(exprs[k]) == 1 and not isinstance(exprs[k], Var)
        part: Expr = Param(name) if constant else op("mul", Param(name), exprs[k])
        law = part if law is None else op("add", law, part)
    return law


def _libraries(table: Table, allowed: set[str], *, logarithms: bool) -> Iterator[list[Expr]]:
    """Yield what sums are made of: monomials, and products of two of simple functions."""
    names = list(table.columns)
    one = [power(Var(name), 2.0, allowed) for name in names]
    if any(square is None for square in one):
        return
    logs: list[Expr] = []
    if logarithms and "log" in allowed:
        logs = [op("log", Var(n)) for n in names if table.columns[n].min() > 0.0]
    degree = _DEGREE.get(len(names), 2)
    plain = [_monomial(m, names, allowed) for m in monomials(len(names), degree, 3)]
    yield [*(e for e in plain if e is not None), *logs]
    functions = [f for f in ("sin", "cos") if f in allowed]
    if len(names) > 3 or not functions or logarithms:
        return
    pairs = [op("mul", Var(a), Var(b)) for a, b in combinations(names, 2)]
    waves = [op(f, inner) for f in functions for inner in (*map(Var, names), *pairs)]
    atoms = [*map(Var, names), *waves]
    small = [_monomial(m, names, allowed) for m in monomials(len(names), 2, 2)]
    mixed = [op("mul", a, b) for a, b in combinations(atoms, 2) if b in waves]
    yield [*(e for e in small if e is not None), *waves, *mixed]


def _monomial(exponents: tuple[int, ...], names: list[str], allowed: set[str]) -> Expr | None:
    made: Expr | None = None
    for name, exponent in zip(names, exponents, strict=True):
        part = power(Var(name), float(exponent), allowed) if exponent else None
        if exponent and part is None:
            return None
        if part is not None:
            made = part if made is None else op("mul", made, part)
    return Const(1.0) if made is None else made
