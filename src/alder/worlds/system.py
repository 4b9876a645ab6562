r"""Differential equations as values: rates, times of rows, disturbances, and simulation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.records.experiment import HORIZON
from alder.records.law import Law
from alder.worlds.offers import Settings
from alder.worlds.rollouts import integrate

Point: TypeAlias = Mapping[str, float]
Rate: TypeAlias = Law | str | Callable[[float, Point], float]


@final
@dataclass(frozen=True, slots=True, eq=False)
class System:
    r"""A right-hand side: how fast each state changes at a time and a point.

    `rates` maps each state to its derivative: a law, a function of the time and of the point (a
    dict of states, inputs and constant settings), or the name of another column, for kinematics
    such as `{"x": "v"}`. `inputs` says what acts from outside at a time, given the settings; by
    default settings that are no states act as constants. `columns` names the column of each
    derivative; `d<state>_dt` where it does not.

    `known` are states whose rates are no secret; kinematics always are. Only they take part in
    forecasts.
    """

    rates: Mapping[str, Rate]
    inputs: Callable[[float, Settings], Point] | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    known: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Freeze the mappings, and refuse names that are no states."""
        for name in (*self.columns, *self.known):
            if name not in self.rates:
                raise BadWorld(f"`{name}` is no state of the system; {', '.join(self.rates)} are.")
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    @staticmethod
    def of(
        rhs: Callable[[float, FloatArray], Sequence[float]],
        states: Sequence[str],
        columns: Mapping[str, str] | None = None,
    ) -> "System":
        """Return the system of one right-hand side: a time and an array of states to an array."""

        def rate(index: int) -> Rate:
            def one(t: float, point: Point) -> float:
                return float(rhs(t, np.array([point[name] for name in states]))[index])

            return one

        return System({name: rate(i) for i, name in enumerate(states)}, columns=columns or {})

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        return tuple(self.rates)

    def derivative_column(self, state: str) -> str:
        """Name the column that holds the derivative of a state."""
        return self.columns.get(state, f"d{state}_dt")

    def is_known(self, state: str) -> bool:
        """Say whether forecasts may use the rate of this state."""
        return state in self.known or isinstance(self.rates[state], str)

    def around(self, t: float, settings: Settings) -> dict[str, float]:
        """Return what is not a state at this time: constant settings and inputs."""
        constants = {
            name: float(value)
            for name, value in settings.items()
            if name not in self.rates and name != HORIZON and not isinstance(value, str)
        }
        return constants if self.inputs is None else {**constants, **self.inputs(t, dict(settings))}


@final
@dataclass(frozen=True, slots=True)
class Sampling:
    """When rows are taken: `n_rows` times, evenly from 0 to the horizon.

    A setting named `horizon` replaces the horizon in its experiment. `max_steps` ends a solution
    that would need more steps, whatever the machine.
    """

    horizon: float
    n_rows: int = 50
    max_steps: int = 20_000

    def __post_init__(self) -> None:
        """Refuse a horizon that is no time, and fewer than two rows."""
        if not (np.isfinite(self.horizon) and self.horizon > 0):
            raise BadWorld(f"A horizon is a time above zero; got {self.horizon}.")
        if self.n_rows < 2:
            raise BadWorld(f"A trajectory has at least 2 rows; n_rows is {self.n_rows}.")

    def times(self, settings: Settings) -> FloatArray:
        """Return the times of the rows of one experiment."""
        horizon = float(settings.get(HORIZON, self.horizon))
        return np.linspace(0.0, horizon, self.n_rows)


@final
@dataclass(frozen=True, slots=True)
class Disturbance:
    r"""Standard deviations of what disturbs a system, by column.

    `process` shakes states while they move: $\sigma \sqrt{\Delta t}$ is added from row to row.
    `observation` is added to what is read, states and derivatives alike, and does not act back.
    The same seed and experiment give the same disturbance, in whatever order experiments are run.
    """

    process: Mapping[str, float] = field(default_factory=dict[str, float])
    observation: Mapping[str, float] = field(default_factory=dict[str, float])
    seed: int = 0


def columns_at(
    system: System, t: FloatArray, states: Mapping[str, FloatArray], settings: Sequence[Settings]
) -> dict[str, FloatArray]:
    """Return all columns of several experiments, each at its own time."""
    around = [system.around(time, one) for time, one in zip(t.tolist(), settings, strict=True)]
    others = {name: np.array([point[name] for point in around]) for name in around[0]}
    return {**others, "t": t, **states}


def rates_at(rate: Rate, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Return one rate at several points."""
    match rate:
        case str():
            return columns[rate]
        case Law():
            return rate.predict(columns)
        case _:
            points = [dict(zip(columns, row, strict=True)) for row in _rows(columns)]
            return np.array([float(rate(point["t"], point)) for point in points])


def simulate(
    system: System, settings: Settings, sampling: Sampling, disturbance: Disturbance, row: int
) -> dict[str, FloatArray]:
    """Solve from one start and read states, inputs and derivatives, disturbed as asked.

    Where the solution diverges, the rows end.
    """
    rng = np.random.default_rng([disturbance.seed, row])
    times = sampling.times(settings)
    states = _solve(system, settings, times, sampling.max_steps, _shake(system, disturbance, rng))
    times = times[: len(states)]
    columns = {name: states[:, i] for i, name in enumerate(system.states)}
    around = [system.around(t, settings) for t in times.tolist()]
    columns |= {name: np.array([point[name] for point in around]) for name in around[0]}
    columns["t"] = times
    derivatives = {
        system.derivative_column(name): rates_at(rate, columns)
        for name, rate in system.rates.items()
    }
    observed = {**columns, **derivatives}
    for name, sigma in disturbance.observation.items():
        if name not in observed:
            raise BadWorld(f"`{name}` is disturbed but no column; {', '.join(observed)} are.")
        observed[name] = observed[name] + sigma * rng.standard_normal(len(times))
    return observed


_Shake: TypeAlias = Callable[[float], FloatArray] | None


def _shake(system: System, disturbance: Disturbance, rng: np.random.Generator) -> _Shake:
    """Return what process noise adds to the states over a step of time."""
    if not any(disturbance.process.values()):
        return None
    sigma = np.array([disturbance.process.get(name, 0.0) for name in system.states])
    return lambda dt: np.sqrt(dt) * sigma * rng.standard_normal(len(sigma))


def _solve(
    system: System, settings: Settings, times: FloatArray, max_steps: int, shake: _Shake
) -> FloatArray:
    def f(t: float, state: FloatArray) -> FloatArray:
        point = {**system.around(t, settings), "t": t}
        point |= zip(system.states, state.tolist(), strict=True)
        return np.array([_rate(rate, t, point) for rate in system.rates.values()])

    start = np.array([float(settings[name]) for name in system.states])
    if shake is None:
        return integrate(f, start, times, max_steps)
    states = [start]
    for begin, end in pairwise(times.tolist()):
        reached = integrate(f, states[-1], np.array([begin, end]), max_steps)
        if len(reached) < 2:
            break
        states.append(reached[1] + shake(end - begin))
    return np.array(states)


def _rate(rate: Rate, t: float, point: Mapping[str, float]) -> float:
    match rate:
        case str():
            return point[rate]
        case Law():
            return float(rate.predict(point)[0])
        case _:
            return float(rate(t, point))


def _rows(columns: Mapping[str, FloatArray]) -> list[tuple[float, ...]]:
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))
