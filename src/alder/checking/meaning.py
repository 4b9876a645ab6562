"""What a well-formed tree says: its units, its composition, and whether rows can run it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.checking.findings import Findings
from alder.expr.composition import misnested, misplaced_angles, misplaced_indicators
from alder.expr.evaluate import evaluate
from alder.expr.infer import Misfit, infer_units, pointer
from alder.expr.nodes import Expr, parameters, variables
from alder.records.grammar import Grammar
from alder.records.problem import ProblemCode
from alder.records.proposal import Bounds, Proposal
from alder.spelling import printable

Rows: TypeAlias = Mapping[str, npt.ArrayLike]

_MAX_ROWS = 2048  # more rows are thinned evenly, to keep a check in milliseconds

# Where parameters are tried: by fraction of a finite interval, or by value along an open one.
# Small values matter: exp(k*x) of a large x is finite only for a small k.
_TRIALS = ((0.5, 1.0), (0.25, 0.1), (0.75, -1.0), (0.05, 1e-3), (0.95, 1e-6), (0.01, 0.0))


def check_units(tree: Expr, grammar: Grammar, root: str, findings: Findings) -> None:
    """Note where units do not fit."""
    units = {variable.name: variable.dimension for variable in grammar.variables}
    inference = infer_units(tree, units, grammar.target.dimension, mode=grammar.units)
    _note(inference.problems, "wrong-unit", root, findings)


def check_composition(tree: Expr, grammar: Grammar, root: str, findings: Findings) -> None:
    """Note where the composition constraints of the grammar are broken."""
    _note(_misplaced(tree, grammar), "bad-composition", root, findings)


def _misplaced(tree: Expr, grammar: Grammar) -> Iterator[Misfit]:
    if grammar.angles_in_trig:
        angles = {variable.name for variable in grammar.variables if variable.is_angle}
        yield from misplaced_angles(tree, angles, may_be_angle=grammar.target.is_angle)
    if grammar.indicators_as_factors:
        indicators = {v.name for v in grammar.variables if v.kind == "indicator"}
        yield from misplaced_indicators(tree, indicators)
    for rule in grammar.nesting:
        yield from misnested(tree, outer=rule.outer, inner=rule.inner, at_most=rule.at_most)


def _note(misfits: Iterable[Misfit], code: ProblemCode, root: str, findings: Findings) -> None:
    for misfit in misfits:
        findings.add(code, root + pointer(misfit.path), misfit.message)


def check_rows(
    proposal: Proposal, grammar: Grammar, rows: Rows, root: str, findings: Findings
) -> None:
    """Note if the law cannot be computed on the rows.

    It can if its columns are there and some parameters inside the bounds keep it below saturation
    on every row whose values are finite. Beyond 2,048 rows an even sample stands for all.
    """
    tree = proposal.structure
    why = _missing(tree, rows)
    if why is None:
        columns = _columns(tree, rows)
        why = columns if isinstance(columns, str) else _failure(proposal, grammar, columns)
    if why is not None:
        findings.add("not-executable", root, why)


def _missing(tree: Expr, rows: Rows) -> str | None:
    missing = [printable(name) for name in variables(tree) if name not in rows]
    if not missing:
        return None
    return f"The rows have no column {', '.join(missing)}, which the law needs."


def _columns(tree: Expr, rows: Rows) -> dict[str, FloatArray] | str:
    """Return a finite sample of the columns the law needs, or why there is none."""
    columns: dict[str, FloatArray] = {}
    for name in variables(tree):
        try:
            columns[name] = np.asarray(rows[name], dtype=np.float64).ravel()
        except (TypeError, ValueError, OverflowError):
            return f"The column {printable(name)} does not hold numbers."
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        return f"The columns have different lengths: {', '.join(map(str, sorted(lengths)))}."
    n_rows = lengths.pop() if lengths else 0
    if n_rows > _MAX_ROWS:
        sample = np.linspace(0, n_rows - 1, _MAX_ROWS).astype(np.intp)
        columns = {name: column[sample] for name, column in columns.items()}
    finite = np.logical_and.reduce([np.isfinite(column) for column in columns.values()])
    if columns and not finite.any():
        return "No row has finite values in all the columns the law needs."
    return {name: column[finite] for name, column in columns.items()}


def _failure(proposal: Proposal, grammar: Grammar, columns: dict[str, FloatArray]) -> str | None:
    tree, floors = proposal.structure, grammar.floors
    names = parameters(tree)
    for fraction, value in _TRIALS if names else _TRIALS[:1]:
        trial = {
            name: _inside(proposal.bounds.get(name, Bounds()), fraction, value) for name in names
        }
        # Written so that NaN counts as out of range.
        if np.all(np.abs(evaluate(tree, columns, trial, floors)) < floors.saturation):
            return None
    return "The law overflows on some row for every value tried of its parameters."


def _inside(bounds: Bounds, fraction: float, value: float) -> float:
    width = bounds.upper - bounds.lower
    if np.isfinite(width):
        return bounds.lower + fraction * width
    if np.isfinite(bounds.lower):
        return bounds.lower + abs(value)
    if np.isfinite(bounds.upper):
        return bounds.upper - abs(value)
    return value
