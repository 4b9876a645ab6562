"""Trajectories that were recorded before, and simulators of a user's own, as systems to ask."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.records.experiment import HORIZON, Setting
from alder.spelling import listed
from alder.tables import Rows, as_columns, as_labels, column_names, require_columns
from alder.worlds.offers import Settings
from alder.worlds.system import Point, Rate, Sampling, System

TRAJECTORY = "trajectory"
"""The setting that names a recorded trajectory."""

TIME = "t"
"""The column of the time in what a system shows."""

Source = Callable[[Settings], Rows]
"""What answers an experiment on a system instead of its right-hand side: settings to rows."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Recorded trajectories: a system, an experiment and the rows of each, when rows are taken."""

    system: System
    experiments: Sequence[Settings]
    sampling: Sampling
    source: Source


def untold(states: Sequence[str], known: Mapping[str, str]) -> dict[str, Rate]:
    """Return rates of which only the known ones are told."""
    if not states:
        raise BadWorld('No state is named; name one or more states, such as states=["x", "v"].')
    for name, column in known.items():
        if name not in states:
            raise BadWorld(f"`{name}` has a known rate but is no state; {listed(states)}.")
        if not column.isidentifier():
            raise BadWorld(
                f"The known rate of `{name}` is `{column}`, which is no column; name the column "
                "that is its derivative, or leave it to be found."
            )

    def secret(_t: float, _point: Point) -> float:
        raise BadWorld("The rate of a system that was recorded is not known.")

    return {name: known.get(name, secret) for name in states}


def read_recorded(
    rows: Rows,
    *,
    states: Sequence[str],
    inputs: Sequence[str],
    time: str,
    group: str | None,
    known: Mapping[str, str],
) -> Recorded:
    """Read trajectories with derivatives; each is an experiment that reveals its rows."""
    _require_free(time, (*states, *inputs))
    rates = untold(states, known)
    derivatives = [f"d{name}_dt" for name in states if name not in known]
    there = column_names(rows)
    lacking = [name for name in derivatives if name not in there]
    if lacking and not set(derivatives) & set(there):
        raise BadWorld(
            f"The rows have no derivatives: {', '.join(lacking)} are no columns. Record them, or "
            "use discover_states, which needs none."
        )
    names = [time, *states, *inputs, *derivatives]
    require_columns([*names, *([group] if group else [])], there)
    columns = as_columns(rows, names)
    parts = _parts(columns[time], as_labels(rows, group) if group else None)
    if not parts:
        raise BadWorld("The rows hold no trajectory of at least 2 rows.")
    tables = {
        str(number): {
            **{name: columns[name][part] for name in names},
            TIME: columns[time][part] - columns[time][part][0],
        }
        for number, part in enumerate(parts, start=1)
    }
    spans = {name: float(np.ptp(table[TIME])) for name, table in tables.items()}
    experiments: list[dict[str, Setting]] = [
        {
            **{state: float(table[state][0]) for state in states},
            HORIZON: spans[name],
            TRAJECTORY: name,
        }
        for name, table in tables.items()
    ]
    typical = int(np.median([part.stop - part.start for part in parts]))

    system = System(rates, inputs=_acting(tables, inputs) if inputs else None)
    return Recorded(
        system,
        experiments,
        Sampling(float(np.median(list(spans.values()))), max(typical, 2)),
        lambda settings: tables[str(settings[TRAJECTORY])],
    )


def _require_free(time: str, names: Sequence[str]) -> None:
    """Refuse a column with the name that the time gets, where the time has another."""
    if time != TIME and TIME in names:
        raise BadWorld(
            f"The time `{time}` is called `{TIME}` in what the world shows, and a state or an "
            "input has that name already; rename its column."
        )


def _acting(
    tables: Mapping[str, Mapping[str, FloatArray]], inputs: Sequence[str]
) -> Callable[[float, Settings], Point]:
    """Return the recorded inputs by time; one that the settings hold is a constant instead."""

    def acting(t: float, settings: Settings) -> dict[str, float]:
        asked = [name for name in inputs if name not in settings]
        if not asked:
            return {}
        table = tables.get(str(settings.get(TRAJECTORY, "")))
        if table is None:
            raise BadWorld(
                f"A start says what acts on it: give `{asked[0]}` a value, or name the recorded "
                f"trajectory whose inputs it has, {TRAJECTORY}=1 to {len(tables)}."
            )
        last = int(np.searchsorted(table[TIME], t * (1.0 + 1e-12), side="right"))
        return {name: float(table[name][max(last - 1, 0)]) for name in asked}

    return acting


def _parts(times: FloatArray, labels: Sequence[object] | None) -> list[slice]:
    """Return the rows of each trajectory: of one group, or until the time goes back."""
    begins = np.ones(len(times), dtype=np.bool_)
    begins[1:] = np.diff(times) <= 0.0
    if labels is not None:
        begins[1:] |= [one != other for one, other in pairwise(labels)]
    firsts = [*np.flatnonzero(begins).tolist(), len(times)]
    parts = [slice(a, b) for a, b in pairwise(firsts)]
    return [part for part in parts if part.stop - part.start >= 2]
