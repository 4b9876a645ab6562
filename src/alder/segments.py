r"""Rows that make up one observation: a target that is the sum of a law over several rows.

$$y_o = \sum_{n \in o} f(x_n)$$

The map from rows to observations is linear, so that what holds of values holds of derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.tables import Rows, as_columns, as_labels


def _no_rows() -> NDArray[np.intp]:
    return np.empty(0, np.intp)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Which rows belong to which observation; by default every row is one by itself.

    `order` lists the rows observation by observation, and `starts` where each begins in that
    list. Both are empty where nothing is summed.

    >>> pairs = Segments.of(np.array([7.0, 7.0, 2.0]))
    >>> pairs.total(np.array([1.0, 2.0, 5.0])), pairs.number(3)
    (array([3., 5.]), array([0, 0, 1]))
    """

    order: NDArray[np.intp] = field(default_factory=_no_rows)
    starts: NDArray[np.intp] = field(default_factory=_no_rows)

    @staticmethod
    def of(names: FloatArray | None) -> "Segments":
        """Read the observation of each row from a column; those met first come first."""
        if names is None or not len(names):
            return Segments()
        _, first, index = np.unique(names, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first, kind="stable"), kind="stable")[index.ravel()]
        order = np.argsort(number, kind="stable")
        return Segments(order, np.searchsorted(number[order], np.arange(len(first))))

    @property
    def summed(self) -> bool:
        """Whether observations may be of several rows."""
        return len(self.starts) > 0

    def count(self, n_rows: int) -> int:
        """Count the observations of so many rows."""
        return len(self.starts) if self.summed else n_rows

    def total(self, values: FloatArray) -> FloatArray:
        """Sum values (n) or (n, k) over the rows of each observation."""
        if not self.summed:
            return values
        with np.errstate(over="ignore", invalid="ignore"):
            return np.add.reduceat(values[self.order], self.starts, axis=0)

    def mean(self, values: FloatArray) -> FloatArray:
        """Average values over the rows of each observation."""
        return self.total(values) / self.total(np.ones(len(values))) if self.summed else values

    def first(self, values: FloatArray) -> FloatArray:
        """Return the value of each observation's first row."""
        return values[self.order][self.starts] if self.summed else values

    def number(self, n_rows: int) -> NDArray[np.intp]:
        """Return the number of the observation each row belongs to."""
        if not self.summed:
            return np.arange(n_rows)
        number = np.empty(n_rows, np.intp)
        lengths = np.diff(np.append(self.starts, n_rows))
        number[self.order] = np.repeat(np.arange(len(self.starts)), lengths)
        return number

    def take(self, chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], "Segments"]:
        """Return the rows of chosen observations, one after the other, and how they belong.

        >>> rows, pairs = Segments.of(np.array([7.0, 7.0, 2.0])).take(np.array([1, 0]))
        >>> rows, pairs.starts
        (array([2, 0, 1]), array([0, 1]))
        """
        if not self.summed:
            return chosen, self
        lengths = np.diff(np.append(self.starts, len(self.order)))[chosen]
        starts = np.cumsum(lengths) - lengths
        places: NDArray[np.intp] = np.arange(int(lengths.sum()))
        places = places + np.repeat(self.starts[chosen] - starts, lengths)
        return self.order[places], Segments(np.arange(len(places)), starts)

    def agree(self, values: FloatArray) -> bool:
        """Say whether all rows of each observation hold the same value."""
        return bool((values == self.first(values)[self.number(len(values))]).all())


def observation_names(rows: Rows, name: str) -> FloatArray:
    """Return a number for the observation each row belongs to; texts are numbered as they come.

    Numbers mean something within one table only: two tables may both have an observation 1.
    """
    try:
        names = as_columns(rows, [name])[name]
    except BadTable:
        labels = as_labels(rows, name)
        number = {label: float(index) for index, label in enumerate(dict.fromkeys(labels))}
        names = np.array([number[label] for label in labels])
    if np.isnan(names).any():
        raise BadTable(
            f"Column `{name}` names the observation each row belongs to, and row "
            f"{int(np.argmax(np.isnan(names))) + 1} has none; fill it in, or leave the row out."
        )
    return names


def numbered_through(tables: Sequence[FloatArray]) -> FloatArray:
    """Number observations through several tables, one below the other.

    >>> numbered_through([np.array([5.0, 5.0]), np.array([5.0, 6.0])])
    array([0., 0., 1., 2.])
    """
    found: list[FloatArray] = [np.empty(0)]
    before = 0
    for names in tables:
        segments = Segments.of(names)
        found.append(before + segments.number(len(names)).astype(np.float64))
        before += segments.count(len(names))
    return np.concatenate(found)


def only_whole(names: FloatArray | None, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Keep observations all of whose rows are kept: without a row, a sum lacks a term."""
    return keep if names is None else keep & ~np.isin(names, names[~keep])


def require_agreement(segments: Segments, values: FloatArray, name: str) -> None:
    """Raise `BadTable` where rows of one observation hold several values of a column."""
    if segments.summed and not segments.agree(values):
        raise BadTable(
            f"Rows of one observation must share `{name}`: it belongs to their sum. Some differ; "
            "repeat the same value on each of these rows."
        )
