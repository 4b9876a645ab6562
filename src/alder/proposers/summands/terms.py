"""Terms that a rate may be a sum of, with numbers inside, and what each costs in a description."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.expr.evaluate import evaluate, jacobian
from alder.expr.nodes import Expr, parameters, variables
from alder.expr.valued import with_values

MOST_ROWS = 1000
"""Rows on which terms are compared: these are sets of terms, not their last digits."""
WILD = 1e100
"""Columns beyond this say nothing, and their squares are no numbers."""


def is_tame(columns: FloatArray) -> bool:
    """Say whether all are numbers that can be squared."""
    return bool((np.abs(columns) < WILD).all())


def moved(values: Sequence[float], steps: Sequence[float]) -> tuple[float, ...]:
    """Return numbers inside a term after steps, which are shares of them.

    >>> moved((2.0,), (0.0,))
    (2.0,)
    """
    return tuple(value * float(np.exp(step)) for value, step in zip(values, steps, strict=True))


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
    """Terms over named columns, with what each costs.

    `between` are more terms, and more scales of the same, for where a comparison is cheap.
    """

    columns: tuple[str, ...]
    terms: tuple[Term, ...]
    between: tuple[Term, ...] = ()

    def costs(self, n_rows: int) -> FloatArray:
        """Return what each term costs; see `price`."""
        return np.array([self.price(term, n_rows) for term in self.terms])

    def price(self, term: Term, n_rows: int) -> float:
        r"""Return $\ln n (1 + q) + 2 \ln p$: q numbers inside, p shapes as simple as the term."""
        n_as_simple = sum(n for level, n in _counts(self).items() if level <= term.level)
        digits = float(np.log(max(n_rows, 2)))
        return digits * (1.0 + len(term.values)) + 2.0 * float(np.log(max(n_as_simple, 2)))

    def values(self, table: FloatArray) -> FloatArray:
        """Evaluate every term on rows (n, columns): (n, terms)."""
        found = np.zeros((len(table), len(self.terms)))
        for expr, places in self._alike().items():
            rows, numbers = self._tiled(table, expr, places)
            found[:, places] = evaluate(expr, rows, numbers).reshape(len(table), -1)
        return found

    def blocks(self, table: FloatArray) -> FloatArray:
        """Return every term and its derivatives by numbers inside, (n, 1 + most inside, terms).

        The derivatives are those by `moved`; zero where a term has fewer numbers.
        """
        most = max((len(term.values) for term in self.terms), default=0)
        found = np.zeros((len(table), 1 + most, len(self.terms)))
        for expr, places in self._alike().items():
            rows, numbers = self._tiled(table, expr, places)
            value, slopes = jacobian(expr, rows, numbers, tuple(numbers))
            found[:, 0, places] = value.reshape(len(table), -1)
            for k, number in enumerate(numbers.values(), start=1):
                found[:, k, places] = (slopes[:, k - 1] * number).reshape(len(table), -1)
        return found

    def _alike(self) -> dict[Expr, list[int]]:
        """Return the places of terms that differ in their numbers only."""
        found: dict[Expr, list[int]] = {}
        for place, term in enumerate(self.terms):
            found.setdefault(term.expr, []).append(place)
        return found

    def _tiled(
        self, table: FloatArray, expr: Expr, places: Sequence[int]
    ) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
        """Return every row once for each of the terms, and the numbers inside beside it."""
        read = variables(expr) or self.columns[:1]
        rows = {name: np.repeat(table[:, self.columns.index(name)], len(places)) for name in read}
        inside = np.array([self.terms[place].values for place in places]).T
        numbers = {
            name: np.tile(one, len(table))
            for name, one in zip(parameters(expr), inside, strict=True)
        }
        return rows, numbers

    def finer(self, level: int) -> "Library":
        """Return the terms of a level and below, at more scales."""
        every = (*self.terms, *self.between)
        return Library(self.columns, tuple(term for term in every if term.level <= level))

    def up_to(self, level: int) -> list[int]:
        """Return the places of the terms of a level and below."""
        return [i for i, term in enumerate(self.terms) if term.level <= level]

    @property
    def top(self) -> int:
        """The highest level, of terms at more scales too."""
        return max(term.level for term in (*self.terms, *self.between))

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels there are."""
        return tuple(sorted({term.level for term in self.terms}))


@lru_cache(maxsize=16)  # a library is the same object throughout a search
def _counts(library: Library) -> dict[int, int]:
    """Return how many shapes there are of each level."""
    levels = {term.expr: term.level for term in library.terms}
    return dict(Counter(levels.values()))
