"""What one case consists of: the public trajectory, a pool of starts, protected trajectories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.odes.systems import OdeSystem
from alder.expr.scalar import at_point
from alder.records.dynamics import Dynamics
from alder.records.grammar import Grammar
from alder.records.protected import Protected
from alder.records.variable import Variable
from alder.worlds.ode import ODEWorld
from alder.worlds.system import Point, Rate, Sampling, System

OPERATORS = (
    "add", "sub", "mul", "div", "pow", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs", "neg",
)  # fmt: skip
"""One grammar for all systems."""
MAX_NODES = 127
PUBLIC_ROWS, QUERY_ROWS = 100, 20
_POOL, _ADMISSION, _SHIFT = 128, 16, 6
_SHIFT_TIMES = np.linspace(0.0, 10.0, 51)
# Rows of truth farther out than this, in widths of the box, are cut: they say nothing of laws.
_FAR = 1e4

Columns = Mapping[str, FloatArray]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A system with everything a method may use, and what only the verifier may."""

    system: OdeSystem
    initial: dict[str, FloatArray]
    starts: FloatArray
    protected: Protected

    @property
    def grammar(self) -> Grammar:
        """The language of every rate."""
        variables = [
            Variable(name, role="state", range=ends)
            for name, ends in zip(self.system.truth.states, self.system.box, strict=True)
        ]
        return Grammar(variables, Variable("rate"), OPERATORS, max_nodes=MAX_NODES)

    def world(self) -> ODEWorld:
        """The system as a plant: starts on offer, twenty rows from each."""
        states = self.system.truth.states
        pool = {name: self.starts[:, i] for i, name in enumerate(states)}
        return ODEWorld(
            plant(self.system.truth), experiments=pool, sampling=Sampling(1.0, QUERY_ROWS)
        )


def make_case(system: OdeSystem, seed: int) -> Case:
    """Draw the starts of a case; the public trajectory is the file's own first start."""
    pool, admission, shift = (np.random.default_rng([seed, k]) for k in range(3))
    times = np.linspace(0.0, 1.0, PUBLIC_ROWS)
    short = np.linspace(0.0, 1.0, QUERY_ROWS)
    return Case(
        system,
        recorded(system, [system.starts[0]], times),
        draw_starts(system, _POOL, pool),
        Protected(
            recorded(system, draw_starts(system, _ADMISSION, admission), short),
            recorded(system, draw_starts(system, _SHIFT, shift), _SHIFT_TIMES),
        ),
    )


def draw_starts(system: OdeSystem, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw starts inside the box: evenly, and every other one evenly in its logarithm."""
    low, high = np.array(system.box).T
    drawn = low + (high - low) * rng.random((n, len(low)))
    if (low > 0.0).all():
        drawn[1::2] = (low * (high / low) ** rng.random((n, len(low))))[1::2]
    return drawn


def recorded(
    system: OdeSystem, starts: Sequence[Sequence[float]] | FloatArray, times: FloatArray
) -> dict[str, FloatArray]:
    """Return states, true derivatives and times of trajectories; each ends where it diverges."""
    truth, tables = system.truth, list[dict[str, FloatArray]]()
    width = np.array([high - low for low, high in system.box])
    for start in starts:
        path = truth.rollout(dict(zip(truth.states, map(float, start), strict=True)), times)
        X = np.column_stack([path[name] for name in truth.states])
        far = (np.abs(X) > _FAR * (width + np.abs(np.array(start)))).any(axis=1)
        n = int(np.argmax(far)) if far.any() else len(times)
        if n < 2:
            continue
        states = {name: column[:n] for name, column in path.items()}
        rates = {f"d{name}_dt": rate for name, rate in truth.rates(states).items()}
        tables.append({**states, **rates, "t": times[:n]})
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def plant(truth: Dynamics) -> System:
    """Return the truth as functions of a point."""
    names = truth.states

    def rate(state: str) -> Rate:
        law = truth.laws[state]
        f = at_point(law.structure, names, law.values, law.floors)

        def one(_t: float, point: Point) -> float:
            return f([point[name] for name in names])

        return one

    return System({state: rate(state) for state in names})
