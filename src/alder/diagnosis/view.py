"""What the tests look at: the best law, what it leaves over, and what else is public."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.diagnosis.signs import Stop
from alder.diagnosis.smoothing import MOST_ROWS, Pattern, find_pattern, scaled
from alder.expr.evaluate import evaluate
from alder.records.evidence import Attempt, Candidate, Evidence
from alder.records.experiment import Pool
from alder.records.fit import Fit

# With fewer rows than this no pattern is told from chance.
FEWEST_ROWS = 24
_SEED = 20261116


@final
@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """What the best law leaves over of the rows it was fitted to; at most some hundreds of them.

    `scaled` is in units of the noise the law states, `sigma` are error bars where rows have them.
    `pattern` is what the inputs still foresee of it.
    """

    columns: Mapping[str, FloatArray]
    inputs: FloatArray
    residual: FloatArray
    scaled: FloatArray
    sigma: FloatArray | None
    pattern: Pattern

    @property
    def unforeseen(self) -> FloatArray:
        """What neither the law nor the pattern says."""
        return self.residual - self.pattern.foreseen


@final
@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All that is public when a study refuses.

    `accuracy` is the NMSE that was asked for, where one was; `held_back` names limits that alone
    left nothing to ask.
    """

    evidence: Evidence
    candidates: Sequence[Candidate]
    stop: Stop
    held_back: str
    pool: Pool | None
    accuracy: float | None
    best: Attempt | None
    left: Left | None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the grammar."""
        return self.evidence.grammar.variable_names

    @property
    def error(self) -> float:
        """The error of the best law: on validation rows, or else of the fit."""
        return float("inf") if self.best is None else error_of(self.best)


def best_of(attempts: Sequence[Attempt]) -> Attempt | None:
    """Return the fitted attempt of the least error."""
    fitted = [attempt for attempt in attempts if attempt.fit is not None]
    return min(fitted, key=error_of) if fitted else None


def error_of(attempt: Attempt) -> float:
    """Return the error of an attempt: on validation rows, or else of its fit."""
    if attempt.validation_nmse is not None and not attempt.folds:
        return attempt.validation_nmse
    return attempt.fit.nmse if attempt.fit is not None else float("inf")


def left_over(evidence: Evidence, best: Attempt | None) -> Left | None:
    """Return what the best law leaves over; None for events, sums over rows, and few rows."""
    fit = None if best is None else best.fit
    names = evidence.grammar.variable_names
    if fit is None or fit.objective != "squared" or evidence.roles.sums is not None or not names:
        return None
    # Rows that came after the law was fitted say nothing about how well it can be fitted.
    columns = {name: column[: fit.n_rows] for name, column in evidence.rows().items()}
    if fit.n_rows < FEWEST_ROWS:
        return None
    chosen = _some(fit.n_rows)
    residual, noise = _residual(fit, columns, evidence.roles.group)
    columns = {name: column[chosen] for name, column in columns.items()}
    residual, noise = residual[chosen], noise[chosen]
    inputs = scaled([columns[name] for name in names])
    sigma = evidence.roles.sigma
    return Left(
        columns=columns,
        inputs=inputs,
        residual=residual,
        scaled=residual / np.maximum(noise, 1e-300),
        sigma=None if sigma is None else columns[sigma],
        pattern=find_pattern(residual, inputs, names),
    )


def _some(n_rows: int) -> NDArray[np.intp]:
    """Choose rows to look at, the same each time, in their order."""
    rng = np.random.default_rng(_SEED)
    return np.sort(rng.permutation(n_rows)[:MOST_ROWS])


def _residual(
    fit: Fit, columns: Mapping[str, FloatArray], group: str | None
) -> tuple[FloatArray, FloatArray]:
    """Return residuals, those of a group about their own mean, and the stated noise."""
    said = evaluate(fit.structure, columns, fit.values, fit.floors)
    residual = columns[fit.target.name] - said
    if group is not None:
        _, number = np.unique(columns[group], return_inverse=True)
        means = np.bincount(number, weights=residual) / np.bincount(number)
        residual = residual - means[number]
    return residual, fit.noise.sigma(said)
