"""Terms that a rate may be a sum of, in levels: the simplest first.

What a term costs in a description grows with the number of terms as simple as it, so a larger
library never hides a law that a smaller one can say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Param, Var, parameters
from alder.expr.operators import operator
from alder.expr.valued import with_values

_MOST_MONOMIALS = 56  # of one degree: beyond it the degree is left out
_HIGHEST = 5
_SHARES = (0.1, 0.3, 1.0, 3.0)  # of a column's size, at which shapes begin


@final
@dataclass(frozen=True, slots=True)
class Term:
    """A summand without its coefficient; `values` belong to parameters inside, in their order."""

    expr: Expr
    level: int
    values: tuple[float, ...] = ()

    def literal(self) -> Expr:
        """Return the term with numbers in place of its parameters."""
        return with_values(self.expr, dict(zip(parameters(self.expr), self.values, strict=True)))

    def named(self, suffix: str) -> tuple[Expr, dict[str, float]]:
        """Return the term with parameters of its own, and their values."""
        names = parameters(self.expr)
        fresh = {name: f"{name}{suffix}" for name in names}
        values = {fresh[n]: v for n, v in zip(names, self.values, strict=True)}
        return rename(self.expr, fresh), values


@final
@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """Terms over named columns, with what each costs; functions of arrays where it matters."""

    columns: tuple[str, ...]
    terms: tuple[Term, ...]

    def costs(self, n_rows: int) -> FloatArray:
        r"""Return $\ln n (1 + q) + 2 \ln p$ for each: q parameters inside, p terms as simple."""
        levels = np.array([term.level for term in self.terms])
        n_as_simple = np.array([(levels <= level).sum() for level in levels])
        n_inside = np.array([len(term.values) for term in self.terms])
        digits = np.log(max(n_rows, 2))
        return digits * (1.0 + n_inside) + 2.0 * np.log(np.maximum(n_as_simple, 2))

    def values(self, table: FloatArray) -> FloatArray:
        """Evaluate every term on rows (n, columns): (n, terms)."""
        rows = {name: table[:, i] for i, name in enumerate(self.columns)}
        found = [evaluate(term.literal(), rows, {}) for term in self.terms]
        return np.stack([np.broadcast_to(one, (len(table),)) for one in found], axis=1)

    def up_to(self, level: int) -> list[int]:
        """Return the places of the terms of a level and below."""
        return [i for i, term in enumerate(self.terms) if term.level <= level]

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels there are."""
        return tuple(sorted({term.level for term in self.terms}))


def make_library(
    columns: Sequence[str], operators: Sequence[str], rows: Mapping[str, FloatArray]
) -> Library:
    """Return all terms that the operators allow, over states and inputs.

    `rows` are the smoothed columns: a term that is not finite on them, or that does not vary where
    its variables do, is left out.
    """
    allowed = set(operators)
    terms = [
        *_polynomials(columns, range(3), 0),
        *_polynomials(columns, range(3, 4), 1),
        *_bounded(columns, allowed, 2),
        *_polynomials(columns, range(4, _HIGHEST + 1), 3),
        *_steep(columns, allowed, rows, 3),
        *_products(columns, allowed, 4),
        *_saturating(columns, allowed, rows, 5),
    ]
    kept = [term for term in terms if _is_usable(term, rows)]
    return Library(tuple(columns), tuple(dict.fromkeys(kept)))


def _is_usable(term: Term, rows: Mapping[str, FloatArray]) -> bool:
    values = evaluate(term.literal(), rows, {})
    return bool(np.isfinite(values).all() and np.max(np.abs(values), initial=0.0) < 1e12)


def _polynomials(columns: Sequence[str], degrees: range, level: int) -> Iterator[Term]:
    for degree in degrees:
        found = list(combinations_with_replacement(columns, degree))
        if len(found) <= _MOST_MONOMIALS and (degree <= 3 or len(columns) <= 3):
            yield from (Term(_monomial(one), level) for one in found)


def _bounded(columns: Sequence[str], allowed: set[str], level: int) -> Iterator[Term]:
    """Yield sines, cosines, x|x| and signs."""
    for name in columns:
        for function in ("sin", "cos"):
            if function in allowed:
                yield Term(_of(function, Var(name)), level)
        if "abs" in allowed:
            yield Term(_times(Var(name), _of("abs", Var(name))), level)


def _steep(
    columns: Sequence[str], allowed: set[str], rows: Mapping[str, FloatArray], level: int
) -> Iterator[Term]:
    """Yield exponentials of either sign, logarithms and reciprocals."""
    for name in columns:
        x, column = Var(name), rows[name]
        if "exp" in allowed:
            yield Term(_of("exp", x), level)
            yield Term(_of("exp", _of("neg", x)), level)
        if (column > 0.0).all():
            if "log" in allowed:
                yield Term(_of("log", x), level)
                yield Term(_times(x, _of("log", x)), level)
            if "div" in allowed:
                yield Term(_over(Const(1.0), x), level)
            if "sqrt" in allowed:
                yield Term(_of("sqrt", x), level)


def _products(columns: Sequence[str], allowed: set[str], level: int) -> Iterator[Term]:
    """Yield products of two trigonometric functions, or of one and a column; and of differences."""
    waves = [_of(f, Var(n)) for f in ("sin", "cos") if f in allowed for n in columns]
    yield from (Term(_times(a, b), level) for a, b in combinations_with_replacement(waves, 2))
    for name in columns:
        yield from (Term(_times(Var(name), wave), level) for wave in waves)
    for a, b in combinations(columns, 2):
        for function in ("sin", "cos"):
            if function in allowed:
                yield Term(_of(function, _of("sub", Var(a), Var(b))), level)
    if "div" in allowed:
        for name in columns:
            x = Var(name)
            yield from (Term(_over(w, x), level) for w in waves if x not in w.arguments)
            yield from (Term(_over(Var(n), x), level) for n in columns if n != name)


def _saturating(
    columns: Sequence[str], allowed: set[str], rows: Mapping[str, FloatArray], level: int
) -> Iterator[Term]:
    """Yield shapes with a scale inside, alone and times a column: Hill's, and decays."""
    k = Param("k")
    for name in columns:
        x, column = Var(name), rows[name]
        size = float(np.quantile(np.abs(column), 0.7)) or 1.0
        shapes: list[tuple[Expr, float]] = []
        # A decay or a saturation of a quantity that changes its sign would be a spike somewhere.
        is_positive = bool((column > -1e-9 * size).all())
        if "div" in allowed:
            if is_positive:
                shapes.append((_over(x, _plus(k, x)), 1.0))
            square = _of("pow", x, Const(2.0))
            shapes.append((_over(Const(1.0), _plus(k, square)), 2.0))
        if "exp" in allowed and is_positive:
            shapes.append((_of("exp", _of("neg", _over(x, k))), 1.0))
        for shape, power in shapes:
            for share in _SHARES:
                value = (share * size) ** power
                yield Term(shape, level, (value,))
                for factor in columns:
                    yield Term(_times(Var(factor), shape), level, (value,))


def _monomial(names: Sequence[str]) -> Expr:
    found: Expr = Const(1.0)
    for name in dict.fromkeys(names):
        count = names.count(name)
        factor: Expr = Var(name) if count == 1 else _of("pow", Var(name), Const(float(count)))
        found = factor if isinstance(found, Const) else _times(found, factor)
    return found


def _of(name: str, *arguments: Expr) -> Apply:
    return Apply(operator(name), arguments)


def _times(left: Expr, right: Expr) -> Expr:
    return _of("mul", left, right)


def _plus(left: Expr, right: Expr) -> Expr:
    return _of("add", left, right)


def _over(left: Expr, right: Expr) -> Expr:
    return _of("div", left, right)
