r"""What a tree is worth: values, derivatives, and how far rounding may have moved them.

This is the reference meaning of a law, in NumPy. The compiled kernel and every export agree with
it within $10^{-12}$ times the rounding bound below.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.errors import UnknownVariable
from alder.expr.nodes import Apply, Const, Expr, Param, Var, variables
from alder.expr.operators import Floors, saturate

Columns: TypeAlias = Mapping[str, npt.ArrayLike]
Coefficients: TypeAlias = Mapping[str, float] | Mapping[str, FloatArray]
"""A number for each parameter, or one for every row."""

DEFAULT_FLOORS = Floors()


def evaluate(
    expr: Expr, columns: Columns, coefficients: Coefficients, floors: Floors = DEFAULT_FLOORS
) -> FloatArray:
    """Evaluate a law on every row; float64 of shape (n,), finite for finite rows.

    >>> from alder.expr.nodes import Var
    >>> evaluate(Var("x"), {"x": [1.0, 2.0]}, {})
    array([1., 2.])
    """
    rows = _rows(columns, variables(expr))
    with np.errstate(all="ignore"):
        return np.array(_value(expr, rows, coefficients, floors))


def jacobian(
    expr: Expr,
    columns: Columns,
    coefficients: Coefficients,
    wrt: Sequence[str],
    floors: Floors = DEFAULT_FLOORS,
) -> tuple[FloatArray, FloatArray]:
    """Return the values (n,) and their derivatives (n, len(wrt)) by the named parameters."""
    return _derivatives(expr, columns, coefficients, tuple(map(Param, wrt)), floors)


def gradient(
    expr: Expr,
    columns: Columns,
    coefficients: Coefficients,
    wrt: Sequence[str],
    floors: Floors = DEFAULT_FLOORS,
) -> tuple[FloatArray, FloatArray]:
    """Return the values (n,) and their derivatives (n, len(wrt)) by the named variables."""
    return _derivatives(expr, columns, coefficients, tuple(map(Var, wrt)), floors)


def rounding_bound(
    expr: Expr, columns: Columns, coefficients: Coefficients, floors: Floors = DEFAULT_FLOORS
) -> FloatArray:
    r"""Bound by how much relative errors of one unit at every node move the value.

    $$B(y) = |y| + \sum_i \left|\frac{\partial y}{\partial a_i}\right| B(a_i)$$

    $B / |y|$ is the condition number of the expression; two implementations that round
    differently by $\epsilon$ at each node differ by at most $\epsilon B$ to first order.
    """
    rows = _rows(columns, variables(expr))
    with np.errstate(all="ignore"):
        return np.array(_bound(expr, rows, coefficients, floors)[1])


def _rows(columns: Columns, names: Sequence[str]) -> dict[str, FloatArray]:
    missing = [name for name in names if name not in columns]
    if missing:
        raise UnknownVariable(
            f"The law needs {', '.join(missing)}; the rows have {', '.join(columns) or 'nothing'}."
        )
    # A law without variables is a constant; it is as long as whatever columns are there.
    used = {name: np.asarray(columns[name], dtype=np.float64).ravel() for name in names or columns}
    lengths = {len(column) for column in used.values()}
    if len(lengths) > 1:
        raise UnknownVariable(f"The columns have different lengths: {sorted(lengths)}.")
    used[""] = np.zeros(lengths.pop() if lengths else 1)
    return used


def _value(
    expr: Expr, rows: dict[str, FloatArray], coefficients: Coefficients, floors: Floors
) -> FloatArray:
    match expr:
        case Const(value):
            return np.full_like(rows[""], value)
        case Param(name):
            return np.full_like(rows[""], coefficients[name])
        case Var(name):
            return rows[name]
        case Apply(operator, arguments):
            values = tuple(_value(a, rows, coefficients, floors) for a in arguments)
            return saturate(operator.value(values, floors), floors)
        case _:
            assert_never(expr)


def _derivatives(
    expr: Expr,
    columns: Columns,
    coefficients: Coefficients,
    wrt: tuple[Param | Var, ...],
    floors: Floors,
) -> tuple[FloatArray, FloatArray]:
    rows = _rows(columns, variables(expr))
    seeds = {leaf: column for column, leaf in enumerate(wrt)}
    with np.errstate(all="ignore"):
        value, tangents = _tangents(expr, rows, coefficients, floors, seeds)
    derivatives = np.zeros((len(value), len(wrt)))
    for column, tangent in tangents.items():
        derivatives[:, column] = tangent
    return np.array(value), derivatives


def _tangents(
    expr: Expr,
    rows: dict[str, FloatArray],
    coefficients: Coefficients,
    floors: Floors,
    seeds: Mapping[Param | Var, int],
) -> tuple[FloatArray, dict[int, FloatArray]]:
    match expr:
        case Const():
            return _value(expr, rows, coefficients, floors), {}
        case Param() | Var():
            ones = {seeds[expr]: np.ones_like(rows[""])} if expr in seeds else {}
            return _value(expr, rows, coefficients, floors), ones
        case Apply(operator, arguments):
            parts = [_tangents(a, rows, coefficients, floors, seeds) for a in arguments]
            values = tuple(value for value, _ in parts)
            result = saturate(operator.value(values, floors), floors)
            total: dict[int, FloatArray] = {}
            partials = operator.partials(values, result, floors)
            for partial, (_, tangents) in zip(partials, parts, strict=True):
                for column, tangent in tangents.items():
                    total[column] = total.get(column, 0.0) + partial * tangent
            return result, total
        case _:
            assert_never(expr)


def _bound(
    expr: Expr, rows: dict[str, FloatArray], coefficients: Coefficients, floors: Floors
) -> tuple[FloatArray, FloatArray]:
    match expr:
        case Const() | Param() | Var():
            value = _value(expr, rows, coefficients, floors)
            return value, np.abs(value)
        case Apply(operator, arguments):
            parts = [_bound(a, rows, coefficients, floors) for a in arguments]
            values = tuple(value for value, _ in parts)
            result = saturate(operator.value(values, floors), floors)
            bound = np.abs(result)
            partials = operator.partials(values, result, floors)
            for partial, (_, part) in zip(partials, parts, strict=True):
                bound = bound + np.abs(partial) * part
            return result, bound
        case _:
            assert_never(expr)
