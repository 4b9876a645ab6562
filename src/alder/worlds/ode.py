r"""Worlds that follow differential equations: $\dot x = f(t, x, u)$."""

from collections.abc import Mapping, Sequence
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
from alder.worlds.guard import Caller, Ended, Guard
from alder.worlds.offers import Cost, Experiments, Offers, Safety, make_offers
from alder.worlds.outcomes import to_trajectory, wanted_columns
from alder.worlds.rollouts import roll_out, saturate
from alder.worlds.system import (
    HORIZON,
    Disturbance,
    Sampling,
    System,
    columns_at,
    rates_at,
    simulate,
)


@final
@dataclass(frozen=True, eq=False)
class ODEWorld:
    """A simulated system. An experiment is a start; its rows are states with their derivatives.

    The settings of an experiment are the initial value of every state, constants that act on the
    system, and, if wished, its own `horizon`. Rows have columns of states, inputs, constants, `t`
    and the derivatives. The target of the grammar is one of the derivatives.

    A forecast follows the law from the start of the experiment where the rates of the other states
    are known; otherwise it is what the law says of the first row.
    """

    system: System
    experiments: Experiments = field(kw_only=True, repr=False)
    sampling: Sampling = field(kw_only=True)
    disturbance: Disturbance = field(default_factory=Disturbance, kw_only=True)
    cost: Cost = field(default=None, kw_only=True, repr=False)
    is_safe: Safety = field(default=None, kw_only=True, repr=False)
    offers: Offers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that every experiment says where every state begins."""
        offers = make_offers(self.experiments, cost=self.cost, safe=self.is_safe)
        for state in self.system.states:
            if state not in offers.pool.columns:
                raise BadWorld(
                    f"The experiments do not say where `{state}` begins; give every experiment an "
                    "initial value of every state."
                )
        horizon = offers.pool.columns.get(HORIZON)
        if horizon is not None and not (horizon > 0).all():
            raise BadWorld("A horizon is a time above zero; an experiment has another one.")
        object.__setattr__(self, "offers", offers)

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it; the target must be a derivative."""
        roles = Roles() if roles is None else roles
        derivatives = {self.system.derivative_column(s): s for s in self.system.states}
        state = derivatives.get(grammar.target.name)
        if state is None:
            raise BadWorld(
                f"The target `{grammar.target.name}` is no derivative of the system; "
                f"{', '.join(derivatives)} are."
            )
        self._require_columns(grammar)
        time = roles.time or "t"
        return _BoundODE(self, state, time, wanted_columns(grammar, roles), Caller(Guard()))

    def _require_columns(self, grammar: Grammar) -> None:
        names = (*self.system.states, *self.system.around(0.0, self.offers.settings[0]), "t")
        for name in grammar.variable_names:
            if name not in names:
                raise BadWorld(
                    f"`{name}` is a variable of the grammar but no column of the system; "
                    f"{', '.join(names)} are."
                )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _BoundODE:
    """An `ODEWorld` whose target is the derivative of `state`."""

    world: ODEWorld
    state: str
    time: str
    wanted: tuple[str, ...]
    caller: Caller

    def pool(self) -> Pool:
        """Return every start on offer."""
        return self.world.offers.pool

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return the derivative along the law's own rollout, or at the start where that is all."""
        system, offers = self.world.system, self.world.offers
        chosen = [offers.settings[int(i)] for i in experiments]
        if not chosen:
            return np.zeros((0, 1))
        start = {name: offers.pool.columns[name][experiments] for name in system.states}
        horizons = np.array([self.world.sampling.times(one)[-1] for one in chosen])
        others = [name for name in system.states if name != self.state]

        # Time runs from 0 to 1, in shares of each experiment's own horizon.
        def at(share: float, states: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
            return columns_at(system, share * horizons, states, chosen)

        def slopes(share: float, states: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
            columns = at(share, states)
            rates = {name: rates_at(system.rates[name], columns) for name in others}
            rates[self.state] = law.predict(columns)
            return {name: rate * horizons for name, rate in rates.items()}

        if not all(map(system.is_known, others)):
            return saturate(law.predict(at(0.0, start)))[:, None]
        shares = np.linspace(0.0, 1.0, self.world.sampling.n_rows)
        paths = roll_out(slopes, start, shares)
        rows = [
            at(share, {name: path[:, k] for name, path in paths.items()})
            for k, share in enumerate(shares.tolist())
        ]
        return saturate(np.stack([law.predict(columns) for columns in rows], axis=1))

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Solve from each start."""
        rows = self.world.offers.rows_to_run(experiments)
        return tuple(self._run_one(int(row)) for row in rows)

    def _run_one(self, row: int) -> Trajectory | FailedRun:
        name, settings = self.world.offers.pool.ids[row], self.world.offers.settings[row]
        world = self.world
        answer = self.caller.call(
            lambda: simulate(world.system, settings, world.sampling, world.disturbance, row)
        )
        if isinstance(answer, Ended):
            return FailedRun(name, answer.reason)
        rows = {**answer.value, self.time: answer.value["t"]}
        if len(rows["t"]) == 1:
            return FailedRun(name, "the solution ends where it begins: it diverges at once")
        target = world.system.derivative_column(self.state)
        return to_trajectory(name, rows, settings, wanted=self.wanted, target=target)
