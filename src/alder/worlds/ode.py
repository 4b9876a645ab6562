r"""Worlds that follow differential equations: $\dot x = f(t, x, u)$."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.ports import World
from alder.records.dynamics import Dynamics
from alder.records.experiment import HORIZON, Experiment, FailedRun, Pool, Setting, Trajectory
from alder.records.grammar import Grammar
from alder.records.law import Law
from alder.records.motion import Motion
from alder.records.roles import Roles
from alder.tables import Rows, as_columns, column_names, require_columns
from alder.worlds.guard import Caller, Ended, Guard
from alder.worlds.offers import Cost, Experiments, Offers, Safety, Settings, make_offers
from alder.worlds.outcomes import to_trajectory, wanted_columns
from alder.worlds.recorded import TIME, Source, read_recorded, untold
from alder.worlds.rollouts import SUBSTEPS, roll_out, saturate
from alder.worlds.system import (
    Disturbance,
    Rate,
    Sampling,
    System,
    columns_at,
    rates_at,
    simulate,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """What studies of several rates of one system share.

    `solved` are runs by the row of the experiment, so that each is run once; `leading` the best
    law so far of each rate, by which the others are followed beyond their start.
    """

    solved: dict[int, dict[str, FloatArray]] = field(
        default_factory=dict[int, dict[str, FloatArray]]
    )
    leading: dict[str, Law] = field(default_factory=dict[str, Law])


@final
@dataclass(frozen=True, eq=False)
class ODEWorld:
    """A simulated system. An experiment is a start; its rows are states with their derivatives.

    The settings of an experiment are the initial value of every state, constants that act on the
    system, and, if wished, its own `horizon`. Rows have columns of states, inputs, constants, `t`
    and the derivatives. The target of the grammar is one of the derivatives.

    Where the right-hand side is not at hand, `ODEWorld.simulated` takes a function from settings to
    rows, and `ODEWorld.recorded` trajectories that were recorded before.

    A forecast follows the law from the start of the experiment where the rates of the other states
    are known, or have a leading law `together`; otherwise it is what the law says of the first row.
    """

    system: System
    experiments: Experiments = field(kw_only=True, repr=False)
    sampling: Sampling = field(kw_only=True)
    disturbance: Disturbance = field(default_factory=Disturbance, kw_only=True)
    cost: Cost = field(default=None, kw_only=True, repr=False)
    is_safe: Safety = field(default=None, kw_only=True, repr=False)
    together: Together | None = field(default=None, kw_only=True, repr=False)
    source: Source | None = field(default=None, kw_only=True, repr=False)
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
        there = (*self.system.states, *self.system.around(0.0, offers.settings[0]))
        for state, rate in self.system.rates.items():
            if isinstance(rate, str) and rate not in there:
                raise BadWorld(
                    f"The known rate of `{state}` is `{rate}`, which is no column of the system; "
                    f"{', '.join(there)} are."
                )

    @staticmethod
    def simulated(  # noqa: PLR0913 (a user's whole request in one call)
        run: Source,
        *,
        states: Sequence[str],
        experiments: Experiments,
        sampling: Sampling,
        known: Mapping[str, str] | None = None,
        cost: Cost = None,
        is_safe: Safety = None,
    ) -> "ODEWorld":
        """Return the world of a simulator: `run` takes settings and returns rows of a trajectory.

        Rows are columns of the states, their derivatives `d<state>_dt` and the time `t`, which
        begins at 0, and of those settings that are no starts. `known` maps a state to the state
        or setting that is its derivative.
        """
        return ODEWorld(
            System(untold(states, known or {})), experiments=experiments, sampling=sampling,
            cost=cost, is_safe=is_safe, source=run,
        )  # fmt: skip

    @staticmethod
    def recorded(  # noqa: PLR0913 (a user's whole request in one call)
        rows: Rows,
        *,
        states: Sequence[str],
        inputs: Sequence[str] = (),
        time: str = "t",
        group: str | None = None,
        known: Mapping[str, str] | None = None,
        cost: Cost = None,
    ) -> "ODEWorld":
        """Return the world of trajectories that were recorded before, derivatives included.

        Each is an experiment of which a study sees the start, how long it lasts and the inputs;
        what it showed comes out when it is asked for. A new value of `group`, or a time that goes
        back, begins a trajectory, whose time `t` is counted from its first row. `known` maps a
        state to the state or input that is its derivative.
        """
        told = read_recorded(
            rows, states=states, inputs=inputs, time=time, group=group, known=known or {}
        )
        return ODEWorld(
            told.system, experiments=told.experiments, sampling=told.sampling, cost=cost,
            source=told.source,
        )  # fmt: skip

    def answer(self, settings: Settings, row: int) -> dict[str, FloatArray]:
        """Return the rows of one experiment, all columns that there are."""
        if self.source is None:
            return simulate(self.system, settings, self.sampling, self.disturbance, row)
        found = self.source(dict(settings))
        require_columns([TIME], column_names(found), where="the rows it returned")
        return dict(as_columns(found))

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
        time = roles.time or TIME
        return _BoundODE(self, state, time, wanted_columns(grammar, roles), Caller(Guard()))

    @property
    def own_horizon(self) -> float:
        """The time of an experiment whose settings hold none."""
        return self.sampling.horizon

    def rehearse(self, law: Law, settings: Mapping[str, Setting]) -> Mapping[str, FloatArray]:
        """Return the columns along a law's own rollout from any start.

        The settings hold a value of every state, and what acts: in a recorded world constants, or
        the `trajectory` whose inputs are taken. The rates of the other states must be known.
        """
        motion = self._motion(law)
        if motion is not None:
            return self._solved(motion, law, dict(settings))
        alone = replace(self, experiments=[dict(settings)], cost=None, is_safe=None)
        bound = alone.bind(Grammar(law.variables, law.target))
        assert isinstance(bound, _BoundODE)
        if not bound.foreseen():
            raise BadWorld(
                "A law of one rate cannot be followed while another rate is not known; name those "
                "that are no secret in `System(known=...)`, or give laws of all states."
            )
        return {name: path[0] for name, path in bound.outlook(law, np.zeros(1, np.intp)).items()}

    def _motion(self, law: Law) -> Dynamics | None:
        """Return the system with a law in it, where all other rates are laws or names."""
        system = self.system
        state = next(
            (s for s in system.states if system.derivative_column(s) == law.target.name), ""
        )
        others = {name: rate for name, rate in system.rates.items() if name != state}
        rates = {name: rate for name, rate in others.items() if not callable(rate)}
        plain = all(isinstance(rate, Law) or rate.isidentifier() for rate in rates.values())
        if not (
            state and plain and len(rates) == len(others) and all(map(system.is_known, others))
        ):
            return None
        return Dynamics({state: law}, rates)

    def _solved(self, motion: Dynamics, law: Law, settings: Settings) -> dict[str, FloatArray]:
        """Return the columns along an accurate solution."""
        times = self.sampling.times(settings)
        begins = [name for name in self.system.states if name in settings]
        there = (*begins, *self.system.around(0.0, settings), TIME)
        needed = (*self.system.states, *motion.inputs)
        missing = next((name for name in needed if name not in there), None)
        if missing is not None:
            raise BadWorld(
                f"The start has no value of `{missing}`; give one of each of {', '.join(needed)}."
            )
        start = {name: float(settings[name]) for name in self.system.states}

        def at(name: str) -> Callable[[float], float]:
            return lambda t: {**self.system.around(t, settings), "t": t}[name]

        path = motion.rollout(start, times, {name: at(name) for name in motion.inputs})
        around = [self.system.around(t, settings) for t in times.tolist()]
        columns = {name: np.array([point[name] for point in around]) for name in around[0]}
        columns = {**columns, "t": times, **path}
        return {**columns, law.target.name: saturate(law.predict(columns))}

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

    def motion(self) -> Motion | None:
        """Say which variable the target is the rate of, and which others follow from it."""
        if self.state not in self.wanted:
            return None
        rates = {n: r for n, r in self.world.system.rates.items() if isinstance(r, str)}
        rates.pop(self.state, None)
        return Motion(
            self.state, {n: r for n, r in rates.items() if n in self.wanted and r in self.wanted}
        )

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return the derivative along the law's own rollout, or at the start where that is all."""
        if not len(experiments):
            return np.zeros((0, 1))
        shares = np.linspace(0.0, 1.0, self.world.sampling.n_rows)
        whole = self._is_whole(self._leading())
        rows = self._follow(law, experiments, shares if whole else shares[:1], SUBSTEPS)
        return saturate(np.stack([law.predict(columns) for columns in rows], axis=1))

    def foreseen(self) -> tuple[str, ...]:
        """Name all columns and the target, where the rates of the other states are known."""
        if not self._is_whole({}):
            return ()
        system, settings = self.world.system, self.world.offers.settings[0]
        around = system.around(0.0, settings)
        return (system.derivative_column(self.state), *system.states, *around, "t")

    def outlook(self, law: Law, experiments: NDArray[np.intp]) -> Mapping[str, FloatArray]:
        """Return the columns along the law's own rollout, at every step of it."""
        shares = np.linspace(0.0, 1.0, (self.world.sampling.n_rows - 1) * SUBSTEPS + 1)
        rows = self._follow(law, experiments, shares, 1)
        target = self.world.system.derivative_column(self.state)
        path = {name: np.stack([one[name] for one in rows], axis=1) for name in rows[0]}
        slopes = np.stack([law.predict(columns) for columns in rows], axis=1)
        return {**path, target: saturate(slopes)}

    def _is_whole(self, leading: Mapping[str, Law]) -> bool:
        """Say whether a law can be followed beyond the start."""
        system = self.world.system
        others = [name for name in system.states if name != self.state]
        return all(system.is_known(name) or name in leading for name in others)

    def _leading(self) -> Mapping[str, Law]:
        return {} if self.world.together is None else self.world.together.leading

    def _other_rates(self) -> dict[str, Rate]:
        """Return the rates of the other states: known, or as their leading laws say."""
        system, leading = self.world.system, self._leading()
        return {
            name: rate if system.is_known(name) else leading.get(name, rate)
            for name, rate in system.rates.items()
            if name != self.state
        }

    def _follow(
        self, law: Law, experiments: NDArray[np.intp], shares: FloatArray, substeps: int
    ) -> list[dict[str, FloatArray]]:
        """Return the columns of all experiments at each time, in shares of their own horizons."""
        system, offers = self.world.system, self.world.offers
        chosen = [offers.settings[int(i)] for i in experiments]
        start = {name: offers.pool.columns[name][experiments] for name in system.states}
        horizons = np.array([self.world.sampling.times(one)[-1] for one in chosen])
        constants = columns_at(system, 0.0 * horizons, {}, chosen)
        others = self._other_rates() if len(shares) > 1 else {}

        def at(share: float, states: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
            if system.inputs is None:
                return {**constants, "t": share * horizons, **states}
            return columns_at(system, share * horizons, states, chosen)

        def slopes(share: float, states: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
            columns = at(share, states)
            rates = {name: rates_at(rate, columns) for name, rate in others.items()}
            rates[self.state] = law.predict(columns)
            return {name: rates[name] * horizons for name in states}

        paths = roll_out(slopes, start, shares, substeps)
        return [
            at(share, {name: path[:, k] for name, path in paths.items()})
            for k, share in enumerate(shares.tolist())
        ]

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Solve from each start."""
        rows = self.world.offers.rows_to_run(experiments)
        return tuple(self._run_one(int(row)) for row in rows)

    def _run_one(self, row: int) -> Trajectory | FailedRun:
        name, settings = self.world.offers.pool.ids[row], self.world.offers.settings[row]
        world = self.world
        solved = None if world.together is None else world.together.solved.get(row)
        if solved is None:
            answer = self.caller.call(lambda: world.answer(settings, row))
            if isinstance(answer, Ended):
                return FailedRun(name, answer.reason)
            solved = answer.value
            if world.together is not None:
                world.together.solved[row] = solved
        rows = {**solved, self.time: solved[TIME]}
        if len(rows[TIME]) == 1:
            return FailedRun(name, "the solution ends where it begins: it diverges at once")
        target = world.system.derivative_column(self.state)
        return to_trajectory(name, rows, settings, wanted=self.wanted, target=target)
