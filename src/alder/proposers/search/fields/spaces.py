r"""Nested spaces of relations: polynomials, then ratios, over states and over lifted atoms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations, permutations, product
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Var
from alder.expr.operators import OPERATORS, Floors
from alder.proposers.search.fields.monomials import Atoms, Exponents

# Degrees of polynomials and of the two sides of ratios, by the most columns they may bring.
_POLYNOMIAL, _ABOVE, _BELOW = 6, 7, 6
_COLUMNS = 90
# Rows for each column of a space; fewer would fit anything.
_ROWS_PER_COLUMN = 3.0
# Quantities beside the sine and cosine of an angle.
_MOST_BESIDE = 2
# Coordinates of a distance: those of a plane, then those of space.
_COORDINATES = (2, 3)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Monomials above and below the line; a polynomial has only the constant below."""

    label: str
    atoms: Atoms
    above: tuple[Exponents, ...]
    below: tuple[Exponents, ...]

    @property
    def n_columns(self) -> int:
        """How many coefficients a relation may have."""
        return len(self.above) + len(self.below)

    def columns(self, y: FloatArray) -> FloatArray:
        """Return the columns of both sides; those below are multiplied by the target."""
        Q = self.atoms.columns(self.above)
        P = self.atoms.columns(self.below)
        return np.column_stack([Q, y[:, None] * P])


def plain_atoms(columns: Mapping[str, FloatArray]) -> Atoms:
    """Return the variables themselves."""
    exprs = tuple(Var(name) for name in columns)
    return Atoms(exprs, np.column_stack([*columns.values()]), (99,) * len(exprs))


def polynomials(atoms: Atoms, n_rows: int, label: str, most: int = _COLUMNS) -> Iterator[Space]:
    """Yield polynomials of growing degree in all atoms, and of higher degree in fewer."""
    one: Exponents
    for chosen in _subsets(atoms):
        some = atoms.only(chosen)
        one = (0,) * len(chosen)
        for degree in range(1, _POLYNOMIAL + 1):
            above = some.monomials(degree)
            if len(above) > min(most, n_rows / _ROWS_PER_COLUMN):
                break
            yield Space(label, some, above, (one,))


def ratios(atoms: Atoms, n_rows: int, label: str, most: int = _COLUMNS) -> Iterator[Space]:
    """Yield ratios over every set of atoms, degrees above and below growing apart."""
    limit = min(most, n_rows / _ROWS_PER_COLUMN)
    for chosen in _subsets(atoms):
        some = atoms.only(chosen)
        for below in range(1, _BELOW + 1):
            P = some.monomials(below)
            for above in range(max(below - 2, 0), _ABOVE + 1):
                Q = some.monomials(above)
                if len(P) + len(Q) > limit:
                    break
                yield Space(label, some, Q, P)


def nested(spaces: Iterator[Space]) -> list[Space]:
    """Return spaces by their number of columns."""
    return sorted(spaces, key=lambda space: space.n_columns)


def _subsets(atoms: Atoms) -> list[tuple[int, ...]]:
    n = len(atoms.exprs)
    return [chosen for k in range(1, n + 1) for chosen in combinations(range(n), k)]


_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("sin", "cos"), ("exp",), ("exp-",), ("log",), ("sqrt",), ("abs",), ("tanh",),
)  # fmt: skip


def lifted_atoms(
    columns: Mapping[str, FloatArray], allowed: set[str], floors: Floors
) -> Iterator[tuple[str, Atoms]]:
    """Yield the variables with one family of functions of one or two of them."""
    for family in _families(allowed):
        for chosen in [one for k in (1, 2) for one in combinations(columns, k)]:
            atoms = _lift(columns, dict.fromkeys(chosen, family), floors)
            if atoms is not None:
                yield family[0], atoms


def phases(columns: Mapping[str, FloatArray], allowed: set[str], floors: Floors) -> Atoms | None:
    """Return sines and cosines of all variables and of their differences; None without any."""
    waves = [name for name in ("sin", "cos") if name in allowed]
    angles: list[tuple[Expr, FloatArray]] = [(Var(name), x) for name, x in columns.items()]
    for (one, x), (other, z) in combinations(angles[:], 2):
        angles.append((Apply(OPERATORS["sub"], (one, other)), x - z))
    exprs: list[Expr] = [Var(name) for name in columns]
    values = [*columns.values()]
    for angle, x in angles:
        for wave in waves:
            exprs.append(Apply(OPERATORS[wave], (angle,)))
            values.append(OPERATORS[wave].value((x,), floors))
    if not waves or len(columns) < 2:
        return None
    return Atoms(tuple(exprs), np.column_stack(values), (1,) * len(exprs))


def turning(
    columns: Mapping[str, FloatArray], allowed: set[str], floors: Floors
) -> Iterator[Atoms]:
    """Yield the sine and cosine of one angle, which is not there itself, and a few others.

    So it is with what turns: mass and drive of a joint depend on where it is, not on how often
    it went round.
    """
    if not {"sin", "cos"} <= allowed:
        return
    for name in columns:
        lifted = _lift(columns, {name: ("sin", "cos")}, floors)
        if lifted is None:
            continue
        n = len(columns)
        others = [place for place, other in enumerate(columns) if other != name]
        for count in range(1, _MOST_BESIDE + 1):
            for chosen in combinations(others, count):
                yield lifted.only((*chosen, n, n + 1))


def distances(
    columns: Mapping[str, FloatArray], allowed: set[str], floors: Floors
) -> Iterator[Atoms]:
    """Yield the variables with the root of a sum of squares, one over it, or over its cube.

    So it is with what moves in a plane or in space: drag goes with the speed, and attraction with
    one over the cube of the distance, times each coordinate.
    """
    if not {"sqrt", "add", "mul"} <= allowed:
        return
    plain = plain_atoms(columns)
    once = (*plain.at_most, 1)
    for count in _COORDINATES:
        for chosen in combinations(columns, count):
            squared = reduce(partial(_apply, "add"), [_squared(Var(n), allowed) for n in chosen])
            distance = Apply(OPERATORS["sqrt"], (squared,))
            r = np.sqrt(sum(np.square(columns[name]) for name in chosen))
            found: list[tuple[Expr, FloatArray]] = [(distance, r)]
            if "div" in allowed and (r > 0.0).all():
                one = Const(1.0)
                cube = _apply("mul", squared, distance)
                found += [(_apply("div", one, distance), 1.0 / r)]
                found += [(_apply("div", one, cube), 1.0 / r**3)]
            for expr, values in found:
                yield Atoms((*plain.exprs, expr), np.column_stack([plain.values, values]), once)


def _squared(x: Expr, allowed: set[str]) -> Expr:
    return _apply("pow", x, Const(2.0)) if "pow" in allowed else _apply("mul", x, x)


def _apply(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)


def mixed_atoms(
    columns: Mapping[str, FloatArray], allowed: set[str], floors: Floors
) -> Iterator[tuple[str, Atoms]]:
    """Yield the variables with functions of two families, of one variable or of two."""
    for first, second in permutations(_families(allowed), 2):
        for one, other in product(columns, columns):
            if one == other and first > second:
                continue
            lifts = {one: first, other: second} if one != other else {one: first + second}
            atoms = _lift(columns, lifts, floors)
            if atoms is not None:
                yield "mixed", atoms


def _families(allowed: set[str]) -> list[tuple[str, ...]]:
    """Return the families whose functions the grammar has."""
    return [one for one in _FAMILIES if {name.rstrip("-") for name in one} <= allowed]


def _lift(
    columns: Mapping[str, FloatArray], lifts: Mapping[str, Sequence[str]], floors: Floors
) -> Atoms | None:
    """Return variables and functions of them; None where one is beyond its domain, or plain."""
    exprs: list[Expr] = [Var(name) for name in columns]
    values, most = [*columns.values()], [99] * len(columns)
    for name, functions in lifts.items():
        x = columns[name]
        if {"log", "sqrt"} & set(functions) and not (x > 0.0).all():
            return None
        if "abs" in functions and ((x >= 0.0).all() or (x <= 0.0).all()):
            return None
        for function in functions:
            turned = function == "exp-"
            inner: Expr = Apply(OPERATORS["neg"], (Var(name),)) if turned else Var(name)
            row = OPERATORS[function.rstrip("-")]
            exprs.append(Apply(row, (inner,)))
            values.append(row.value((-x if turned else x,), floors))
            most.append(1 if function in ("cos", "abs", "sqrt") else 99)
    return Atoms(tuple(exprs), np.column_stack(values), tuple(most))
