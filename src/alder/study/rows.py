"""Public and protected rows of a study: read, completed, split apart, and checked."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadStudy, BadTable
from alder.records.experiment import Trajectory
from alder.records.grammar import Grammar
from alder.records.protected import ADMISSION, Protected
from alder.records.roles import Roles
from alder.segments import Segments, observation_names, only_whole, require_agreement
from alder.tables import (
    Rows,
    as_columns,
    as_labels,
    column_names,
    require_columns,
    require_squarable,
)

# The share of the rows that is kept from everybody where no protected rows were given.
PROTECTED_SHARE = 0.25
# On fewer rows than this no law can beat the reference at the level of even a first submission.
_FEWEST_PROTECTED = 8
# Fewer rows than this cannot be split: as many have to be left for the fit.
_FEWEST = 2 * _FEWEST_PROTECTED
# Settings are often written with six digits, which may take one on an end just beyond it.
_WRITTEN = 1e-6

Box: TypeAlias = Mapping[str, tuple[float, float]]
"""The two ends of settings by name."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudyRows:
    """The rows of a study by who may see them; `n_dropped` counts incomplete ones left out."""

    initial: Trajectory
    validation: Trajectory | None
    protected: Mapping[str, Mapping[str, FloatArray]]
    n_dropped: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class RowReader:
    """Reads tables of one study: the same columns, and the same numbers for the same group."""

    grammar: Grammar
    roles: Roles

    @property
    def names(self) -> tuple[str, ...]:
        """The columns every table needs."""
        return (*self.grammar.variable_names, self.grammar.target.name, *self.roles.names)

    def read(self, rows: Rows, title: str) -> tuple[dict[str, FloatArray], int]:
        """Return complete rows and how many were left out."""
        require_columns(self.names, column_names(rows), where=title)
        group, sums = self.roles.group, self.roles.sums
        numbers = [name for name in self.names if name not in (group, sums)]
        columns = dict(as_columns(rows, numbers))
        complete = np.all([~np.isnan(columns[name]) for name in numbers], axis=0)
        belongs = None if sums is None else observation_names(rows, sums)
        complete = only_whole(belongs, complete)
        if not len(complete):
            raise BadTable(f"There is not one row among {title}; give some.")
        if not complete.any():
            raise BadTable(f"Every row of {title} misses a value; nothing is left.")
        kept = {name: column[complete] for name, column in columns.items()}
        if group is not None:
            labels = np.array(as_labels(rows, group))[complete]
            kept[group] = np.array([_number_of(label) for label in labels])
        if sums is not None and belongs is not None:
            kept[sums] = belongs[complete]
            for name in (self.grammar.target.name, *self.roles.names):
                require_agreement(Segments.of(kept[sums]), kept[name], name)
        require_squarable({name: kept[name] for name in numbers}, title)
        self._require_positive(kept, title)
        ordered = {name: kept[name] for name in self.names}
        return ordered, int((~complete).sum())

    def _require_positive(self, columns: Mapping[str, FloatArray], title: str) -> None:
        """Refuse error bars and weights that are none."""
        sigma, weight = self.roles.sigma, self.roles.weight
        if sigma is not None and not (columns[sigma] > 0.0).all():
            raise BadTable(f"Error bars must be positive; `{sigma}` in {title} has others.")
        if weight is not None and not (columns[weight] >= 0.0).all():
            raise BadTable(f"Weights must not be negative; `{weight}` in {title} has others.")


def require_inside(rows: Mapping[str, FloatArray], box: Box, title: str) -> None:
    """Refuse rows that were not measured where experiments are allowed."""
    for name, (low, high) in box.items():
        slack = _WRITTEN * (high - low)
        outside = (rows[name] < low - slack) | (rows[name] > high + slack)
        if outside.any():
            raise BadTable(
                f"{title[0].upper()}{title[1:]} have {name} = {rows[name][np.argmax(outside)]:g}, "
                f"outside its range {low:g} to {high:g}; correct them, or tell it as failed."
            )


def _number_of(label: str) -> float:
    """Return a number that stands for a group: its own, or one made from the whole of its name."""
    try:
        number = float(label)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    # Six bytes, so that the number is exact; two of a thousand names agree once in 10^8 studies.
    return float(int.from_bytes(hashlib.sha256(label.encode()).digest()[:6], "big"))


def prepare(
    reader: RowReader,
    initial: Rows,
    validation: Rows | None,
    protected: Protected | None,
    seed: int,
) -> StudyRows:
    """Read all rows; split protected ones off before anything else sees them where none given."""
    public, n_dropped = reader.read(initial, "the initial rows")
    target = reader.grammar.target.name
    if public[target].min() == public[target].max():
        raise BadTable(
            f"The target `{target}` is {public[target][0]:g} in every initial row; a law needs "
            f"rows in which it varies."
        )
    held_out = None
    if validation is not None:
        columns, dropped = reader.read(validation, "the validation rows")
        held_out = Trajectory(columns)
        n_dropped += dropped
    if protected is None:
        hidden = _split(public, reader.roles, seed)
        sealed = {ADMISSION: {name: column[hidden] for name, column in public.items()}}
        public = {name: column[~hidden] for name, column in public.items()}
    else:
        sealed: dict[str, dict[str, FloatArray]] = {}
        for role, table in protected.tables().items():
            sealed[role], dropped = reader.read(table, f"the protected rows ({role})")
            n_dropped += dropped
        public_rows = [public] if held_out is None else [public, held_out.columns]
        # Numbers of observations mean something within one table only.
        compared = [name for name in reader.names if name != reader.roles.sums]
        _refuse_shared(public_rows, sealed, compared)
    return StudyRows(Trajectory(public), held_out, sealed, n_dropped)


def _split(rows: Mapping[str, FloatArray], roles: Roles, seed: int) -> NDArray[np.bool_]:
    """Mark the rows to protect: whole groups, or the last in time, or a random share."""
    if roles.sums is not None:
        observed, belongs = _observed(rows, roles)
        return _split(observed, replace(roles, sums=None), seed)[belongs]
    n = len(next(iter(rows.values())))
    if n < _FEWEST:
        raise BadStudy(
            f"{n} rows are too few to keep some from everybody but the verifier; give at least "
            f"{_FEWEST}, or `protected` rows of their own."
        )
    wanted = max(round(PROTECTED_SHARE * n), _FEWEST_PROTECTED)
    hidden = np.zeros(n, dtype=np.bool_)
    rng = np.random.default_rng([seed, n])
    if roles.group is not None and len(np.unique(rows[roles.group])) > 1:
        groups = rng.permutation(np.unique(rows[roles.group]))
        for group in groups[: len(groups) - 1]:
            if hidden.sum() >= wanted:
                break
            hidden |= rows[roles.group] == group
    elif roles.time is not None:
        hidden[np.argsort(rows[roles.time], kind="stable")[n - wanted :]] = True
    else:
        hidden = _first_copies(rows, rng.permutation(n), wanted)
    return hidden


def _observed(
    rows: Mapping[str, FloatArray], roles: Roles
) -> tuple[dict[str, FloatArray], NDArray[np.intp]]:
    """Return one row for each observation, and the number of the one each row belongs to.

    Of its rows only a number is kept that copies share, whatever the order of their rows.
    """
    assert roles.sums is not None
    segments = Segments.of(rows[roles.sums])
    values = np.column_stack([column for name, column in rows.items() if name != roles.sums])
    parts = np.split(values[segments.order], segments.starts[1:])
    contents = [part[np.lexsort(part.T)].tobytes() for part in parts]
    number = {content: float(index) for index, content in enumerate(dict.fromkeys(contents))}
    kept = {name: segments.first(rows[name]) for name in (roles.group, roles.time) if name}
    kept[roles.sums] = np.array([number[content] for content in contents])
    return kept, segments.number(len(values))


def _first_copies(
    rows: Mapping[str, FloatArray], order: NDArray[np.intp], wanted: int
) -> NDArray[np.bool_]:
    """Mark rows in the order given, each with all its copies: a copy would give it away."""
    _, first, copy_of, counts = np.unique(
        np.column_stack([*rows.values()])[order],
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    by_place = np.argsort(first)
    before = np.cumsum(counts[by_place]) - counts[by_place]
    chosen = np.isin(copy_of.ravel(), by_place[before < wanted])
    hidden = np.zeros(len(order), dtype=np.bool_)
    hidden[order[chosen]] = True
    return hidden


def _refuse_shared(
    public: Sequence[Mapping[str, FloatArray]],
    sealed: Mapping[str, Mapping[str, FloatArray]],
    names: Sequence[str],
) -> None:
    """Refuse protected rows that are public already; equal inputs alone are replicates."""
    known = {row for table in public for row in zip(*(table[n] for n in names), strict=True)}
    for role, table in sealed.items():
        rows = list(zip(*(table[n] for n in names), strict=True))
        shared = sum(row in known for row in rows)
        if shared:
            raise BadTable(
                f"{shared} of {len(rows)} protected rows ({role}) are also public, so they would "
                f"verify nothing; leave them out of one of the two."
            )
