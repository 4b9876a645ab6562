"""Shapes of one variable or of two: what the grammar makes of them, with parameters on a grid.

Shapes are grown, not listed: arithmetic over the variables first, equal functions once; then every
function the grammar has, of a scaled and a shifted argument. A column per grid point makes the
gain of any product of shapes a matter of matrix products, before anything nonlinear is fitted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, Var, size, variables
from alder.expr.operators import OPERATORS, Floors, saturate

# Scales, in units of the argument's spread, and shifts, as shares of its range.
_SCALES = tuple(0.1 * 1.45**k for k in range(12))
_STEEP = (0.4, 0.7, 1.2, 2.0, 3.5, 7.0)
_SHIFTS = (-0.3, 0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.2)
_OFFSETS = tuple(0.05 * 1.75**k for k in range(11))
_EXPONENTS = tuple(k / 4 for k in range(-16, 17) if k)
_ROOTS = (-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 2.0)
_ODD = ("tanh", "atan", "softsign", "sin")
_STEPS = ("tanh", "atan", "softsign", "gate", "sin")
# Columns whose largest entry is this many times their typical one are poles, not shapes.
_POLE = 1e4
# Parameters beyond their grid by more than this make one function imitate another.
_BEYOND = 2.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A tree over placeholders `p`, `q`, `s`, and the grid of their values (points, names)."""

    expr: Expr
    names: tuple[str, ...] = ()
    points: FloatArray | None = None
    is_product: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A shape with its parameters: where they are, and between what they may lie."""

    expr: Expr
    names: tuple[str, ...] = ()
    near: tuple[float, ...] = ()
    limits: tuple[tuple[float, float], ...] = ()
    is_product: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Columns of many shapes, of unit size (columns, n), with where each comes from.

    A tier is a number of parameters, products of two shapes apart: 2 k, or 2 k + 1 for products.
    """

    shapes: tuple[Shape, ...]
    columns: FloatArray
    shape_of: NDArray[np.intp]
    point_of: NDArray[np.intp]
    n_nodes: NDArray[np.int64]
    n_parameters: NDArray[np.int64]
    tiers: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.columns)

    def factor(self, column: int) -> Factor:
        """Return the shape of a column with its parameters where they are there."""
        shape = self.shapes[self.shape_of[column]]
        if shape.points is None:
            return Factor(shape.expr, is_product=shape.is_product)
        point = shape.points[self.point_of[column]]
        upper = _BEYOND * np.abs(shape.points).max(axis=0)
        lower = np.where(shape.points.min(axis=0) >= 0.0, 0.0, -upper)
        limits = tuple((float(low), float(high)) for low, high in zip(lower, upper, strict=True))
        near = tuple(float(x) for x in point)
        return Factor(shape.expr, shape.names, near, limits, shape.is_product)

    def picked(self, chosen: Sequence[int] | NDArray[np.intp]) -> "Dictionary":
        """Keep some columns."""
        index = np.asarray(chosen, dtype=np.intp)
        return shelve(self.shapes, self.columns[index], self.shape_of[index], self.point_of[index])


def shelve(
    shapes: Sequence[Shape],
    columns: FloatArray,
    shape_of: NDArray[np.intp],
    point_of: NDArray[np.intp],
) -> Dictionary:
    """Put columns together with the size of the shape each comes from."""
    nodes = np.array([size(shape.expr) for shape in shapes], dtype=np.int64)
    counts = np.array([len(shape.names) for shape in shapes], dtype=np.int64)
    products = np.array([shape.is_product for shape in shapes], dtype=np.int64)
    return Dictionary(
        tuple(shapes),
        columns,
        shape_of,
        point_of,
        nodes[shape_of],
        counts[shape_of],
        2 * counts[shape_of] + products[shape_of],
    )


def op(name: str, *arguments: Expr) -> Expr:
    """Apply an operator by name."""
    return Apply(OPERATORS[name], arguments)


def tabulate(
    shapes: Sequence[Shape], columns: Mapping[str, FloatArray], floors: Floors
) -> Dictionary:
    """Evaluate every shape at every grid point; drop columns that are constant or have poles."""
    found: list[FloatArray] = []
    shape_of: list[int] = []
    point_of: list[int] = []
    for number, shape in enumerate(shapes):
        table = evaluate_grid(shape, columns, floors)
        with np.errstate(all="ignore"):
            sizes = np.sqrt(np.mean(np.square(table), axis=1))
        good = np.isfinite(table).all(axis=1) & (sizes > 0.0) & (sizes < 1e100)
        with np.errstate(all="ignore"):
            table = table / np.where(good, sizes, 1.0)[:, None]
            good &= np.abs(table).max(axis=1) < np.minimum(
                _POLE, 0.9 * np.sqrt(table.shape[1] + 99)
            )
            good &= np.ptp(table, axis=1) > 1e-7
        for point in np.flatnonzero(good):
            found.append(table[point])
            shape_of.append(number)
            point_of.append(int(point))
    n = len(next(iter(columns.values())))
    return shelve(
        shapes,
        np.array(found) if found else np.empty((0, n)),
        np.array(shape_of, dtype=np.intp),
        np.array(point_of, dtype=np.intp),
    )


def evaluate_grid(shape: Shape, columns: Mapping[str, FloatArray], floors: Floors) -> FloatArray:
    """Return the shape at every grid point, (points, n)."""
    n = len(next(iter(columns.values())))
    points = shape.points if shape.points is not None else np.empty((1, 0))
    placed = {name: points[:, k : k + 1] for k, name in enumerate(shape.names)}
    with np.errstate(all="ignore"):
        return np.broadcast_to(_grid(shape.expr, columns, placed, floors), (len(points), n))


def _grid(
    expr: Expr,
    columns: Mapping[str, FloatArray],
    placed: Mapping[str, FloatArray],
    floors: Floors,
) -> FloatArray:
    match expr:
        case Const(value):
            return np.array([[value]])
        case Param(name):
            return placed[name]
        case Var(name):
            return columns[name][None, :]
        case Apply(operator, arguments):
            parts = tuple(_grid(a, columns, placed, floors) for a in arguments)
            return saturate(operator.value(parts, floors), floors)


def power(base: Expr, exponent: float, allowed: set[str]) -> Expr | None:
    """Write a literal power with what the grammar has."""
    if exponent == 1.0:
        return base
    if exponent == -1.0 and "div" in allowed:
        return op("div", Const(1.0), base)
    if exponent == 0.5 and "sqrt" in allowed:
        return op("sqrt", base)
    if "pow" in allowed or "powp" in allowed:
        return op("pow", base, Const(exponent))
    if exponent == -0.5 and {"div", "sqrt"} <= allowed:
        return op("div", Const(1.0), op("sqrt", base))
    if exponent == 2.0 and "mul" in allowed:
        return op("mul", base, base)
    if exponent == -2.0 and {"div", "mul"} <= allowed:
        return op("div", Const(1.0), op("mul", base, base))
    return None


def singles(name: str, column: FloatArray, allowed: set[str]) -> list[Shape]:
    """Grow shapes of one variable, the plain one first."""
    x = Var(name)
    found = [Shape(x), *_powers(x, column, allowed)]
    inner: list[tuple[Expr, FloatArray]] = [(x, column)]
    squared = power(x, 2.0, allowed)
    if squared is not None:
        inner.append((squared, np.square(column)))
    inverse = power(x, -1.0, allowed)
    if inverse is not None and column.min() > 0.0:
        inner.append((inverse, 1.0 / column))
    for expr, values in inner:
        found += functions(expr, values, allowed)
    if {"pow", "add", "div"} <= allowed and column.min() > 0.0:
        middle = float(np.median(column))
        points = [(k, o * middle**k) for k in (1.5, 2.5, 3.0, 4.0) for o in _OFFSETS[1:10:2]]
        hill = op("add", op("powp", x, Param("q")), Param("p"))
        found.append(Shape(op("div", Const(1.0), hill), ("q", "p"), np.array(points)))
    return found


def _powers(x: Expr, column: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    if column.min() > 0.0 and {"pow", "powp"} & allowed:
        exponents = np.array([k for k in _EXPONENTS if k != 1.0])[:, None]
        yield Shape(op("powp", x, Param("p")), ("p",), exponents)
        return
    away = float(np.abs(column).min()) > 0.02 * float(np.std(column))
    for exponent in (2.0, 3.0, 4.0, 0.5, -0.5, -1.0, -2.0, -3.0):
        whole = float(exponent).is_integer()
        if (exponent < 0.0 and not away) or (not whole and column.min() <= 0.0):
            continue
        written = power(x, exponent, allowed)
        if written is not None:
            yield Shape(written)
    if "abs" in allowed and column.min() < 0.0:
        yield Shape(op("abs", x))
        if "mul" in allowed:
            yield Shape(op("mul", x, op("abs", x)))


def functions(
    g: Expr, values: FloatArray, allowed: set[str], *, most_parameters: int = 2
) -> Iterator[Shape]:
    """Apply every function of the grammar to a scaled, or scaled and shifted, argument."""
    for shape in _functions(g, values, allowed):
        if len(shape.names) <= most_parameters:
            yield shape


def _functions(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    spread = float(np.std(values))
    if not 0.0 < spread < 1e100 or not np.isfinite(values).all():
        return
    typical = float(np.sqrt(np.mean(np.square(values))))
    low, width = float(values.min()), float(np.ptp(values))
    scaled = _scaled(g, allowed)
    p, q = Param("p"), Param("q")
    both = np.array([sign * k / spread for k in _SCALES for sign in (1.0, -1.0)])[:, None]
    above = np.array([k / typical for k in _SCALES])[:, None]
    shifts = [low + width * share for share in _SHIFTS]
    steps = np.array([(k / spread, q0) for k in _STEEP for q0 in shifts])
    if scaled is not None:
        if "exp" in allowed:
            yield Shape(op("exp", scaled), ("p",), both)
        yield from (Shape(op(f, scaled), ("p",), above) for f in _ODD if f in allowed)
        yield from (Shape(op(f, scaled), ("p",), above) for f in ("cos",) if f in allowed)
        inside = np.array([k / float(np.abs(values).max()) for k in (0.3, 0.6, 0.9, 1.0)])[:, None]
        yield from (Shape(op(f, scaled), ("p",), inside) for f in ("asin", "acos") if f in allowed)
        shifted = _shifted(g, q, allowed)
        if shifted is not None and "mul" in allowed:
            bent = op("mul", p, shifted)
            yield from (Shape(op(f, bent), ("p", "q"), steps) for f in _STEPS if f in allowed)
        if {"exp", "add", "div"} <= allowed and "gate" not in allowed:
            grid = [
                (s * k, np.exp(np.clip(s * k * q0, -300, 300)))
                for k, q0 in steps
                for s in (1.0, -1.0)
            ]
            logistic = op("div", Const(1.0), op("add", op("exp", scaled), q))
            yield Shape(logistic, ("p", "q"), np.array(grid))
    yield from _shifted_powers(g, values, allowed)
    if "log" in allowed and low > 0.0:
        yield Shape(op("log", g))
    elif "log" in allowed and float(np.abs(values).min()) > 1e-6 * typical:
        yield Shape(op("log", op("abs", g)))
    if "sign" in allowed and low < 0.0:
        yield Shape(op("sign", g))
    yield from (Shape(op(f, g, p), ("p",), np.array(shifts[1:-1])[:, None])
                for f in ("max", "min") if f in allowed)  # fmt: skip


def _scaled(g: Expr, allowed: set[str]) -> Expr | None:
    if "mul" in allowed:
        return op("mul", Param("p"), g)
    return op("div", g, Param("p")) if "div" in allowed else None


def _shifted(g: Expr, q: Param, allowed: set[str]) -> Expr | None:
    if "sub" in allowed:
        return op("sub", g, q)
    return op("add", g, q) if "add" in allowed else None


def _shifted_powers(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Powers and logarithms of g + p, where that stays positive."""
    if "add" not in allowed:
        return
    p, q = Param("p"), Param("q")
    low, width = float(values.min()), float(np.ptp(values))
    middle = float(np.median(np.abs(values)))
    offsets = [o * middle if low >= 0.0 else o * width - low for o in _OFFSETS]
    if low > 0.0:
        offsets += [-0.9 * low, -0.5 * low]
    grid = np.array(offsets)[:, None]
    shifted = op("add", g, p)
    for exponent in _ROOTS:
        written = power(shifted, exponent, allowed)
        if written is not None:
            yield Shape(written, ("p",), grid)
    if {"pow", "powp"} & allowed:
        points = np.array(list(product(offsets[::2], (-4.0, -3.0, -2.5, -0.75, 1.5, 2.5))))
        yield Shape(op("powp", shifted, q), ("p", "q"), points)
    if "log" in allowed:
        yield Shape(op("log", shifted), ("p",), grid)
    yield from _shifted_down(g, values, allowed)


def _shifted_down(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Powers and logarithms of p - g, where that stays positive."""
    if "sub" not in allowed or values.min() < 0.0:
        return
    beyond = np.array([float(values.max()) * k for k in (1.01, 1.05, 1.15, 1.4, 2.0, 4.0)])
    down = op("sub", Param("p"), g)
    for exponent in (-1.0, -0.5, 0.5):
        written = power(down, exponent, allowed)
        if written is not None:
            yield Shape(written, ("p",), beyond[:, None])
    if "log" in allowed:
        yield Shape(op("log", down), ("p",), beyond[:, None])


def pairs(
    names: tuple[str, str],
    columns: Mapping[str, FloatArray],
    allowed: set[str],
    *,
    alike: bool,
) -> list[Shape]:
    """Grow shapes of two variables: arithmetic of x and y, and of x and s y, then functions.

    Only where the two are `alike`, of one unit or of none, may they be added as they are.
    """
    x, y = columns[names[0]], columns[names[1]]
    tame = float(np.median(np.abs(y)))
    ratio = float(np.median(np.abs(x))) / tame if tame > 0.0 else 1.0
    scales = np.array([ratio * k for k in (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)])[:, None]
    found: list[Shape] = []
    for leaves, tree in arithmetic(frozenset(allowed & {"add", "sub", "mul", "div"})):
        plain = _placed(tree, names, scaled=False)
        adds = _adds(tree)
        if adds and "mul" in allowed:
            found.append(Shape(_placed(tree, names, scaled=True), ("s",), scales))
        if adds and not alike:
            continue
        found.append(Shape(plain))
        with np.errstate(all="ignore"):
            values = evaluate_grid(Shape(plain), columns, Floors())[0]
        if not np.isfinite(values).all():
            continue
        if leaves > 3 and adds:
            found += _times(_roots(plain, values, allowed), names, allowed)
            continue
        found += functions(plain, values, allowed, most_parameters=2 if leaves == 2 else 1)
        found += _times(_shifted_down(plain, values, allowed), names, allowed)
        if values.min() > 0.0 and {"pow", "powp"} & allowed and leaves == 2:
            exponents = np.array([k for k in _EXPONENTS if k != 1.0])[:, None]
            found.append(Shape(op("powp", plain, Param("p")), ("p",), exponents))
    return found


def _times(shapes: Iterable[Shape], names: tuple[str, str], allowed: set[str]) -> Iterator[Shape]:
    """Yield shapes, and each times one of its variables: v (1 - v^2/c^2)^-0.5."""
    for shape in shapes:
        yield shape
        if "mul" in allowed:
            yield from (Shape(op("mul", Var(n), shape.expr), shape.names, shape.points) for n in names)


def _roots(g: Expr, values: FloatArray, allowed: set[str]) -> Iterator[Shape]:
    """Roots and logarithms of a larger tree: its functions would be too many."""
    if values.min() > 0.0:
        written = [power(g, exponent, allowed) for exponent in (-1.0, -0.5, 0.5)]
        yield from (Shape(one) for one in written if one is not None)
    if "log" in allowed and np.abs(values).min() > 1e-6 * np.abs(values).max():
        yield Shape(op("log", g if values.min() > 0.0 else op("abs", g)))


@lru_cache(maxsize=64)
def arithmetic(allowed: frozenset[str], most_leaves: int = 4) -> tuple[tuple[int, Expr], ...]:
    """Grow trees over two variables `x` and `y`, equal functions up to scale once.

    Only trees that scale with their variables are kept (x + x y does not): the others depend on
    the units, and arise as products with parameters. Each comes with its number of leaves.
    """
    rng = np.random.default_rng(20261116)
    points = {name: rng.uniform(0.5, 2.0, 12) for name in ("x", "y")}
    doubled = {name: 2.0 * column for name, column in points.items()}
    levels: dict[int, list[tuple[Expr, FloatArray]]] = {1: []}
    seen: set[bytes] = set()

    def admit(level: int, tree: Expr) -> None:
        if len(set(_summands(tree))) < len(_summands(tree)):
            return
        values, twice = (evaluate_grid(Shape(tree), c, Floors())[0] for c in (points, doubled))
        if not np.isfinite(values).all() or np.abs(values).max() < 1e-9:
            return
        ratio = twice / values
        if np.ptp(values) < 1e-9 * np.abs(values).max() or np.ptp(ratio) > 1e-9 * ratio.max():
            return
        if level > 1 and not all(_depends(tree, points, name, values) for name in variables(tree)):
            return
        key = np.round(values / values[np.argmax(np.abs(values))], 9).tobytes()
        if key not in seen:
            seen.add(key)
            levels.setdefault(level, []).append((tree, values))

    for name in ("x", "y"):
        admit(1, Var(name))
    for leaves in range(2, most_leaves + 1):
        for left in range(1, leaves):
            for (a, _), (b, _) in product(levels.get(left, []), levels.get(leaves - left, [])):
                for name in ("add", "sub", "mul", "div"):
                    if name in allowed:
                        admit(leaves, op(name, a, b))
    return tuple(
        (leaves, tree)
        for leaves, trees in levels.items()
        for tree, _ in trees
        if len(variables(tree)) == 2
    )


def _summands(tree: Expr) -> list[Expr]:
    """List the members of the outermost sum: x + (x + y) says 2 x + y, which no one writes."""
    match tree:
        case Apply(operator, (left, right)) if operator.name in ("add", "sub"):
            return [*_summands(left), *_summands(right)]
        case _:
            return [tree]


def _depends(tree: Expr, points: Mapping[str, FloatArray], name: str, values: FloatArray) -> bool:
    """Say whether a tree changes with a variable: x/(x*y) does not change with x."""
    moved = {**points, name: points[name] * 1.37}
    again = evaluate_grid(Shape(tree), moved, Floors())[0]
    return bool(np.abs(again - values).max() > 1e-9 * np.abs(values).max())


def _adds(tree: Expr) -> bool:
    match tree:
        case Apply(operator, arguments):
            return operator.name in ("add", "sub") or any(map(_adds, arguments))
        case _:
            return False


def _placed(tree: Expr, names: tuple[str, str], *, scaled: bool) -> Expr:
    match tree:
        case Var("x"):
            return Var(names[0])
        case Var(_):
            return op("mul", Param("s"), Var(names[1])) if scaled else Var(names[1])
        case Apply(operator, arguments):
            return Apply(operator, tuple(_placed(a, names, scaled=scaled) for a in arguments))
        case _:
            return tree
