"""A table of samples as trajectories: where each begins and ends, and which are held back."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadParameter, BadTable
from alder.fitting.samples import Samples
from alder.proposers.states.finding import Setting
from alder.segments import observation_names
from alder.tables import Rows, as_columns, column_names, require_columns

_HELD_SHARE = 4  # one trajectory in so many is held back, or the last such part of each
_SHORTEST = 4  # samples of a trajectory
_FEWEST = 20  # samples below which nothing is sought
_MAY_BE_LOST = 0.1  # of the samples: in more, a time that goes back is no new trajectory


def read_samples(rows: Rows, setting: Setting, time: str, group: str | None) -> Samples:
    """Return the trajectories of a table; rows that miss a number end a trajectory there."""
    there = column_names(rows)
    timed = time in there or not setting.discrete
    _require_apart(setting, time)
    require_columns([*setting.columns, *([time] if timed else []), *([group] if group else [])],
                    there)  # fmt: skip
    table = as_columns(rows, setting.columns)
    n = len(table[setting.columns[0]])
    t = as_columns(rows, [time])[time] if timed else np.arange(n, dtype=np.float64)
    labels = observation_names(rows, group) if group else np.zeros(n)
    values = np.stack([table[name] for name in setting.columns], axis=1)
    whole = np.isfinite(values).all(axis=1) & np.isfinite(t)
    joint = np.zeros(n, dtype=np.bool_)
    joint[1:] = (labels[1:] == labels[:-1]) & whole[1:] & whole[:-1]
    _require_another_time(time, t, joint)
    back = joint[1:] & (np.diff(t) < 0.0)
    if not group:
        joint[1:] &= ~back
    starts = np.flatnonzero(~joint & whole)
    ends = [int(np.flatnonzero(np.append(~joint[s + 1 :], True))[0]) + s + 1 for s in starts]
    parts = [slice(int(s), e) for s, e in zip(starts, ends, strict=True) if e - s >= _SHORTEST]
    n_kept = sum(int(part.stop) - int(part.start) for part in parts)
    if not group and n_kept < (1.0 - _MAY_BE_LOST) * int(whole.sum()) and back.any():
        raise BadTable(
            f"The time `{time}` goes back at {int(back.sum())} of {n} rows, first after row "
            f"{int(np.flatnonzero(back)[0]) + 1}, which leaves trajectories too short to follow. "
            "Sort the rows by time, or name the column that tells runs apart with `group`."
        )
    if n_kept < _FEWEST:
        raise BadTable(_too_few(n_kept, int(whole.sum()), n, _empty(setting.columns, values)))
    d = len(setting.states)
    return Samples.of(
        [(t[part], values[part, :d]) for part in parts], [values[part, d:] for part in parts]
    )


def hold_back(samples: Samples) -> tuple[Samples, Samples]:
    """Take whole trajectories away for the verifier, or the last part of each."""
    n = samples.n_segments
    if n >= _HELD_SHARE:
        held = list(range(1, n, _HELD_SHARE))
        return samples.take([s for s in range(n) if s not in held]), samples.take(held)
    lengths = np.diff(samples.firsts)
    cuts = samples.firsts[:-1] + (lengths * (_HELD_SHARE - 1)) // _HELD_SHARE
    pieces = replace(samples, firsts=np.unique(np.concatenate([samples.firsts, cuts])))
    early = list(range(0, pieces.n_segments, 2))
    return pieces.take(early), pieces.take([s for s in range(pieces.n_segments) if s not in early])


def _require_apart(setting: Setting, time: str) -> None:
    columns = setting.columns
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise BadParameter(
            f"A column is a state or an input, and stands only once; `{twice}` repeats."
        )
    if time in setting.states:
        raise BadParameter(f"`{time}` is the time, which is no state; leave it out of the states.")


def _require_another_time(time: str, t: FloatArray, joint: NDArray[np.bool_]) -> None:
    """Refuse a time that repeats within a trajectory: what happened in between took none."""
    still = np.flatnonzero(joint[1:] & (np.diff(t) == 0.0))
    if len(still):
        row, more = int(still[0]) + 2, len(still) - 1
        others = f" {more} further rows do so too." if more else ""
        raise BadTable(
            f"Row {row} has the time of the row before it, {time} = {t[row - 1]:g}.{others} Every "
            "sample of a trajectory has a time of its own: correct or drop such rows, or name the "
            "column that tells runs apart with `group`."
        )


def _empty(columns: Sequence[str], values: FloatArray) -> str:
    """Name the columns without a number in them."""
    names = [name for i, name in enumerate(columns) if not np.isfinite(values[:, i]).any()]
    return f" Empty: {', '.join(names)}." if names else ""


def _too_few(n_kept: int, n_whole: int, n_rows: int, empty: str) -> str:
    return (
        f"Of {n_rows} rows {n_whole} have every number, and {n_kept} of these are in trajectories "
        f"of at least {_SHORTEST}; {_FEWEST} are the fewest that say anything of a motion.{empty}"
    )
