"""Rows made ready for a fit: the columns a law needs, the target, error bars, weights, groups."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray, freeze
from alder.errors import BadTable
from alder.records.roles import Roles
from alder.segments import Segments, observation_names, only_whole, require_agreement
from alder.tables import Rows, as_columns, as_labels, column_names, require_columns


@final
@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Complete rows: columns (variables, n), target (n), and what is known about each row.

    `sigma` and `weight` are (n) or empty; `group` holds one index into `groups` per row, or is
    empty. `n_dropped` counts rows left out because a value was missing. Where targets are sums
    over rows, the rows of an observation lie together, `segments` says where, and everything but
    `columns` has one entry per observation.
    """

    names: tuple[str, ...]
    columns: FloatArray
    target: FloatArray
    sigma: FloatArray
    weight: FloatArray
    group: NDArray[np.int64]
    groups: tuple[str, ...]
    n_dropped: int
    segments: Segments = field(default_factory=Segments)

    @property
    def n_rows(self) -> int:
        """Count the complete rows."""
        return self.columns.shape[1]

    @property
    def n_observations(self) -> int:
        """Count the targets: as many as rows, unless a target is a sum over several."""
        return len(self.target)

    @property
    def by_name(self) -> dict[str, FloatArray]:
        """The columns as a mapping; zeros stand in where a law has no variables."""
        return dict(zip(self.names, self.columns, strict=True)) or {"": np.zeros(self.n_rows)}

    def weights(self) -> FloatArray:
        """Return the weight of each squared residual before any noise is estimated.

        One over the variance where there are error bars; of mean one for plain weights.
        """
        if len(self.sigma):
            return 1.0 / np.square(self.sigma) * (self.weight if len(self.weight) else 1.0)
        if len(self.weight):
            return self.weight / self.weight.mean()
        return np.ones(self.n_observations)


def observe(rows: Rows, target: str, names: Sequence[str], roles: Roles) -> Observations:
    """Pick the columns a fit needs, drop incomplete rows, and refuse what no fit can use."""
    apart = [n for n in (roles.sigma, roles.weight, roles.group, roles.sums) if n is not None]
    require_columns([*names, target, *apart], column_names(rows))
    wanted = [*names, target, *(n for n in (roles.sigma, roles.weight) if n is not None)]
    columns = as_columns(rows, wanted)
    complete = np.all([~np.isnan(columns[name]) for name in wanted], axis=0)
    belongs = observation_names(rows, roles.sums) if roles.sums is not None else None
    complete = only_whole(belongs, complete)
    labels = as_labels(rows, roles.group) if roles.group is not None else ()
    if not complete.any():
        raise BadTable("Every row has a missing value in a column the law needs; nothing is left.")
    y = columns[target][complete]
    sigma = columns[roles.sigma][complete] if roles.sigma is not None else np.empty(0)
    weight = columns[roles.weight][complete] if roles.weight is not None else np.empty(0)
    if len(sigma) and not (sigma > 0.0).all():
        raise BadTable(f"Error bars must be positive; column `{roles.sigma}` has others.")
    if len(weight) and not ((weight >= 0.0).all() and weight.any()):
        raise BadTable(f"Weights must not be negative; column `{roles.weight}` has others.")
    kept = [label for label, keep in zip(labels, complete, strict=True) if keep] if labels else []
    groups = tuple(dict.fromkeys(kept))
    index_of = {label: index for index, label in enumerate(groups)}
    stacked = np.array([columns[name][complete] for name in names], dtype=np.float64)
    found = Observations(
        names=tuple(names),
        columns=freeze(stacked.reshape(len(names), len(y))),
        target=freeze(y),
        sigma=freeze(sigma),
        weight=freeze(weight),
        group=np.array([index_of[label] for label in kept], dtype=np.int64),
        groups=groups,
        n_dropped=int((~complete).sum()),
    )
    return found if belongs is None else _summed(found, belongs[complete], target, roles)


def _summed(rows: Observations, belongs: FloatArray, target: str, roles: Roles) -> Observations:
    """Put the rows of each observation together, and keep one target for each."""
    segments = Segments.of(belongs)
    shared = {target: rows.target, roles.sigma: rows.sigma, roles.weight: rows.weight}
    shared[roles.group] = rows.group.astype(np.float64)
    for name, values in shared.items():
        if name is not None and len(values):
            require_agreement(segments, values, name)

    def first(values: FloatArray) -> FloatArray:
        return freeze(segments.first(values)) if len(values) else values

    return Observations(
        names=rows.names,
        columns=freeze(rows.columns[:, segments.order]),
        target=first(rows.target),
        sigma=first(rows.sigma),
        weight=first(rows.weight),
        group=first(rows.group.astype(np.float64)).astype(np.int64),
        groups=rows.groups,
        n_dropped=rows.n_dropped,
        segments=Segments(np.arange(rows.n_rows), segments.starts),
    )


def require_varying_target(observations: Observations, target: str) -> None:
    """Raise `BadTable` where the target is the same in every row: any law would fit it."""
    y = observations.target
    if y.min() == y.max():
        raise BadTable(
            f"The target `{target}` is {y[0]:g} in every row; a law needs rows in which it varies."
        )
