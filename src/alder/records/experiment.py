"""What can be asked of a world, and what it answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray, freeze, freeze_columns

Setting: TypeAlias = float | int | str | bool

HORIZON = "horizon"
"""The setting that says how long an experiment lasts, in worlds that move."""


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    """The settings of one experiment; the id is unique in its world."""

    id: str
    settings: Mapping[str, Setting]
    cost: float = 1.0

    def __post_init__(self) -> None:
        """Freeze the settings."""
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """The rows one experiment produced: columns of one length, the target among them.

    `experiment` is empty for rows that were there before the first experiment.
    """

    columns: Mapping[str, FloatArray]
    experiment: str = ""

    def __post_init__(self) -> None:
        """Freeze the columns."""
        object.__setattr__(self, "columns", freeze_columns(self.columns))

    @property
    def n_rows(self) -> int:
        """Count the rows."""
        return len(next(iter(self.columns.values()))) if self.columns else 0


@final
@dataclass(frozen=True, slots=True)
class FailedRun:
    """An experiment that gave no rows, and why."""

    experiment: str
    reason: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The experiments a world offers, as columns: what a selector may know before asking.

    Row i of every array belongs to experiment `ids[i]`. `columns` holds the inputs of the law
    where one experiment is one row; worlds whose experiments are rollouts put their knobs here.
    """

    ids: Sequence[str]
    columns: Mapping[str, FloatArray]
    cost: FloatArray
    safe: NDArray[np.bool_]

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        object.__setattr__(self, "columns", freeze_columns(self.columns))
        object.__setattr__(self, "cost", freeze(self.cost))

    def __len__(self) -> int:
        """Count the experiments."""
        return len(self.ids)

    def experiment(self, index: int) -> Experiment:
        """Return one experiment with its settings."""
        settings = {name: float(column[index]) for name, column in self.columns.items()}
        return Experiment(self.ids[index], settings, float(self.cost[index]))


def join(trajectories: Sequence[Trajectory], names: Sequence[str]) -> dict[str, FloatArray]:
    """Put the rows of several trajectories one below the other."""
    return {
        name: np.concatenate([t.columns[name] for t in trajectories])
        if trajectories
        else np.empty(0)
        for name in names
    }
