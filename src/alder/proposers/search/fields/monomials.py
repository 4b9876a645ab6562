r"""Products of powers of atoms, nested by degree, and their values on rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Expr, size

Exponents: TypeAlias = tuple[int, ...]
"""One exponent for each atom."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """What monomials are made of: expressions with their values, (rows, atoms).

    `at_most` limits the exponent of each, since a cosine squared is one minus a sine squared.
    """

    exprs: tuple[Expr, ...]
    values: FloatArray
    at_most: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The nodes of each atom."""
        return tuple(map(size, self.exprs))

    def only(self, places: Sequence[int]) -> "Atoms":
        """Return some of the atoms."""
        exprs = tuple(self.exprs[i] for i in places)
        return Atoms(exprs, self.values[:, list(places)], tuple(self.at_most[i] for i in places))

    def monomials(self, degree: int) -> tuple[Exponents, ...]:
        """Return all monomials up to a degree, the constant first."""
        return tuple(
            e
            for e in exponents(len(self.exprs), degree)
            if all(k <= most for k, most in zip(e, self.at_most, strict=True))
        )

    def columns(self, monomials: Sequence[Exponents]) -> FloatArray:
        """Return the value of each monomial on each row."""
        n = len(self.values)
        powers = [[np.ones(n)] for _ in self.exprs]
        for i, most in enumerate(np.max(np.array(monomials), axis=0).tolist()):
            for _ in range(most):
                powers[i].append(powers[i][-1] * self.values[:, i])
        columns = np.ones((n, len(monomials)))
        for j, e in enumerate(monomials):
            for i, k in enumerate(e):
                if k:
                    columns[:, j] *= powers[i][k]
        return columns


@cache
def exponents(n_atoms: int, degree: int) -> tuple[Exponents, ...]:
    """Return the exponents of all monomials up to a degree, the lower degrees first.

    >>> exponents(2, 1)
    ((0, 0), (1, 0), (0, 1))
    """
    found: list[Exponents] = []
    for d in range(degree + 1):
        for chosen in combinations_with_replacement(range(n_atoms), d):
            found.append(tuple(chosen.count(i) for i in range(n_atoms)))
    return tuple(found)
