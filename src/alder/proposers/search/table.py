"""The public rows as the search reads them: every row counts, validation rows too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.operators import Floors
from alder.records.evidence import Evidence
from alder.records.experiment import join
from alder.segments import Segments, numbered_through

# Fewer rows than this are not tested by themselves.
_ENOUGH = 60


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name (rows), and for each observation its target and the root of its weight.

    An observation is a row, or several whose laws add up to one target. `apart` holds columns
    that every law has for free, (observations, k): one per group where rows come in groups.
    The first `n_given` rows were there before any experiment.
    """

    columns: Mapping[str, FloatArray]
    target: FloatArray
    root: FloatArray
    apart: FloatArray
    segments: Segments
    floors: Floors
    n_given: int = 0

    @property
    def n(self) -> int:
        """Count the observations."""
        return len(self.target)

    @property
    def n_rows(self) -> int:
        """Count the rows."""
        return len(next(iter(self.columns.values()), self.target))

    @property
    def constant(self) -> FloatArray:
        """What is always there: an intercept, or one for each group; (k, observations)."""
        if self.apart.size:
            return self.apart.T
        return self.observed(np.ones((1, self.n_rows)))

    def given(self) -> "Table | None":
        """Return the rows that were there at first, where they are enough and not all."""
        n = self.n_given
        if self.segments.summed or not _ENOUGH <= n < self.n_rows:
            return None
        columns = {name: column[:n] for name, column in self.columns.items()}
        return Table(
            columns, self.target[:n], self.root[:n], self.apart[:n], self.segments, self.floors, n
        )

    def observed(self, columns: FloatArray) -> FloatArray:
        """Sum columns (k, rows) over the rows of each observation; (k, observations)."""
        return self.segments.total(columns.T).T if self.segments.summed else columns


def read_table(evidence: Evidence) -> Table:
    """Join all public rows and drop incomplete ones.

    Description length guards against overfitting, so that no row needs to be held back.
    """
    given = [evidence.initial, *([evidence.validation] if evidence.validation else [])]
    parts = [*given, *evidence.trajectories]
    columns = join(parts, evidence.columns)
    names, roles = evidence.grammar.variable_names, evidence.roles
    if roles.sums is not None:
        columns[roles.sums] = numbered_through([part.columns[roles.sums] for part in parts])
    y = columns[evidence.grammar.target.name]
    root = np.ones(len(y))
    if roles.sigma is not None:
        root = np.median(columns[roles.sigma]) / columns[roles.sigma]
    if roles.weight is not None:
        root = root * np.sqrt(columns[roles.weight] / columns[roles.weight].mean())
    wanted = np.column_stack([y, root, *(columns[name] for name in names)])
    kept: NDArray[np.bool_] = np.all(np.isfinite(wanted), axis=1)
    segments = Segments.of(columns[roles.sums][kept] if roles.sums is not None else None)
    apart = np.empty((len(y), 0))
    if roles.group is not None:
        labels = columns[roles.group]
        apart = (labels[:, None] == np.unique(labels[kept])[None, :]).astype(np.float64)
    return Table(
        {name: columns[name][kept] for name in names},
        segments.first(y[kept]),
        segments.first(root[kept]),
        segments.first(apart[kept]),
        segments,
        evidence.grammar.floors,
        n_given=int(kept[: sum(part.n_rows for part in given)].sum()),
    )
