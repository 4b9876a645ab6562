"""Which terms there are, in levels: the simplest first.

What a term costs in a description grows with the number of terms as simple as it, so a larger
library never hides a law that a smaller one can say. Numbers inside begin on a grid that spans the
column, whatever its unit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Const, Var
from alder.proposers.summands.bent import RARE, curved, mixed, saturating, switching
from alder.proposers.summands.building import monomial, of, over, plus, times
from alder.proposers.summands.rarer import rarer
from alder.proposers.summands.terms import MOST_ROWS, Library, Term, is_tame

_MOST_MONOMIALS = 56  # of one degree: beyond it the degree is left out
_HIGHEST = 5
_MOST_TURNING = 4  # columns beyond which there would be too many of these
_MOST_APART = 6  # the same, where there are fewer
_MOST = 1e12  # times what is usual of a term: more of it on a row is a pole, or overflows soon

_Rows: TypeAlias = Mapping[str, FloatArray]


def make_library(columns: Sequence[str], operators: Sequence[str], rows: _Rows) -> Library:
    """Return all terms that the operators allow, over states and inputs.

    `rows` are the smoothed columns: a term that is not finite on them is left out. What is too
    large depends on no unit.
    """
    allowed = set(operators)
    terms = [
        *_polynomials(columns, range(3), 0),
        *_polynomials(columns, range(3, 4), 1),
        *_bounded(columns, allowed, 2),
        *_polynomials(columns, range(4, _HIGHEST + 1), 3),
        *_steep(columns, allowed, rows, 3),
        *_products(columns, allowed, 4),
    ]
    scaled = list(saturating(columns, allowed, rows))
    between = [
        *(term for few, term in scaled if not few),
        *switching(columns, allowed, rows),
        *curved(columns, allowed, rows),
        *mixed(columns, allowed, rows),
        *_turning(columns, allowed),
        *_distances(columns, allowed),
        *rarer(columns, allowed, rows),
    ]
    every = [*terms, *(term for few, term in scaled if few)]
    there = (_usable(columns, found, rows) for found in (every, between))
    return Library(tuple(columns), *there)


def _usable(columns: Sequence[str], terms: Iterable[Term], rows: _Rows) -> tuple[Term, ...]:
    """Return the terms that are finite on the rows, without those that say the same there."""
    every = tuple(dict.fromkeys(terms))
    table = _few_rows(np.column_stack([rows[n] for n in columns]))
    values = Library(tuple(columns), every).values(table)
    found: dict[object, Term] = {}
    for place, term in enumerate(every):
        column = values[:, place]
        if is_tame(column) and _is_even(np.abs(column)):
            found.setdefault(term if term.values else _shape_of(column), term)
    return tuple(found.values())


def _few_rows(table: FloatArray) -> FloatArray:
    """Return so many rows that terms can be told apart there, those at the ends among them."""
    if len(table) <= MOST_ROWS:
        return table
    ends = [*np.argmin(table, axis=0), *np.argmax(table, axis=0), *np.abs(table).argmin(axis=0)]
    evenly = np.linspace(0, len(table) - 1, MOST_ROWS).astype(np.int64)
    return table[np.unique(np.concatenate([evenly, np.array(ends, dtype=np.int64)]))]


def _is_even(sizes: FloatArray) -> bool:
    """Say whether no number is beyond all proportion to those that are usual."""
    usual = float(np.median(sizes[sizes > 0.0])) if (sizes > 0.0).any() else 0.0
    return bool((sizes <= _MOST * usual).all())


def _shape_of(values: FloatArray) -> bytes:
    """Return what proportional columns have in common."""
    largest = values[int(np.argmax(np.abs(values)))] or 1.0
    return (np.round(values / largest, 9) + 0.0).tobytes()


def _polynomials(columns: Sequence[str], degrees: range, level: int) -> Iterator[Term]:
    for degree in degrees:
        found = list(combinations_with_replacement(columns, degree))
        if len(found) <= _MOST_MONOMIALS and (degree <= 3 or len(columns) <= 3):
            yield from (Term(monomial(one), level) for one in found)


def _bounded(columns: Sequence[str], allowed: set[str], level: int) -> Iterator[Term]:
    """Yield sines, cosines, x|x| and signs."""
    for name in columns:
        for function in ("sin", "cos"):
            if function in allowed:
                yield Term(of(function, Var(name)), level)
        if "abs" in allowed:
            yield Term(times(Var(name), of("abs", Var(name))), level)


def _steep(columns: Sequence[str], allowed: set[str], rows: _Rows, level: int) -> Iterator[Term]:
    """Yield exponentials of either sign, logarithms, and powers that are not whole or negative."""
    for name in columns:
        x, column = Var(name), rows[name]
        if "exp" in allowed:
            yield Term(of("exp", x), level)
            yield Term(of("exp", of("neg", x)), level)
        if (column > 0.0).all():
            if "log" in allowed:
                yield Term(of("log", x), level)
                yield Term(times(x, of("log", x)), level)
            if "div" in allowed:
                yield Term(over(Const(1.0), x), level)
                yield from (
                    Term(over(Const(1.0), of("pow", x, Const(n))), level) for n in (2.0, 3.0)
                )
            if "sqrt" in allowed:
                yield Term(of("sqrt", x), level)
                yield Term(times(x, of("sqrt", x)), level)


def _products(columns: Sequence[str], allowed: set[str], level: int) -> Iterator[Term]:
    """Yield products of two trigonometric functions, or of one and a column; and of differences."""
    waves = [of(f, Var(n)) for f in ("sin", "cos") if f in allowed for n in columns]
    yield from (Term(times(a, b), level) for a, b in combinations_with_replacement(waves, 2))
    for name in columns:
        yield from (Term(times(Var(name), wave), level) for wave in waves)
    for a, b in combinations(columns, 2):
        for function in ("sin", "cos"):
            if function in allowed:
                yield Term(of(function, of("sub", Var(a), Var(b))), level)
    if "div" in allowed:
        for name in columns:
            x = Var(name)
            yield from (Term(over(w, x), level) for w in waves if x not in w.arguments)
            yield from (Term(over(Var(n), x), level) for n in columns if n != name)


def _distances(columns: Sequence[str], allowed: set[str]) -> Iterator[Term]:
    """Yield coordinates of a plane times their distance, over it, and over its cube.

    Drag and attraction in a plane are such terms.
    """
    if not {"sqrt", "add", "mul"} <= allowed or len(columns) > _MOST_APART:
        return
    for pair in combinations(columns, 2):
        squared = plus(monomial((pair[0], pair[0])), monomial((pair[1], pair[1])))
        distance = of("sqrt", squared)
        for x in map(Var, pair):
            yield Term(times(x, distance), RARE)
            if "div" in allowed:
                yield Term(over(x, distance), RARE)
                yield Term(over(x, times(squared, distance)), RARE)


def _turning(columns: Sequence[str], allowed: set[str]) -> Iterator[Term]:
    """Yield what turns: squares times waves, three waves, and sines over cosines."""
    if len(columns) > _MOST_TURNING:
        return
    waves = {f: [of(f, Var(n)) for n in columns] for f in ("sin", "cos") if f in allowed}
    every = [wave for each in waves.values() for wave in each]
    for pair in combinations_with_replacement(columns, 2):
        yield from (Term(times(monomial(pair), wave), RARE) for wave in every)
    for a, b, c in combinations_with_replacement(every, 3):
        yield Term(times(times(a, b), c), RARE)
    if len(waves) == 2 and "div" in allowed:
        for sine, cosine in zip(waves["sin"], waves["cos"], strict=True):
            for slope in (over(sine, cosine), over(cosine, sine)):
                yield Term(slope, RARE)
                yield from (Term(times(Var(name), slope), RARE) for name in columns)
                others = [wave for wave in every if wave.arguments != sine.arguments]
                yield from (Term(times(wave, slope), RARE) for wave in others)
