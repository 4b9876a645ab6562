"""What is asked of an inversion, and whether a prediction keeps to its limits."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadParameter
from alder.records.limits import Limits
from alder.records.plan import Ends, Prediction

Forward: TypeAlias = Callable[[FloatArray, float], Prediction]
"""A forward model: actions, (moves, inputs), and a horizon to what they lead to."""
_Box: TypeAlias = tuple[str, tuple[float, float], str]
"""A column, the ends it must stay between, and whose they are."""
Predicate: TypeAlias = Callable[[Mapping[str, FloatArray]], bool]
"""Says of the columns of a predicted path whether it is safe."""

EVALUATIONS = 48
TOLERANCE = 1e-4
# A prediction this large is none; rollouts that diverge are held here.
DIVERGED = 1e100


@final
@dataclass(frozen=True, slots=True)
class Inversion:
    """Where a world is wanted, what may be done, and where it must stay meanwhile.

    `target` maps columns to the values wanted at the end; `bounds` maps inputs to the ends
    between which actions are chosen. `horizons` are tried in order. With several `moves` an action
    is chosen for each of that many equal parts of the horizon. `tolerance` is how near counts as
    reached, for all columns or by column; errors of columns are compared in these units.
    `evaluations` is the number of calls of forward models in all. With `along` the whole path
    should be near the target, not its end alone.
    """

    target: Mapping[str, float]
    bounds: Ends
    horizons: tuple[float, ...] = (1.0,)
    moves: int = 1
    limits: Limits | Predicate | None = None
    tolerance: float | Mapping[str, float] = TOLERANCE
    evaluations: int = EVALUATIONS
    along: bool = False
    begin: FloatArray | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Freeze the mappings; refuse what cannot be asked."""
        if not (self.target and self.bounds and self.horizons):
            raise BadParameter("A plan needs a target, an input with bounds, and a horizon.")
        for name, value in self.target.items():
            if not (math.isfinite(value) and self.tolerance_of(name) > 0.0):
                raise BadParameter(
                    f"The target of `{name}` is a finite number with a tolerance above zero; got "
                    f"{value:g} within {self.tolerance_of(name):g}."
                )
        for name, ends in self.bounds.items():
            _require_bounds(name, *ends)
        if not all(math.isfinite(h) and h > 0.0 for h in self.horizons):
            raise BadParameter(f"A horizon is above zero; got {self.horizons}.")
        if self.moves < 1 or self.evaluations < 1:
            raise BadParameter("A plan has at least one move and one evaluation.")
        object.__setattr__(self, "target", MappingProxyType(dict(self.target)))
        object.__setattr__(self, "bounds", MappingProxyType(dict(self.bounds)))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of what is chosen."""
        return tuple(self.bounds)

    @property
    def is_scalar(self) -> bool:
        """Whether one number is chosen so that one column ends at one value."""
        return self.moves == len(self.bounds) == len(self.target) == 1 and not self.along

    def tolerance_of(self, name: str) -> float:
        """Return how near a column must come."""
        if isinstance(self.tolerance, Mapping):
            return float(self.tolerance.get(name, TOLERANCE))
        return float(self.tolerance)


def _require_bounds(name: str, low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadParameter(
            f"The bounds of `{name}` are two finite numbers, the lower first; got {low:g} and "
            f"{high:g}."
        )


def errors(prediction: Prediction, problem: Inversion) -> FloatArray:
    """Return how far the end is from the target, one number for each column of it."""
    missing = next((name for name in problem.target if name not in prediction.end), None)
    if missing is not None:
        raise BadParameter(
            f"The target is a value of `{missing}`, which the forward model does not predict; it "
            f"predicts {', '.join(prediction.end) or 'nothing'}."
        )
    return np.array([prediction.end[name] - wanted for name, wanted in problem.target.items()])


def missed(prediction: Prediction, problem: Inversion) -> FloatArray:
    """Return what is to be made small, in tolerances: errors of the end, or after every move."""
    units = np.array([problem.tolerance_of(name) for name in problem.target])
    found = errors(prediction, problem) / units
    if not problem.along or problem.moves == 1:
        return found
    before: list[FloatArray] = []
    for k in range(1, problem.moves):
        for (name, wanted), unit in zip(problem.target.items(), units.tolist(), strict=True):
            column = prediction.path[name]
            before.append((column[round(k * (len(column) - 1) / problem.moves)] - wanted) / unit)
    return np.append(np.array(before), found)


def objections(prediction: Prediction, problem: Inversion) -> Iterator[str]:
    """Yield why a predicted path may not be taken; nothing where it may."""
    for name in prediction.path:
        if not (np.abs(_column(prediction, name)) < DIVERGED).all():
            yield f"`{name}` diverges"
            return
    worst = max(_boxes(prediction, problem), key=lambda box: _excess(prediction, box), default=None)
    if worst is not None and _excess(prediction, worst) > 0.0:
        name, (low, high), why = worst
        column = _column(prediction, name)
        farthest = float(column[np.argmax(np.maximum(low - column, column - high))])
        yield f"{name} would reach {farthest:.4g}, {why} {low:.4g} to {high:.4g}"
        return
    if callable(problem.limits) and not problem.limits(prediction.path):
        yield f"the limit `{getattr(problem.limits, '__name__', 'limits')}` would be broken"


def excesses(prediction: Prediction, problem: Inversion) -> dict[str, float]:
    """Return how far each limit is exceeded at the worst place, in widths of it; negative inside.

    One that is infinite on a side counts in units of its other end.
    """
    boxes = _boxes(prediction, problem)
    return {f"{box[0]} {box[2]}": _excess(prediction, box) for box in boxes}


def _excess(prediction: Prediction, box: _Box) -> float:
    name, (low, high), _ = box
    if low == -math.inf and high == math.inf:
        return -math.inf
    column = _column(prediction, name)
    width = high - low
    if not 0.0 < width < math.inf:
        width = max(abs(min(low, high, key=abs)), 1.0)
    found = float(np.max(np.maximum(low - column, column - high))) / width
    return math.inf if math.isnan(found) else found


def _column(prediction: Prediction, name: str) -> FloatArray:
    """Return a column with its end, where it has one: a limit holds for that too."""
    column = prediction.path[name]
    return np.append(column, prediction.end[name]) if name in prediction.end else column


def _boxes(prediction: Prediction, problem: Inversion) -> Iterator[_Box]:
    if isinstance(problem.limits, Limits):
        for name, ends in problem.limits.columns.items():
            if name not in prediction.path:
                raise BadParameter(
                    f"`{name}` has limits, but the forward model does not predict it, only "
                    f"{', '.join(prediction.path) or 'nothing'}."
                )
            yield name, ends, "and its limits are"
    for name, ends in prediction.scope.items():
        if name in prediction.path:
            yield name, ends, "and the law was fitted on"
