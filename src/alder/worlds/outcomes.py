"""What user code returned, as rows; what cannot be rows becomes the reason of a failed run."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.records.experiment import FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.spelling import printable
from alder.tables import LARGEST, as_columns, column_names
from alder.worlds.offers import Settings


def wanted_columns(grammar: Grammar, roles: Roles) -> tuple[str, ...]:
    """Name the columns every row of a study carries."""
    return (*grammar.variable_names, grammar.target.name, *roles.names)


def as_numbers(value: object) -> FloatArray | None:
    """Return numbers as float64, or None where the value is text, complex or no number at all."""
    if value is None:  # numpy would read it as NaN
        return None
    try:
        array: npt.NDArray[Any] = np.asarray(value)
        if array.dtype.kind not in "biufO":
            return None
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def to_trajectory(
    experiment: str, value: object, settings: Settings, *, wanted: Sequence[str], target: str
) -> Trajectory | FailedRun:
    """Read the target, or rows, as the rows of one experiment.

    A single number is the target at the experiment's own settings. In rows, a wanted column that
    is not there is filled with the setting of that name.
    """
    named = _names(value)
    if named is None:
        number = as_numbers(value)
        if number is None or number.size != 1:
            return FailedRun(experiment, _rubbish(value, target))
        value, named = {target: number.ravel()}, (target,)
    try:
        columns = as_columns(value, [name for name in wanted if name in named])
    except BadTable as error:
        return FailedRun(experiment, str(error))
    if target not in columns:
        return FailedRun(experiment, f"the rows it returned have no column `{target}`")
    return _completed(experiment, columns, settings, wanted)


def _names(value: object) -> tuple[str, ...] | None:
    try:
        return None if isinstance(value, float | int) else column_names(value)
    except BadTable:
        return None


def _completed(
    experiment: str, columns: Mapping[str, FloatArray], settings: Settings, wanted: Sequence[str]
) -> Trajectory | FailedRun:
    n_rows = len(next(iter(columns.values())))
    if n_rows == 0:
        return FailedRun(experiment, "it returned no rows")
    rows = dict(columns)
    for name in wanted:
        if name not in rows:
            setting = settings.get(name)
            if setting is None or isinstance(setting, str):
                return FailedRun(experiment, f"the rows it returned have no column `{name}`")
            rows[name] = np.full(n_rows, float(setting))
        wrong = what_is_no_measurement(name, rows[name])
        if wrong:
            return FailedRun(experiment, wrong)
    return Trajectory(rows, experiment)


def what_is_no_measurement(name: str, column: FloatArray) -> str:
    """Say which number of an answer cannot be a measurement; nothing where all of them can."""
    where = " in row {}" if len(column) > 1 else ""
    missing = ~np.isfinite(column)
    if missing.any():
        return f"it returned no finite `{name}`{where.format(int(np.argmax(missing)) + 1)}"
    row = int(np.argmax(np.abs(column)))
    if abs(column[row]) > LARGEST:
        place = where.format(row + 1)
        return f"it returned {column[row]:.1e} for `{name}`{place}, more than can be squared"
    return ""


def _rubbish(value: object, target: str) -> str:
    kind = type(value).__name__
    if value is None:
        return f"it returned nothing; `{target}` or rows were expected"
    shown = printable(repr(value)) if isinstance(value, str | int | float | complex) else ""
    size = cast("tuple[int, ...]", np.shape(cast("Any", value))) if shown == "" else ()
    what = f"a {kind} of shape {size}" if size else f"a {kind}" + (f" ({shown})" if shown else "")
    return f"it returned {what}; `{target}` or rows were expected"
