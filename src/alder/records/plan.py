"""What an action is predicted to lead to, and what was planned: values, refusals among them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray, freeze, freeze_columns

Ends: TypeAlias = Mapping[str, tuple[float, float]]
"""The lowest and the highest value of each of several columns."""
PlanStatus: TypeAlias = Literal["reached", "closest", "refused"]

# Times that differ by this share are the same.
_ROUNDING = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What a forward model says actions lead to: columns along the path, and how it ends.

    `end` is by default the last row of the path; a model may know it better than its rows do.
    `scope` holds ranges of columns outside of which the model means nothing: a path that leaves
    them counts as unsafe, with that reason.

    >>> Prediction({"x": np.array([0.0, 0.4, 0.5])}).end["x"]
    0.5
    """

    path: Mapping[str, FloatArray]
    end: Mapping[str, float] = field(default_factory=dict[str, float])
    scope: Ends = field(default_factory=dict[str, "tuple[float, float]"])

    def __post_init__(self) -> None:
        """Freeze the columns; read the end off the last row where it was not given."""
        path = freeze_columns(self.path)
        last = {name: float(column[-1]) for name, column in path.items() if column.size}
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "end", MappingProxyType({**last, **self.end}))
        object.__setattr__(self, "scope", MappingProxyType(dict(self.scope)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What to do, what it should lead to, and what that took; or why nothing is to be done.

    `status` is "reached" where the prediction is within the tolerance, "closest" where the best
    safe action that was tried misses the target by `error`, and "refused" where there is no safe
    one: then `actions` is empty. `actions` has a row for each move and a column for each of
    `inputs`. `predicted` is the end under the law, `lowest` and `highest` what the laws of the
    credible set say of it. `evaluations` counts every call of a forward model, those that only
    checked for safety too. `verified` is the time for which the equations were followed by a
    verifier, None where there was none.
    """

    status: PlanStatus
    inputs: tuple[str, ...]
    actions: FloatArray
    horizon: float
    target: Mapping[str, float]
    predicted: Mapping[str, float]
    path: Mapping[str, FloatArray]
    error: float
    evaluations: int
    reason: str = ""
    lowest: Mapping[str, float] = field(default_factory=dict[str, float])
    highest: Mapping[str, float] = field(default_factory=dict[str, float])
    verified: float | None = None

    def __post_init__(self) -> None:
        """Freeze arrays and mappings."""
        object.__setattr__(self, "actions", freeze(self.actions))
        object.__setattr__(self, "path", freeze_columns(self.path))
        for name in ("target", "predicted", "lowest", "highest"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def refused(self) -> bool:
        """Whether there is nothing to do."""
        return self.status == "refused"

    @property
    def first(self) -> dict[str, float]:
        """The first move, by input; empty in a refusal."""
        if self.refused:
            return {}
        return dict(zip(self.inputs, self.actions[0].tolist(), strict=True))

    @property
    def beyond(self) -> str:
        """Say that the plan goes on for longer than was verified; nothing where it does not."""
        if self.verified is None or self.horizon <= self.verified * (1.0 + _ROUNDING):
            return ""
        return f"beyond {self.verified:.3g}, for which the equations were verified"

    def __str__(self) -> str:
        """Say the plan in one line."""
        if self.refused:
            return f"refused: {self.reason}"
        moves = ", ".join(
            f"{name} = {' '.join(f'{a:.6g}' for a in self.actions[:, k])}"
            for k, name in enumerate(self.inputs)
        )
        ends = ", ".join(f"{name} {self.predicted[name]:.6g}" for name in self.target)
        beyond = f"; {self.horizon:.3g} is {self.beyond}" if self.beyond else ""
        return f"{self.status}: {moves}; predicted {ends}, error {self.error:.2g}{beyond}"


def nothing_planned(
    inputs: tuple[str, ...], target: Mapping[str, float], reason: str, evaluations: int
) -> Plan:
    """Return a refusal."""
    empty = np.empty((0, len(inputs)))
    return Plan("refused", inputs, empty, 0.0, target, {}, {}, np.inf, evaluations, reason)
