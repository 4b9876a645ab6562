"""Rows that only the verifier may see."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray
from alder.errors import BadTable
from alder.tables import Rows, as_columns, drop_missing

ADMISSION = "admission"
SHIFT = "shift"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Protected:
    """Rows on which a law is admitted, and rows of shifted regimes it must hold under as well.

    `shift` is one table, or a mapping from the name of a regime to its table. The rows go to the
    verifier's own process once; no proposer, fit or selector sees them.
    """

    admission: Rows
    shift: Rows | Mapping[str, Rows] | None = None

    def tables(self) -> dict[str, Rows]:
        """Return every table by its role: "admission", then "shift" or the names of regimes."""
        if self.shift is None:
            return {ADMISSION: self.admission}
        regimes = _regimes(self.shift)
        if regimes is None:
            return {ADMISSION: self.admission, SHIFT: self.shift}
        if ADMISSION in regimes:
            raise BadTable(
                'A shifted regime is named "admission", which is the name of the rows a law is '
                "admitted on; rename the regime."
            )
        return {ADMISSION: self.admission, **regimes}

    def columns(self, names: tuple[str, ...]) -> dict[str, dict[str, FloatArray]]:
        """Return the named columns of every role, without rows that miss a value."""
        found: dict[str, dict[str, FloatArray]] = {}
        for role, rows in self.tables().items():
            complete, _ = drop_missing(as_columns(rows, names), names)
            if not len(complete[names[0]]):
                raise BadTable(
                    f"The protected rows of {role} hold no complete row of {', '.join(names)}; "
                    "give at least one."
                )
            found[role] = dict(complete)
        return found


def _regimes(shift: Rows) -> dict[str, Rows] | None:
    """Return tables by name, or None where the rows are one table: its values are columns."""
    if not isinstance(shift, Mapping):
        return None
    named = cast("Mapping[str, object]", shift)
    if not named:
        raise BadTable("`shift` is empty; leave it out, or give rows of a shifted regime.")
    if any(_is_column(value) for value in named.values()):
        return None
    return {str(name): rows for name, rows in named.items()}


def _is_column(value: object) -> bool:
    """Say whether a value is a column or a scalar rather than a table of its own."""
    if isinstance(value, Mapping):
        return False
    if isinstance(value, np.ndarray):
        return cast("npt.NDArray[Any]", value).dtype.names is None
    if isinstance(value, list | tuple | int | float):
        return True
    # A series has one dimension; a dataframe has two, and names for its columns.
    return not hasattr(value, "columns")
