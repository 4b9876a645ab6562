"""A finite pool of rows whose outcomes are hidden until they are queried."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadTable, BadWorld
from alder.ports import World
from alder.records.experiment import Experiment, FailedRun, Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.roles import Roles
from alder.tables import Rows, as_columns, column_names
from alder.worlds.guard import Caller, Ended, Guard
from alder.worlds.offers import Offers, make_offers
from alder.worlds.outcomes import as_numbers, to_trajectory, wanted_columns


@final
@dataclass(frozen=True, eq=False)
class PoolWorld:
    """A pool of inputs; `query` reveals the outcomes of the rows it is asked for, and no others.

    `inputs` maps each variable to its column. `query` receives a one-dimensional integer array of
    distinct, safe row numbers, counted from zero, and returns as many outcomes. It is never called
    speculatively. `cost` and `safe` are optional arrays. An outcome that is not finite is a failed
    experiment; where the call raises or returns another number of outcomes, all it was asked for
    are.

    >>> world = PoolWorld({"r": [1.0, 2.0]}, query=lambda rows: np.array([3.0, 4.0])[rows])
    >>> len(world.offers)
    2
    """

    inputs: Rows
    query: Callable[[NDArray[np.intp]], npt.ArrayLike] = field(kw_only=True)
    cost: npt.ArrayLike | None = field(default=None, kw_only=True, repr=False)
    safe: npt.ArrayLike | None = field(default=None, kw_only=True, repr=False)
    guard: Guard = field(default_factory=Guard, kw_only=True)
    offers: Offers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the columns, their cost and their safety."""
        if not callable(self.query):
            raise BadWorld(
                "query must be a function of an array of row numbers; "
                f"got a {type(self.query).__name__}."
            )
        try:
            columns = as_columns(self.inputs, column_names(self.inputs))
        except BadTable as error:
            raise BadWorld(f"The inputs of the pool cannot be read: {error}") from None
        offers = make_offers(columns, cost=self.cost, safe=self.safe)
        object.__setattr__(self, "offers", offers)

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it, once variables and target have names."""
        self.offers.require_variables(grammar)
        roles = Roles() if roles is None else roles
        return _BoundPool(self, grammar, wanted_columns(grammar, roles), Caller(self.guard))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _BoundPool:
    """A `PoolWorld` with names for variables and target."""

    world: PoolWorld
    grammar: Grammar
    wanted: tuple[str, ...]
    caller: Caller

    def pool(self) -> Pool:
        """Return every row on offer."""
        return self.world.offers.pool

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what a law says about these rows, (experiments, 1)."""
        return self.world.offers.predict(law, experiments)

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Query the rows in one call."""
        rows = self.world.offers.rows_to_run(experiments)
        if not len(rows):
            return ()
        answer = self.caller.call(lambda: self.world.query(rows.copy()))
        names = [self.world.offers.pool.ids[int(row)] for row in rows]
        if isinstance(answer, Ended):
            return tuple(FailedRun(name, answer.reason) for name in names)
        outcomes = _outcomes(answer.value, len(rows))
        if isinstance(outcomes, str):
            return tuple(FailedRun(name, outcomes) for name in names)
        return tuple(self._read(int(row), float(y)) for row, y in zip(rows, outcomes, strict=True))

    def _read(self, row: int, outcome: float) -> Trajectory | FailedRun:
        return to_trajectory(
            self.world.offers.pool.ids[row],
            outcome,
            self.world.offers.settings[row],
            wanted=self.wanted,
            target=self.grammar.target.name,
        )


def _outcomes(value: object, n: int) -> FloatArray | str:
    """Read outcomes as n numbers, or say what is wrong with them."""
    if isinstance(value, Mapping):
        columns = cast("Mapping[str, object]", value)
        value = next(iter(columns.values())) if len(columns) == 1 else None
    numbers = as_numbers(value)
    if numbers is None:
        return f"query returned a {type(value).__name__}; {n} numbers were expected"
    if numbers.size != n:
        return f"query returned {numbers.size} outcomes for {n} rows"
    return numbers.ravel()
