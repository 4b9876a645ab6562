r"""Which variables matter, and which act together: tests on a polynomial regression of the rows.

A law is a sum of terms; two variables that never share a term never interact, whatever the shapes.
A polynomial is a poor law but a good witness: leaving out all monomials with $x_i x_j$ raises its
residual by

$$\Delta = \beta_S^\top \big[(X^\top X)^{-1}_{SS}\big]^{-1} \beta_S,$$

which an F test compares with the residual itself. Pursuit without these tests follows products
that imitate sums.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.proposers.search.table import Table

Parity: TypeAlias = Literal["odd", "even", "any"]

# A variable or a pair is left out only where chance explains what it adds.
_RELEVANT = 1e-3
_INTERACTS = 1e-5
_UNEVEN = 1e-3
# Monomials a regression may have for each row.
_PER_ROW = 0.55
# A positive variable whose largest value is more times its smallest is read by its logarithm.
_WIDE = 6.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What the rows say before any law: who matters, who interacts, what is odd or even.

    `pairs` maps each pair of relevant variables to the chance that they do not interact; `noise`
    is the variance that polynomials leave, at least that of the noise.
    """

    relevant: tuple[str, ...]
    pairs: dict[tuple[str, str], float]
    parity: dict[str, Parity]
    noise: float

    def cliques(self, level: float = _INTERACTS) -> tuple[tuple[str, ...], ...]:
        """Return the largest sets of variables that all interact, in declared order."""
        friends: dict[str, set[str]] = {name: set() for name in self.relevant}
        for (a, b), chance in self.pairs.items():
            if chance < level:
                friends[a].add(b)
                friends[b].add(a)
        place = {name: k for k, name in enumerate(self.relevant)}
        found = [sorted(one, key=place.__getitem__) for one in _maximal(self.relevant, friends)]
        ordered = sorted(found, key=lambda one: [place[name] for name in one])
        return tuple(map(tuple, ordered))


def find_structure(table: Table) -> Structure:
    """Test variables, then pairs of those that matter, on as many monomials as the rows allow.

    Experiments reach far out, where a polynomial may fail and see what is not there; the rows
    given at first are asked alone where a polynomial describes them better.
    """
    found = _find(table)
    given = table.given()
    if given is None:
        return found
    first = _find(given)
    return first if first.noise < found.noise else found


def _find(table: Table) -> Structure:
    relevant = tuple(table.columns)
    witness = _Witness(table, relevant)
    while len(relevant) > 1:
        chances = [witness.chance(_with(i)) for i in range(len(relevant))]
        worst = int(np.argmax(chances))
        if chances[worst] < _RELEVANT:
            break
        relevant = relevant[:worst] + relevant[worst + 1 :]
        witness = _Witness(table, relevant)
    pairs = {
        (relevant[i], relevant[j]): witness.chance(_with(i, j))
        for i, j in combinations(range(len(relevant)), 2)
    }
    parity: dict[str, Parity] = {
        name: _parity(table, witness, i, name) for i, name in enumerate(relevant)
    }
    return Structure(relevant, pairs, parity, witness.rss / witness.df)


def _with(*variables: int) -> Callable[[tuple[int, ...]], bool]:
    """Choose the monomials in which all of these variables occur."""
    return lambda exponents: all(exponents[i] > 0 for i in variables)


def _of_degree(variable: int, *degrees: int) -> Callable[[tuple[int, ...]], bool]:
    return lambda exponents: exponents[variable] in degrees


def _parity(table: Table, witness: "_Witness", i: int, name: str) -> Parity:
    """Say whether the target is odd or even in a variable that takes both signs."""
    column = table.columns[name]
    if not _mirrored(column):  # a variable from -1 to 100 has no mirror image
        return "any"
    if witness.chance(_of_degree(i, 2)) > _UNEVEN:
        return "odd"
    if witness.chance(_of_degree(i, 1, 3)) > _UNEVEN:
        return "even"
    return "any"


def _tail(ratio: float, above: int, below: int) -> float:
    """Return the chance of a larger F ratio, from the incomplete beta function."""
    from scipy.special import betainc  # pyright: ignore[reportMissingTypeStubs]

    return float(betainc(0.5 * below, 0.5 * above, below / (below + above * ratio)))


class _Witness:
    """A polynomial fitted to the target, and what leaving out some of its monomials costs."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.exponents = _exponents(len(names), table.n)
        coordinates = [coordinate(table.columns[name]) for name in names]
        made = table.observed(design(coordinates, self.exponents[1:]).T)
        raw = table.root[:, None] * np.vstack([table.constant, made]).T
        self.n_apart = len(table.constant)
        scale = np.sqrt(np.square(raw).sum(axis=0))
        X = raw / np.where(scale > 0.0, scale, 1.0)
        gram = X.T @ X + 1e-10 * np.eye(X.shape[1])
        self.inverse = np.linalg.inv(gram)
        z = table.root * table.target
        self.beta = self.inverse @ (X.T @ z)
        residual = z - X @ self.beta
        self.df = max(table.n - X.shape[1], 1)
        self.rss = float(residual @ residual)
        self.floor = 1e-24 * float(z @ z)

    def chance(self, leave_out: Callable[[tuple[int, ...]], bool]) -> float:
        """Return the probability of so large a loss were the monomials useless."""
        chosen = [
            self.n_apart + k
            for k, exponents in enumerate(self.exponents[1:])
            if leave_out(exponents)
        ]
        if not chosen:
            return 1.0
        beta = self.beta[chosen]
        block = self.inverse[np.ix_(chosen, chosen)]
        try:
            rise = float(beta @ np.linalg.solve(block, beta))
        except np.linalg.LinAlgError:
            return 1.0
        ratio = (rise / len(chosen)) / (max(self.rss, self.floor) / self.df)
        return _tail(max(ratio, 0.0), len(chosen), self.df)


def design(coordinates: Sequence[FloatArray], exponents: Sequence[tuple[int, ...]]) -> FloatArray:
    """Return one column per monomial of standardised coordinates."""
    n = len(coordinates[0]) if coordinates else 0
    powers = [[np.ones(n), c, c * c, c**3, c**4] for c in coordinates]
    columns: list[FloatArray] = []
    for one in exponents:
        column = np.ones(n)
        for variable, degree in enumerate(one):
            if degree:
                column = column * powers[variable][degree]
        columns.append(column)
    return np.column_stack(columns)


def monomials(n_variables: int, degree: int, most_together: int) -> list[tuple[int, ...]]:
    """List exponents of total degree up to `degree`, of at most so many variables at once."""
    found: list[tuple[int, ...]] = []
    for total in range(degree + 1):
        for chosen in combinations_with_replacement(range(n_variables), total):
            if len(set(chosen)) <= most_together:
                found.append(tuple(chosen.count(i) for i in range(n_variables)))
    return found


def _exponents(n_variables: int, n_rows: int) -> list[tuple[int, ...]]:
    for degree, together in ((3, 3), (3, 2), (2, 2), (1, 1)):
        found = monomials(n_variables, degree, together)
        if len(found) <= max(_PER_ROW * n_rows, 4):
            return found
    return monomials(n_variables, 1, 1)


def coordinate(column: FloatArray) -> FloatArray:
    """Return a variable as polynomials read it: about -1 to 1, logarithmic over wide ranges."""
    if is_wide(column):
        column = np.log(column)
    low, high = np.quantile(column, [0.02, 0.98])
    width = high - low if high > low else float(np.ptp(column)) or 1.0
    # About zero, so that odd and even stay what they are.
    middle = 0.0 if _mirrored(column) else 0.5 * (low + high)
    return 2.0 * (column - middle) / width


def is_wide(column: FloatArray) -> bool:
    """Say whether a positive variable spans so much that its logarithm is read instead."""
    return bool(column.min() > 0.0 and column.max() > _WIDE * column.min())


def _mirrored(column: FloatArray) -> bool:
    """Say whether a variable takes both signs, about as far to either side."""
    return bool(0.5 < -column.min() / max(float(column.max()), 1e-300) < 2.0)


def _maximal(names: Sequence[str], friends: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Yield the maximal cliques of a graph (Bron and Kerbosch)."""

    def grow(inside: set[str], maybe: list[str], done: set[str]) -> Iterator[set[str]]:
        if not maybe and not done:
            yield inside
        left = list(maybe)
        for name in maybe:
            near = friends[name]
            yield from grow(inside | {name}, [n for n in left if n in near], done & near)
            left.remove(name)
            done = done | {name}

    return grow(set(), list(names), set()) if names else iter(())
