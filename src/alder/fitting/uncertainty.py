r"""How well coefficients are known: covariance, 95 % intervals, and the states of coefficients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate, jacobian
from alder.expr.infer import infer_units
from alder.expr.nodes import Apply, Const, Expr, Param, parameters
from alder.expr.operators import OPERATORS, Floors
from alder.fitting.groups import centre
from alder.fitting.identifiability import Determination, determine
from alder.fitting.observations import Observations
from alder.records.coefficient import Coefficient, CoefficientState
from alder.records.proposal import Bounds
from alder.records.variable import Variable
from alder.units import format_unit

LEVEL = 0.95
# A coefficient this close to a bound, relative to it, lies at the bound.
_AT_BOUND = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Coefficients with intervals, their covariance, and what is not determined."""

    coefficients: tuple[Coefficient, ...]
    covariance: FloatArray
    determination: Determination
    n_free: int

    def ordered(self, names: Sequence[str]) -> "Estimates":
        """Return the same with coefficients in this order."""
        place = [coefficient.name for coefficient in self.coefficients]
        at = [place.index(name) for name in names]
        coefficients = tuple(self.coefficients[k] for k in at)
        return replace(self, coefficients=coefficients, covariance=self.covariance[np.ix_(at, at)])


def find_states(
    names: Sequence[str],
    values: Mapping[str, float],
    bounds: Mapping[str, Bounds],
    fixed: Mapping[str, float],
) -> dict[str, CoefficientState]:
    """Say of each parameter whether it is fixed, at a bound, or free."""
    states: dict[str, CoefficientState] = {}
    for name in names:
        pair = bounds.get(name, Bounds())
        value = values[name]
        slack = _AT_BOUND * max(abs(value), 1e-300)
        states[name] = "free"
        if name in fixed:
            states[name] = "fixed"
        elif value <= pair.lower + slack and np.isfinite(pair.lower):
            states[name] = "at lower bound"
        elif value >= pair.upper - slack and np.isfinite(pair.upper):
            states[name] = "at upper bound"
    return states


def estimate(
    structure: Expr,
    values: Mapping[str, float],
    observations: Observations,
    weights: FloatArray,
    *,
    states: Mapping[str, CoefficientState],
    floors: Floors,
) -> Estimates:
    r"""Return $C = (J^TWJ)^{-1}$ in units of the weights, before it is scaled by the noise.

    $J$ is over the free parameters, summed over the rows of each observation where targets are
    such sums, with group offsets projected out. Intervals are left empty;
    `scale` fills them.
    """
    names = parameters(structure)
    free = [name for name in names if states[name] == "free"]
    columns = observations.by_name
    _, derivatives = jacobian(structure, columns, values, free, floors)
    derivatives = observations.segments.total(derivatives)
    n_groups = len(observations.groups)
    derivatives = centre(derivatives, weights, observations.group, n_groups)
    point = np.array([values[name] for name in free])

    def predict(trial: FloatArray) -> FloatArray:
        moved = {**values, **dict(zip(free, trial, strict=True))}
        return observations.segments.total(evaluate(structure, columns, moved, floors))

    determination = determine(derivatives * np.sqrt(weights)[:, None], point, free, predict)
    covariance = np.zeros((len(names), len(names)))
    at = [names.index(name) for name in free]
    covariance[np.ix_(at, at)] = determination.inverse
    lost = {name for name, gone in zip(free, determination.undetermined, strict=True) if gone}
    coefficients = tuple(
        Coefficient(
            name=name,
            value=float(values[name]),
            standard_error=0.0,
            lower=float(values[name]),
            upper=float(values[name]),
            state="undetermined" if name in lost else states[name],
        )
        for name in names
    )
    n_free = len(free) - int(determination.undetermined.sum()) + _rank_of_lost(determination)
    return Estimates(coefficients, covariance, determination, n_free)


def _rank_of_lost(determination: Determination) -> int:
    """Count the combinations of undetermined parameters that are determined all the same."""
    lost = determination.undetermined
    if not lost.any():
        return 0
    return int(np.linalg.matrix_rank(determination.inverse[np.ix_(lost, lost)], hermitian=True))


def scale(estimates: Estimates, variance: float, residual_df: float) -> Estimates:
    """Multiply the covariance by the residual variance and fill in the 95 % intervals.

    Intervals are Student's with `residual_df`, infinite where the noise is known beforehand. With
    no degree of freedom left nothing is known about the noise, and intervals are infinite.
    """
    covariance = estimates.covariance * variance
    quantile = float(stdtrit(min(max(residual_df, 1.0), 1e9), 0.5 + LEVEL / 2.0))
    unknown = residual_df < 1
    filled: list[Coefficient] = []
    for index, coefficient in enumerate(estimates.coefficients):
        error = float(np.sqrt(max(covariance[index, index], 0.0)))
        if coefficient.state == "undetermined" or (unknown and coefficient.state == "free"):
            error = float("inf")
        half = quantile * error
        filled.append(
            Coefficient(
                name=coefficient.name,
                value=coefficient.value,
                standard_error=error,
                lower=coefficient.value - half,
                upper=coefficient.value + half,
                state=coefficient.state,
            )
        )
    return Estimates(tuple(filled), covariance, estimates.determination, estimates.n_free)


def with_units(
    coefficients: Sequence[Coefficient],
    structure: Expr,
    variables: Sequence[Variable],
    target: Variable,
) -> tuple[Coefficient, ...]:
    """Give each coefficient the unit that makes the law consistent, where units say so."""
    units = {variable.name: variable.dimension for variable in variables}
    if target.dimension is None and not any(units.values()):
        return tuple(coefficients)
    by_name = {coefficient.name: coefficient.value for coefficient in coefficients}
    inference = infer_units(_with_exponents(structure, by_name), units, target.dimension)
    return tuple(
        Coefficient(
            name=c.name,
            value=c.value,
            standard_error=c.standard_error,
            lower=c.lower,
            upper=c.upper,
            state=c.state,
            unit=format_unit(inference.parameters[c.name])
            if c.name in inference.parameters
            else None,
        )
        for c in coefficients
    )


def _with_exponents(expr: Expr, values: Mapping[str, float]) -> Expr:
    """Put fitted exponents in as literals: the unit of r^p depends on p."""
    if not isinstance(expr, Apply):
        return expr
    arguments = tuple(_with_exponents(argument, values) for argument in expr.arguments)
    exponent = arguments[1] if expr.operator.name == "powp" else None
    if isinstance(exponent, Param):
        return Apply(OPERATORS["pow"], (arguments[0], Const(values[exponent.name])))
    return Apply(expr.operator, arguments)
