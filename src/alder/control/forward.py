"""Forward models: what a law says actions lead to, pointwise, by its own rollout, or in a world."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.control.plannable import require_prompt
from alder.control.problem import Forward
from alder.errors import BadParameter
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.ports import Rehearsing
from alder.records.dynamics import Dynamics, Input
from alder.records.experiment import HORIZON, Setting
from alder.records.law import Law
from alder.records.plan import Ends, Prediction

# Rows of a path, whatever its horizon: limits are held against them.
_N_ROWS = 33
# Relative error of a step of the compiled solver.
_TOLERANCE = 1e-9


def single(model: Callable[[float, float], Prediction]) -> Forward:
    """Return the forward model of a function of one number, the action, and a horizon.

    >>> forward = single(lambda pull, horizon: Prediction({"q": np.array([0.0, pull * horizon])}))
    >>> forward(np.array([[2.0]]), 3.0).end["q"]
    6.0
    """
    return lambda actions, horizon: model(float(actions[0, 0]), horizon)


def pointwise(
    law: Law, inputs: Sequence[str], start: Mapping[str, float], scope: Ends | None = None
) -> Forward:
    """Return the forward model of a law of single rows: its value where the actions put it."""

    def forward(actions: FloatArray, _horizon: float) -> Prediction:
        row = {**start, **dict(zip(inputs, actions[-1].tolist(), strict=True))}
        columns = {name: np.array([float(value)]) for name, value in row.items()}
        columns[law.target.name] = law.predict(columns) if columns else law.predict({"": 0.0})
        return Prediction(columns, scope=scope or {})

    return forward


def in_world(
    law: Law,
    world: Rehearsing,
    inputs: Sequence[str],
    start: Mapping[str, Setting],
    scope: Ends | None = None,
) -> Forward:
    """Return the forward model of a law in a world that can follow it from any settings.

    Actions are settings of those names, held over a move; each move begins where the one before
    it ended.
    """

    def forward(actions: FloatArray, horizon: float) -> Prediction:
        settings = dict(start)
        parts: list[Mapping[str, FloatArray]] = []
        for move in actions:
            settings |= dict(zip(inputs, move.tolist(), strict=True))
            settings[HORIZON] = horizon / len(actions)
            parts.append(world.rehearse(law, settings))
            settings |= {n: float(parts[-1][n][-1]) for n in start if n in parts[-1]}
        return Prediction(_joined(parts), scope=scope or {})

    return forward


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """The forward model of equations of motion: their own solution, actions held over each move.

    Followed by the compiled solver; what that cannot follow, because it is stiff, diverges or
    depends on the time, goes the way of `Dynamics.rollout`.
    """

    dynamics: Dynamics
    inputs: tuple[str, ...]
    start: Mapping[str, float]
    scope: Ends
    flow: Flow | None

    @staticmethod
    def of(
        dynamics: Dynamics,
        inputs: Sequence[str],
        start: Mapping[str, float],
        scope: Ends | None = None,
    ) -> "Rollout":
        """Prepare the solver; refuse a dead time, and a start that leaves out a state."""
        require_prompt(dynamics)
        missing = [n for n in dynamics.states if n not in start]
        if missing:
            raise BadParameter(
                f"The start does not say where `{missing[0]}` is; give every state of "
                f"{', '.join(dynamics.states)}."
            )
        return Rollout(dynamics, tuple(inputs), dict(start), scope or {}, _compiled(dynamics))

    def beginning(self, start: Mapping[str, float]) -> "Rollout":
        """Return the same model from another start."""
        return Rollout(self.dynamics, self.inputs, dict(start), self.scope, self.flow)

    def __call__(self, actions: FloatArray, horizon: float) -> Prediction:
        """Follow the equations from the start."""
        n_inner = max(-(-(_N_ROWS - 1) // len(actions)), 1)
        times = np.linspace(0.0, horizon, n_inner * len(actions) + 1)
        held = np.repeat(actions, n_inner, axis=0)
        held = np.vstack([held, actions[-1:]])
        columns = {name: held[:, k] for k, name in enumerate(self.inputs)}
        fixed = {n: v for n, v in self.start.items() if n not in (*self.dynamics.states, *columns)}
        columns |= {name: np.full(len(times), float(v)) for name, v in fixed.items()}
        path = self._quick(times, columns)
        if path is None:
            path = self._careful(times, columns)
        return Prediction({**columns, "t": times, **path}, scope=self.scope)

    def _quick(
        self, times: FloatArray, columns: Mapping[str, FloatArray]
    ) -> dict[str, FloatArray] | None:
        dynamics = self.dynamics
        if self.flow is None or any(name not in columns for name in dynamics.inputs):
            return None
        states = np.zeros((len(times), len(dynamics.states)))
        states[0] = [self.start[name] for name in dynamics.states]
        acting = np.array([columns[name] for name in dynamics.inputs]).reshape(-1, len(times)).T
        samples = Samples.of([(times, states)], [np.ascontiguousarray(acting)])
        found = self.flow.solve(samples, states[:1], np.empty(0), tolerance=_TOLERANCE)
        if found.reached[0] < len(times):
            return None
        return {name: found.states[:, k] for k, name in enumerate(dynamics.states)}

    def _careful(
        self, times: FloatArray, columns: Mapping[str, FloatArray]
    ) -> dict[str, FloatArray]:
        inputs: dict[str, Input] = {n: c for n, c in columns.items() if n in self.dynamics.inputs}
        if "t" in self.dynamics.inputs and "t" not in inputs:
            inputs["t"] = _identity
        start = {name: self.start[name] for name in self.dynamics.states}
        return self.dynamics.rollout(start, times, inputs)


def _identity(t: float) -> float:
    return t


def _compiled(dynamics: Dynamics) -> Flow | None:
    """Return the system for the compiled solver; none where rates have floors of several kinds."""
    equations = list(dynamics.equations.values())
    laws = [*dynamics.laws.values(), *(r for r in dynamics.known.values() if isinstance(r, Law))]
    floors = {law.floors for law in laws}
    if len(floors) > 1:
        return None
    columns = (*dynamics.states, *dynamics.inputs)
    structures = [structure for structure, _, _ in equations]
    values = [numbers for _, numbers, _ in equations]
    known = next(iter(floors)) if floors else equations[0][2]
    return Flow.known(structures, columns, values, known)


def _joined(parts: Sequence[Mapping[str, FloatArray]]) -> dict[str, FloatArray]:
    """Put paths one after the other; a place where two meet is kept once."""
    joined = {
        name: np.concatenate([parts[0][name], *(part[name][1:] for part in parts[1:])])
        for name in parts[0]
    }
    if "t" in joined:  # each part counts its own time
        ends = np.cumsum([0.0, *(part["t"][-1] for part in parts[:-1])])
        shifted = [part["t"] + end for part, end in zip(parts, ends.tolist(), strict=True)]
        joined["t"] = np.concatenate([shifted[0], *(t[1:] for t in shifted[1:])])
    return joined
