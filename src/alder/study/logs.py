"""A table of samples as trajectories: where each begins and ends, and which are held back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadParameter, BadTable
from alder.fitting.samples import Samples
from alder.proposers.states.finding import Setting
from alder.segments import Segments, observation_names
from alder.tables import Rows, as_columns, column_names, require_columns, require_squarable

_HELD_SHARE = 4  # one trajectory in so many is held back, or the last such part of each
_SHORTEST = 4  # samples of a trajectory
_FEWEST = 20  # samples below which nothing is sought
_MAY_BE_LOST = 0.1  # of the samples: in more, a time that goes back is no new trajectory
_REGULAR, _ALIKE = 0.9, 0.3  # share of intervals that differ by less than this from the usual one
_MISSING = 1.5  # times the usual interval: where samples are regular, one is missing in between


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The trajectories of a table, and how many of its rows are in none of them.

    `n_incomplete` rows miss a number; `n_short` have every number but stand in trajectories that
    are too short to follow. At `n_gaps` places a trajectory ends since rows are missing.
    """

    samples: Samples
    n_incomplete: int
    n_short: int
    n_gaps: int = 0


def read_samples(rows: Rows, setting: Setting, time: str, group: str | None) -> Reading:
    """Return the trajectories of a table; rows that miss a number end a trajectory there.

    The rows of one group belong together wherever they stand in the table. A group whose time goes
    back where other groups stood in between has been used again: another trajectory begins there.
    """
    table, order = _gathered(rows, setting, time, group)
    n, d = len(order), len(setting.states)
    whole = np.isfinite(table.values).all(axis=1) & np.isfinite(table.t)
    joint = np.zeros(n, dtype=np.bool_)
    joint[1:] = (table.labels[1:] == table.labels[:-1]) & whole[1:] & whole[:-1]
    told = _Told(time, group, order)
    told.require_another(table.t, joint)
    back = joint & (np.diff(table.t, prepend=table.t[:1]) < 0.0)
    if group:
        told.require_later(table.t, back)
    joint &= ~back
    # What an input did where rows are missing, and what a map did, is not known.
    gaps = _gaps(table.t, joint) if setting.inputs or setting.discrete else np.zeros_like(joint)
    joint &= ~gaps
    starts = np.flatnonzero(~joint & whole)
    ends = [int(np.flatnonzero(np.append(~joint[s + 1 :], True))[0]) + s + 1 for s in starts]
    parts = [slice(int(s), e) for s, e in zip(starts, ends, strict=True) if e - s >= _SHORTEST]
    n_kept, n_whole = sum(int(part.stop) - int(part.start) for part in parts), int(whole.sum())
    if back.any() and n_kept < (1.0 - _MAY_BE_LOST) * n_whole:
        raise BadTable(told.goes_back(back))
    if n_kept < _FEWEST:
        raise BadTable(_too_few(n_kept, n_whole, n, _empty(setting.columns, table.values)))
    samples = Samples.of(
        [(table.t[part], table.values[part, :d]) for part in parts],
        [table.values[part, d:] for part in parts],
    )
    return Reading(samples, n - n_whole, n_whole - n_kept, int(gaps.sum()))


def _gaps(t: FloatArray, joint: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say before which rows others are missing: where nearly all intervals are of one length."""
    intervals = np.diff(t, prepend=t[:1])
    usual = float(np.median(intervals[joint])) if joint.any() else 0.0
    alike = np.abs(intervals[joint] - usual) <= _ALIKE * usual
    if not joint.any() or alike.mean() < _REGULAR:
        return np.zeros(len(t), dtype=np.bool_)
    return joint & (intervals > _MISSING * usual)


def hold_back(samples: Samples) -> tuple[Samples, Samples]:
    """Take whole trajectories away for the verifier, or the last part of each."""
    n = samples.n_segments
    if n >= _HELD_SHARE:
        held = list(range(1, n, _HELD_SHARE))
        return samples.take([s for s in range(n) if s not in held]), samples.take(held)
    early, ends = samples.split_ends(_HELD_SHARE)
    if ends is None:
        raise BadTable("Every trajectory is too short to hold its end back; record longer ones.")
    return early, ends


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Gathered:
    """Times (n), states and inputs (n, columns), and a number for the group of each row."""

    t: FloatArray
    values: FloatArray
    labels: FloatArray


def _gathered(
    rows: Rows, setting: Setting, time: str, group: str | None
) -> tuple[_Gathered, NDArray[np.intp]]:
    """Return the rows of a log group by group, and the row of the table each was."""
    there = column_names(rows)
    timed = time in there or not setting.discrete
    _require_apart(setting, time)
    names = [*setting.columns, *([time] if timed else [])]
    require_columns([*names, *([group] if group else [])], there)
    table = as_columns(rows, names)
    require_squarable({name: column[np.isfinite(column)] for name, column in table.items()},
                      "the log")  # fmt: skip
    n = len(table[setting.columns[0]])
    labels = observation_names(rows, group) if group else np.zeros(n)
    order = Segments.of(labels).order
    t = table[time][order] if timed else np.arange(n, dtype=np.float64)
    values = np.stack([table[name][order] for name in setting.columns], axis=1)
    return _Gathered(t, values, labels[order]), order


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """Which row of the table a sentence names, and what its user has said already."""

    time: str
    group: str | None
    order: NDArray[np.intp]

    def require_another(self, t: FloatArray, joint: NDArray[np.bool_]) -> None:
        """Refuse a time that repeats within a trajectory: what happened in between took none."""
        still = np.flatnonzero(joint[1:] & (np.diff(t) == 0.0)) + 1
        if len(still):
            k, more = int(still[0]), len(still) - 1
            others = f" {more} further rows do so too." if more else ""
            raise BadTable(
                f"Row {self._row(k)} has the time of row {self._row(k - 1)}, {self.time} = "
                f"{t[k]:g}.{others} Every sample of a trajectory has a time of its own: correct or "
                f"drop such rows{self._or_name()}."
            )

    def require_later(self, t: FloatArray, back: NDArray[np.bool_]) -> None:
        """Refuse a time that goes back in a group, but where a whole trajectory stood before."""
        begins = np.flatnonzero(np.diff(self.order, prepend=-2) != 1)
        again = np.zeros(len(back), dtype=np.bool_)
        again[begins[1:][np.diff(begins) >= _SHORTEST]] = True
        wrong = np.flatnonzero(back & ~again)
        if len(wrong):
            k = int(wrong[0])
            raise BadTable(
                "The times of a trajectory must increase; they do not at row "
                f"{self._row(k)}, where {self.time} = {t[k]:g} follows {t[k - 1]:g} in one value "
                f"of `{self.group}`. Sort the rows by time, or correct it."
            )

    def goes_back(self, back: NDArray[np.bool_]) -> str:
        """Say that trajectories are too short because the time goes back so often."""
        first = self._row(int(np.flatnonzero(back)[0]) - 1)
        return (
            f"The time `{self.time}` goes back at {int(back.sum())} of {len(back)} rows, first "
            f"after row {first}, which leaves trajectories too short to follow. Sort the rows by "
            f"time{self._or_name()}."
        )

    def _row(self, place: int) -> int:
        return int(self.order[place]) + 1

    def _or_name(self) -> str:
        return "" if self.group else ", or name the column that tells runs apart with `group`"


def _require_apart(setting: Setting, time: str) -> None:
    columns = setting.columns
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise BadParameter(
            f"A column is a state or an input, and stands only once; `{twice}` repeats."
        )
    if time in setting.states:
        raise BadParameter(f"`{time}` is the time, which is no state; leave it out of the states.")


def _empty(columns: Sequence[str], values: FloatArray) -> str:
    """Name the columns without a number in them."""
    names = [name for i, name in enumerate(columns) if not np.isfinite(values[:, i]).any()]
    return f" Empty: {', '.join(names)}." if names else ""


def _too_few(n_kept: int, n_whole: int, n_rows: int, empty: str) -> str:
    return (
        f"Of {n_rows} rows {n_whole} have every number, and {n_kept} of these are in trajectories "
        f"of at least {_SHORTEST}; {_FEWEST} are the fewest that say anything of a motion.{empty}"
    )
