r"""Atoms with numbers inside: one bent variable, or a ridge $g(a + b \cdot x)$."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import OPERATORS
from alder.proposers.search.fields.description import Fields
from alder.proposers.search.fields.exploring import explore
from alder.proposers.search.fields.monomials import Atoms, Exponents
from alder.proposers.search.fields.projection import Projected, project
from alder.proposers.search.fields.spaces import Space, plain_atoms
from alder.records.short import shorten

Ranges: TypeAlias = Mapping[str, tuple[float, float]]

_STARTS = 24
_FOLLOWED = 4
# What a first, short descent must reach to be followed to its end.
_PROMISING = 0.05
_EXACT = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Bend:
    """A function of one variable with one number inside: values, tree, starts."""

    needs: frozenset[str]
    value: Callable[[FloatArray, float, float], FloatArray]
    tree: Callable[[str, Expr, float], Expr]
    starts: tuple[float, ...]
    literal: bool = field(default=False, kw_only=True)


_SPEEDS = (-3.0, -1.0, -0.3, 0.3, 1.0, 3.0)
_POWERS = (-1.5, -0.5, 0.4, 0.7, 1.3, 1.7, 2.5)


def _op(name: str, *arguments: Expr) -> Expr:
    return Apply(OPERATORS[name], arguments)


def _power(x: FloatArray, k: float, high: float) -> FloatArray:
    del high
    return np.where(x >= 0.0, np.power(np.abs(x), k), np.nan)


def _mirror(x: FloatArray, k: float, high: float) -> FloatArray:
    return _power(high - x, k, high)


_BENDS = (
    (
        Bend(
            frozenset({"pow"}),
            _power,
            lambda n, k, _h: _op("pow", Var(n), k),
            _POWERS,
            literal=True,
        ),
        Bend(
            frozenset({"pow", "sub"}),
            _mirror,
            lambda n, k, h: _op("pow", _op("sub", Const(h), Var(n)), k),
            _POWERS,
            literal=True,
        ),
    ),
    (
        Bend(
            frozenset({"exp"}),
            lambda x, k, _h: np.exp(np.clip(k * x, -300.0, 300.0)),
            lambda n, k, _h: _op("exp", _op("mul", k, Var(n))),
            _SPEEDS,
        ),
    ),
    (
        Bend(
            frozenset({"sin"}),
            lambda x, k, _h: np.sin(k * x),
            lambda n, k, _h: _op("sin", _op("mul", k, Var(n))),
            (0.3, 0.7, 1.5, 2.2, 3.2, 4.5),
        ),
        Bend(
            frozenset({"cos"}),
            lambda x, k, _h: np.cos(k * x),
            lambda n, k, _h: _op("cos", _op("mul", k, Var(n))),
            (0.3, 0.7, 1.5, 2.2, 3.2, 4.5),
        ),
    ),
    (
        Bend(
            frozenset({"tanh"}),
            lambda x, k, _h: np.tanh(k * x),
            lambda n, k, _h: _op("tanh", _op("mul", k, Var(n))),
            (0.2, 0.7, 2.0, 6.0),
        ),
    ),
)


def bends(fields: Fields, allowed: set[str], ranges: Ranges) -> None:
    """Try every bend of every variable beside products of all variables."""
    for family in _BENDS:
        if not frozenset[str]().union(*(one.needs for one in family)) <= allowed:
            continue
        for name, x in fields.columns.items():
            high = ranges[name][1] if name in ranges else float(x.max())
            _bend(fields, family, name, high)


def _bend(fields: Fields, family: Sequence[Bend], name: str, high: float) -> None:
    plain, x = plain_atoms(fields.columns), fields.columns[name]
    scale = fields.scale

    def atoms(theta: FloatArray, trees: Sequence[Expr]) -> Atoms:
        bent = [one.value(x, float(theta[0]), high) for one in family]
        most = (*plain.at_most, *(1 for _ in family))
        exprs = (*plain.exprs, *trees)
        return Atoms(exprs, np.column_stack([plain.values, *bent]), most)

    trees = [one.tree(name, Const(1.0), high) for one in family]
    for degree in (1, 2):
        monomials = atoms(np.ones(1), trees).monomials(degree)
        if len(monomials) > len(fields.y) / 2.0:
            break

        basis = partial(_columns, lambda theta: atoms(theta, trees), monomials, scale)

        starts = [(start,) for start in family[0].starts]
        for found in _descend(basis, fields.y / scale, starts):
            theta, inner = _settled(found, ("k",), literal=family[0].literal)
            number: Expr = Param("k") if inner else Const(float(theta[0]))
            written = [one.tree(name, number, high) for one in family]
            one = (0,) * (len(plain.exprs) + len(family))
            space = Space("bend", atoms(theta, written), monomials, (one,))
            explore(fields, space, inner)


def _columns(
    atoms: Callable[[FloatArray], Atoms],
    monomials: Sequence[Exponents],
    scale: FloatArray,
    theta: FloatArray,
) -> FloatArray:
    return atoms(theta).columns(monomials) / scale[:, None]


@final
@dataclass(frozen=True, slots=True)
class Ridge:
    """A function of a + b x, with its tree."""

    needs: frozenset[str]
    value: Callable[[FloatArray], FloatArray]
    tree: Callable[[Expr], Expr]
    offset: bool = True


def _positive(u: FloatArray) -> FloatArray:
    return np.where(u > 0.0, u, np.nan)


_RIDGES = (
    Ridge(
        frozenset({"exp", "div", "add"}),
        lambda u: 1.0 / (1.0 + np.exp(np.clip(u, -300.0, 300.0))),
        lambda u: _op("div", Const(1.0), _op("add", Const(1.0), _op("exp", u))),
    ),
    Ridge(
        frozenset({"exp"}), lambda u: np.exp(np.clip(u, -300.0, 300.0)), lambda u: _op("exp", u),
        offset=False,
    ),
    Ridge(frozenset({"sin"}), np.sin, lambda u: _op("sin", u)),
    Ridge(frozenset({"log"}), lambda u: np.log(_positive(u)), lambda u: _op("log", u)),
    Ridge(frozenset({"sqrt"}), lambda u: np.sqrt(_positive(u)), lambda u: _op("sqrt", u)),
)  # fmt: skip


def ridges(fields: Fields, allowed: set[str]) -> None:
    """Try every function of a plane beside the variables themselves."""
    for ridge in _RIDGES:
        if ridge.needs | {"mul", "add"} <= allowed:
            _ridge(fields, ridge)


def _ridge(fields: Fields, ridge: Ridge) -> None:
    plain, scale = plain_atoms(fields.columns), fields.scale
    X, n = plain.values, len(fields.y)
    spread = X.std(axis=0) + 1e-300
    names = tuple(fields.columns)
    line = np.column_stack([np.ones(n), X])

    def inside(theta: FloatArray) -> FloatArray:
        return line @ theta if ridge.offset else X @ theta

    def basis(theta: FloatArray) -> FloatArray:
        return np.column_stack([line, ridge.value(inside(theta))]) / scale[:, None]

    rng = np.random.default_rng(0)
    starts: list[tuple[float, ...]] = []
    for _ in range(_STARTS):
        b = rng.normal(size=len(names)) * rng.choice([0.5, 1.5, 4.0]) / spread
        a = -float(X.mean(axis=0) @ b) + rng.normal()
        starts.append((a, *b.tolist()) if ridge.offset else tuple(b.tolist()))
    for found in _descend(basis, fields.y / scale, starts):
        keys = tuple(f"k{i}" for i in range(len(found.theta)))
        theta, inner = _settled(found, keys, literal=False)
        tree = ridge.tree(_line_tree(theta, inner, keys, names, offset=ridge.offset))
        values = ridge.value(inside(theta))
        if not np.isfinite(values).all():
            continue
        atoms = Atoms((*plain.exprs, tree), np.column_stack([X, values]), (*plain.at_most, 1))
        one = (0,) * len(atoms.exprs)
        explore(fields, Space("ridge", atoms, atoms.monomials(1), (one,)), inner)


def _descend(
    basis: Callable[[FloatArray], FloatArray], y: FloatArray, starts: Sequence[tuple[float, ...]]
) -> list[Projected]:
    """Descend a little from every start, then to the end from the best; keep what is exact."""
    first = [project(basis, y, start, 8) for start in starts]
    order = sorted(range(len(first)), key=lambda k: first[k].rest)[:_FOLLOWED]
    found: list[Projected] = []
    for k in order:
        if first[k].rest > _PROMISING:
            continue
        end = project(basis, y, first[k].theta.tolist())
        if end.rest <= _EXACT:
            return [end]
        found.append(end)
    return found[:1]


def _settled(
    found: Projected, names: Sequence[str], *, literal: bool
) -> tuple[FloatArray, dict[str, float]]:
    """Write inner numbers short where they are; zero where they are nothing."""
    theta, inner = found.theta.copy(), dict[str, float]()
    for j, name in enumerate(names):
        value, error = float(theta[j]), float(found.errors[j])
        if abs(value) <= max(20.0 * error, 1e-11):
            theta[j] = 0.0
            continue
        short = shorten(value, max(20.0 * error / abs(value), 1e-11))
        if short is not None:
            theta[j] = short.value
        elif not literal:
            inner[name] = value
    return theta, inner


def _line_tree(
    theta: FloatArray,
    inner: Mapping[str, float],
    keys: Sequence[str],
    names: Sequence[str],
    *,
    offset: bool,
) -> Expr:
    tree: Expr | None = None
    for j, key in enumerate(keys):
        if theta[j] == 0.0:
            continue
        number: Expr = Param(key) if key in inner else Const(float(theta[j]))
        place = j - 1 if offset else j
        if place < 0:
            term = number
        elif number == Const(1.0):
            term = Var(names[place])
        else:
            term = _op("mul", number, Var(names[place]))
        tree = term if tree is None else _op("add", tree, term)
    return tree or Const(0.0)
