"""Sampled trajectories: states and inputs at increasing times, segment after segment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadTable

_FEWEST_ROWS = 2  # of a segment: one row does not move


@final
@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows of several trajectories, one after the other.

    `states` is (rows, states), `inputs` (rows, inputs): what acts from each row to the next.
    Segment s holds the rows from `firsts[s]` to `firsts[s + 1]`.
    """

    times: FloatArray
    states: FloatArray
    inputs: FloatArray
    firsts: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Refuse segments that are too short to move, and times that do not increase."""
        if (np.diff(self.firsts) < _FEWEST_ROWS).any():
            raise BadTable("A trajectory has at least 2 rows; one has fewer.")
        gaps = np.diff(self.times)
        gaps[self.firsts[1:-1] - 1] = 1.0
        if not (gaps > 0.0).all():
            row = int(np.argmin(gaps > 0.0)) + 1
            raise BadTable(
                f"The times of a trajectory must increase; they do not at row {row + 1}. "
                "Sort the rows, or say which column tells trajectories apart."
            )

    @staticmethod
    def of(
        trajectories: Sequence[tuple[FloatArray, FloatArray]],
        inputs: Sequence[FloatArray] | None = None,
    ) -> "Samples":
        """Put trajectories, each times (n) and states (n, d), one below the other."""
        times = [np.asarray(t, dtype=np.float64) for t, _ in trajectories]
        states = [np.asarray(x, dtype=np.float64) for _, x in trajectories]
        acting = [np.zeros((len(t), 0)) for t in times] if inputs is None else list(inputs)
        firsts = np.concatenate([[0], np.cumsum([len(t) for t in times])]).astype(np.int64)
        return Samples(
            np.concatenate(times), np.concatenate(states), np.concatenate(acting), firsts
        )

    @property
    def n_segments(self) -> int:
        """Count the segments."""
        return len(self.firsts) - 1

    @property
    def n_states(self) -> int:
        """Count the states."""
        return self.states.shape[1]

    def rows_of(self, segment: int) -> slice:
        """Return the rows of one segment."""
        return slice(int(self.firsts[segment]), int(self.firsts[segment + 1]))

    def segment_of(self) -> NDArray[np.int64]:
        """Return the segment each row belongs to."""
        return np.repeat(np.arange(self.n_segments), np.diff(self.firsts))

    def start_rows(self) -> FloatArray:
        """Return the first states of every segment, (segments, states)."""
        return self.states[self.firsts[:-1]]

    def take(self, segments: Sequence[int]) -> "Samples":
        """Return some of the segments, in the order asked for."""
        parts = [self.rows_of(int(s)) for s in segments]
        rows = np.concatenate([np.arange(part.start, part.stop, dtype=np.int64) for part in parts])
        lengths = [part.stop - part.start for part in parts]
        return Samples(
            self.times[rows],
            self.states[rows],
            self.inputs[rows],
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        )

    def split_ends(self, share: int) -> "tuple[Samples, Samples | None]":
        """Cut the last of `share` parts off every segment: what comes before, and these ends.

        Both have at least two rows; a segment too short for that stays whole in the first part.
        There are no ends where all are.

        >>> t = np.arange(12.0)
        >>> early, ends = Samples.of([(t[:4], t[:4, None]), (t, t[:, None])]).split_ends(4)
        >>> early.firsts, ends.firsts
        (array([ 0,  4, 13]), array([0, 3]))
        """
        lengths = np.diff(self.firsts)
        before = (lengths * (share - 1)) // share
        whole = np.minimum(before, lengths - before) < _FEWEST_ROWS
        cuts = (self.firsts[:-1] + before)[~whole]
        pieces = replace(self, firsts=np.unique(np.concatenate([self.firsts, cuts])))
        is_end = np.isin(pieces.firsts[:-1], cuts)
        early = pieces.take(np.flatnonzero(~is_end).tolist())
        return early, pieces.take(np.flatnonzero(is_end).tolist()) if len(cuts) else None

    def cut(self, length: int) -> "Samples":
        """Cut every segment into pieces of about `length` intervals that share no row.

        No piece has less than two rows.

        >>> t = np.arange(7.0)
        >>> Samples.of([(t, t[:, None])]).cut(3).firsts
        array([0, 4, 7])
        >>> Samples.of([(t, t[:, None])]).cut(2).firsts
        array([0, 2, 5, 7])
        """
        firsts = [0]
        for first, last in zip(self.firsts[:-1].tolist(), self.firsts[1:].tolist(), strict=True):
            n_rows = last - first
            n_pieces = max(1, min(round(n_rows / max(length, 2)), n_rows // 2))
            width = n_rows / n_pieces
            firsts.extend(first + round(width * (k + 1)) for k in range(n_pieces))
        return replace(self, firsts=np.array(firsts, dtype=np.int64))

    def with_states(self, states: FloatArray) -> "Samples":
        """Return the same rows with other states."""
        return replace(self, states=states)
