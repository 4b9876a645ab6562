"""Rows for the kernel, and which of them lie well away from every switch point of a law."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate, rounding_bound
from alder.expr.nodes import Apply, Const, Expr, walk
from alder.expr.operators import Floors, is_integer
from alder.fitting.observations import Observations
from alder.fitting.separable import Settings, Solutions, kernel_rows, solve
from alder.kernel.encode import encode
from alder.kernel.plan import Rows
from alder.records.effort import Effort
from alder.records.proposal import Bounds

NAMES = ("x", "y", "r")
# Two implementations may disagree by this share of a rounding bound; a switch nearer than that
# could be taken differently.
MARGIN = 1e-9
# A sine of an argument this uncertain says nothing.
LARGEST_ANGLE = 1e6
AT_ZERO = ("div", "log", "sqrt", "abs", "sign", "where", "powp")


def observations_of(columns: Mapping[str, FloatArray], target: FloatArray) -> Observations:
    """Take columns as complete rows without error bars, weights or groups."""
    return Observations(
        names=tuple(columns),
        columns=np.array(list(columns.values())).reshape(len(columns), len(target)),
        target=target,
        sigma=np.empty(0),
        weight=np.empty(0),
        group=np.empty(0, dtype=np.int64),
        groups=(),
        n_dropped=0,
    )


def rows_of(columns: Mapping[str, FloatArray], floors: Floors | None = None) -> Rows:
    """Lay columns out for the kernel in the order given."""
    n_rows = len(next(iter(columns.values())))
    observations = observations_of(columns, np.zeros(n_rows))
    return kernel_rows(observations, np.ones(n_rows), floors or Floors(), np.arange(n_rows))


def solved(
    structures: Sequence[Expr],
    columns: Mapping[str, FloatArray],
    target: FloatArray,
    effort: Effort,
    *,
    bounds: Sequence[Mapping[str, Bounds]] | None = None,
    weights: FloatArray | None = None,
) -> Solutions:
    """Fit structures by the compiled fitter, without bounds or weights unless given."""
    return solve(
        encode(structures, tuple(columns)),
        observations_of(columns, target),
        np.ones(len(target)) if weights is None else weights,
        bounds or [{} for _ in structures],
        Settings(effort, Floors()),
    )


def random_columns(rng: np.random.Generator, n_rows: int) -> dict[str, FloatArray]:
    """Draw columns of one sign and of both signs."""
    return {name: rng.uniform(0.1 if rng.random() < 0.5 else -3.0, 3.0, n_rows) for name in NAMES}


def clear_of_switches(
    expr: Expr,
    columns: Mapping[str, FloatArray],
    values: Mapping[str, float],
    floors: Floors | None = None,
) -> NDArray[np.bool_]:
    """Say for each row whether rounding alone could send no operator down another branch."""
    limits = floors or Floors()
    clear = np.ones(len(columns["x"]), dtype=np.bool_)
    for node in walk(expr):
        if not isinstance(node, Apply):
            continue
        args = [evaluate(argument, columns, values, limits) for argument in node.arguments]
        slack = [
            MARGIN * rounding_bound(argument, columns, values, limits)
            for argument in node.arguments
        ]
        clear &= _clear_node(node, args, slack, limits)
    return clear


def _clear_node(
    node: Apply, args: list[FloatArray], slack: list[FloatArray], floors: Floors
) -> NDArray[np.bool_]:
    """Judge one operator from its arguments and how far rounding may move them."""
    name, first = node.operator.name, args[0]
    clear = np.ones(len(first), dtype=np.bool_)
    exponent = node.arguments[-1]
    if name in AT_ZERO or (name == "pow" and isinstance(exponent, Const)):
        at = 1 if name == "div" else 0
        floor = floors.denominator if name in ("div", "pow") else floors.base
        clear &= np.abs(np.abs(args[at]) - floor) > slack[at]
        if not (name == "pow" and isinstance(exponent, Const) and is_integer(exponent.value)):
            clear &= np.abs(args[at]) > slack[at]
    if name in ("max", "min"):
        clear &= np.abs(first - args[1]) > slack[0] + slack[1]
    if name in ("asin", "acos"):
        clear &= np.abs(np.abs(first) - 1.0) > slack[0]
    if name in ("sin", "cos"):
        clear &= slack[0] < MARGIN * LARGEST_ANGLE
    if name in ("exp", "gate"):
        clear &= np.abs(np.abs(first) - floors.exponent) > slack[0]
    return clear
