"""Fit many structures at once; the details of each are worked out when they are asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final, overload

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import parameters
from alder.expr.operators import Floors
from alder.fitting.fit import FitTask, Solved, assemble
from alder.fitting.observations import Observations, observe, require_varying_target
from alder.fitting.request import (
    BoundsLike,
    Request,
    Structure,
    as_structure,
    exponents_of,
    known_names,
)
from alder.fitting.separable import Settings, Solutions, solve
from alder.kernel.encode import encode
from alder.records.effort import SCREENED, Effort
from alder.records.fit import Fit
from alder.records.proposal import Bounds
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.tables import Rows


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """The fits of many structures to the same rows, in the order given.

    `loss` and `nmse` hold one number per structure, infinite where none was found. Indexing gives
    a whole `Fit` with covariance and intervals, computed at that moment.
    """

    loss: FloatArray
    nmse: FloatArray
    converged: NDArray[np.bool_]
    n_nonlinear: NDArray[np.int64]
    solutions: Solutions
    tasks: tuple[FitTask, ...]

    def __len__(self) -> int:
        """Count the structures."""
        return len(self.tasks)

    @overload
    def __getitem__(self, index: int) -> Fit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Fit, ...]: ...
    def __getitem__(self, index: int | slice) -> Fit | tuple[Fit, ...]:
        """Return the whole fit of one structure, or of several."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        task = self.tasks[index]
        found = self.solutions.of(index % len(self))
        code = int(self.solutions.reports[index, 1])
        weights = task.observations.weights()
        solved = Solved({**task.request.fixed, **found}, weights, code)
        return assemble(task, solved)

    def __iter__(self) -> Iterator[Fit]:
        """Yield whole fits in order."""
        return (self[index] for index in range(len(self)))

    def values(self, index: int) -> dict[str, float]:
        """Return the coefficients of one structure, without the cost of a whole fit."""
        return {**self.tasks[index].request.fixed, **self.solutions.of(index % len(self))}

    @property
    def order(self) -> NDArray[np.intp]:
        """Indices of the structures, the best fit first."""
        return np.argsort(self.loss, kind="stable")


def fit_many(  # noqa: PLR0913 (a user's whole request in one call)
    structures: Sequence[Structure],
    rows: Rows,
    *,
    target: str | Variable,
    variables: Sequence[Variable] | None = None,
    bounds: BoundsLike | None = None,
    fixed: Mapping[str, float] | None = None,
    sigma: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    sums: str | None = None,
    effort: Effort = SCREENED,
    floors: Floors | None = None,
    jobs: int | None = None,
) -> Fits:
    """Fit every structure to the same rows by least squares, over all cores.

    `bounds` and `fixed` apply to every structure that has a parameter of that name; a proposal
    brings its own bounds, which come first. Rows with one value of `sums` are one observation, as
    in `fit`. The result does not depend on `jobs`.
    """
    goal = target if isinstance(target, Variable) else Variable(target)
    roles = Roles(sigma, weight, group, sums=sums)
    names = known_names(rows, goal.name, roles.names, variables)
    shared = {n: p if isinstance(p, Bounds) else Bounds(*p) for n, p in (bounds or {}).items()}
    held = {name: float(value) for name, value in (fixed or {}).items()}
    requests = [_request(law, names, shared, held) for law in structures]
    batch = encode([request.structure for request in requests], names, held)
    used = batch.used_columns()
    observations = observe(rows, goal.name, [names[int(column)] for column in used], roles)
    require_varying_target(observations, goal.name)
    limits = floors or Floors()
    solutions = solve(
        batch.over(used), observations, observations.weights(),
        [request.bounds for request in requests], Settings(effort, limits, jobs),
    )  # fmt: skip
    tasks = tuple(FitTask(r, observations, goal, variables, limits, None) for r in requests)
    return _collect(tasks, observations, solutions)


def _request(
    law: Structure,
    names: Sequence[str],
    shared: Mapping[str, Bounds],
    held: Mapping[str, float],
) -> Request:
    structure, own = as_structure(law, names)
    if not held:
        bounds = {**shared, **own} if shared else own
        return Request(structure, bounds, held, exponents_of(law))
    mine = {name: held[name] for name in parameters(structure) if name in held}
    return Request(structure, {**shared, **own}, mine, exponents_of(law))


def _collect(tasks: tuple[FitTask, ...], observations: Observations, solutions: Solutions) -> Fits:
    weights = observations.weights()
    mean = float(np.sum(weights * observations.target) / np.sum(weights))
    total = float(np.sum(weights * np.square(observations.target - mean)))
    sums = solutions.reports[:, 0]
    return Fits(
        loss=sums / observations.n_observations,
        nmse=sums / total,
        converged=solutions.reports[:, 1] == 0.0,
        n_nonlinear=solutions.reports[:, 4].astype(np.int64),
        solutions=solutions,
        tasks=tasks,
    )
