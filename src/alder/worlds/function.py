"""A world that is one Python function: settings in, target or rows out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.ports import World
from alder.records.experiment import Experiment, FailedRun, Pool, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.roles import Roles
from alder.tables import Rows, as_columns
from alder.worlds.guard import Caller, Ended, Guard
from alder.worlds.offers import Cost, Experiments, Offers, Safety, Settings, make_offers
from alder.worlds.outcomes import to_trajectory, wanted_columns


@final
@dataclass(frozen=True, eq=False)
class FunctionWorld:
    """A world whose experiments are calls of `run`, one at a time, in this process.

    `run` gets one dict of settings and returns the target, a number, or rows: a mapping of columns
    or a dataframe. `experiments` is a sequence of dicts or a mapping of columns. `cost` and
    `is_safe` are functions of the settings, or arrays; they are asked once, before the first run.
    An unsafe experiment is never run. A run that raises, takes too long (see `Guard`) or returns
    what are no rows is a failed experiment, and the study goes on.

    Where the variables of the law are not settings, because `run` returns rows along a path,
    `inputs` says for given settings at which rows the law will be asked, as far as that is known
    before the run.

    >>> world = FunctionWorld(lambda s: 2.0 * s["r"], experiments={"r": [1.0, 2.0]})
    >>> world.offers.pool.experiment(0).settings["r"]
    1.0
    """

    run: Callable[[Settings], object]
    experiments: Experiments = field(kw_only=True, repr=False)
    cost: Cost = field(default=None, kw_only=True, repr=False)
    is_safe: Safety = field(default=None, kw_only=True, repr=False)
    inputs: Callable[[Settings], Rows] | None = field(default=None, kw_only=True)
    guard: Guard = field(default_factory=Guard, kw_only=True)
    offers: Offers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the experiments, their cost and their safety."""
        if not callable(self.run):
            raise BadWorld(
                f"run must be a function of one dict of settings; got a {type(self.run).__name__}."
            )
        offers = make_offers(self.experiments, cost=self.cost, safe=self.is_safe)
        object.__setattr__(self, "offers", offers)

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it, once variables and target have names."""
        if self.inputs is None:
            self.offers.require_variables(grammar)
        roles = Roles() if roles is None else roles
        return _BoundFunction(self, grammar, wanted_columns(grammar, roles), Caller(self.guard))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _BoundFunction:
    """A `FunctionWorld` with names for variables and target."""

    world: FunctionWorld
    grammar: Grammar
    wanted: tuple[str, ...]
    caller: Caller

    def pool(self) -> Pool:
        """Return every experiment on offer."""
        return self.world.offers.pool

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what a law says, one output for each row of an experiment."""
        if self.world.inputs is None:
            return self.world.offers.predict(law, experiments)
        # A law without variables still says something of every row.
        names = [v.name for v in law.variables] or self.grammar.variable_names
        return _stack(self._rows(experiments, names), law)

    def foreseen(self) -> tuple[str, ...]:
        """Name the target, the settings, and the variables along the path where that is known."""
        settings, names = self.world.offers.pool.columns, self.grammar.variable_names
        return tuple(dict.fromkeys((self.grammar.target.name, *names, *settings)))

    def outlook(self, law: Law, experiments: NDArray[np.intp]) -> Mapping[str, FloatArray]:
        """Return those columns, one number for each row of an experiment."""
        columns = self.world.offers.pool.columns
        shown = {name: column[experiments][:, None] for name, column in columns.items()}
        shown[self.grammar.target.name] = self.predict(law, experiments)
        if self.world.inputs is not None and len(experiments):
            rows = self._rows(experiments, self.grammar.variable_names)
            shown |= {name: np.stack([one[name] for one in rows]) for name in rows[0]}
        return shown

    def _rows(
        self, experiments: NDArray[np.intp], names: Sequence[str]
    ) -> list[Mapping[str, FloatArray]]:
        """Ask at which rows laws will be asked."""
        settings, inputs = self.world.offers.settings, self.world.inputs
        assert inputs is not None
        return [as_columns(inputs(dict(settings[int(i)])), names) for i in experiments]

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Run safe experiments in order."""
        rows = self.world.offers.rows_to_run(experiments)
        return tuple(self._run_one(int(row)) for row in rows)

    def _run_one(self, row: int) -> Trajectory | FailedRun:
        name, settings = self.world.offers.pool.ids[row], self.world.offers.settings[row]
        answer = self.caller.call(lambda: self.world.run(dict(settings)))
        if isinstance(answer, Ended):
            return FailedRun(name, answer.reason)
        return to_trajectory(
            name, answer.value, settings, wanted=self.wanted, target=self.grammar.target.name
        )


def _stack(rows: Sequence[Mapping[str, FloatArray]], law: Law) -> FloatArray:
    """Predict every experiment in one call; all must have as many rows."""
    if not rows:
        return np.zeros((0, 1))
    lengths = {len(column) for one in rows for column in one.values()} or {1}
    if len(lengths) > 1:
        raise BadWorld(
            f"inputs gives {min(lengths)} rows for one experiment and {max(lengths)} for another; "
            "give as many for each, so that laws can be compared."
        )
    n = lengths.pop()
    joined = {name: np.concatenate([one[name] for one in rows]) for name in rows[0]}
    if not law.variables:
        return np.full((len(rows), n), float(law.predict({"": 0.0})[0]))
    return law.predict(joined).reshape(len(rows), n)
