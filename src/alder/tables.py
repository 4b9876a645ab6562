"""Rows as columns: CSV files, mappings, dataframes and record arrays become float64 columns."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from alder.arrays import FloatArray, freeze_columns
from alder.errors import BadTable
from alder.spelling import suggestion

Column: TypeAlias = FloatArray | tuple[str, ...]
Rows: TypeAlias = object
"""A `Table`, a mapping of columns, a dataframe of any library, or a record array."""

MISSING = frozenset({"", "na", "n/a", "nan", "null"})

_DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*"')
# Cells are turned into numbers chunk by chunk, so that a file is never held as text as a whole.
_CHUNK = 65_536
# The sum of the squares of ten billion such numbers is still finite.
LARGEST = 1e140
# A sentence that lists names stays readable with this many.
_NAMES_SHOWN = 12


@final
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a CSV file holds: columns of numbers, columns of text, and where cells are missing.

    A missing number is NaN. `missing` counts them for each column that has some. `path` is kept
    so that an error can name the line of a cell.
    """

    name: str
    columns: Mapping[str, Column]
    missing: Mapping[str, int]
    n_rows: int
    path: Path | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Freeze the mappings."""
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        object.__setattr__(self, "missing", MappingProxyType(dict(self.missing)))


def read_csv(path: str | Path) -> Table:
    """Read a CSV file with a header line.

    Commas, semicolons or tabs separate cells; lines that begin with `#` and empty lines are
    skipped, as are columns without a name. Numbers are written with a decimal point. Empty cells,
    NA, nan and null are missing. A column with a cell that is no number is kept as text.
    """
    path = Path(path)
    try:
        names, columns, n_rows = _read(path, frozenset())
        mixed = {name for name, chunks in columns.items() if len(set(map(type, chunks))) > 1}
        if mixed:  # text that began like numbers: read those columns again, as text
            names, columns, n_rows = _read(path, frozenset(mixed))
    except FileNotFoundError:
        raise BadTable(f"There is no file {path.name}; check the name and the folder.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadTable(
            f"{path.name} cannot be read as CSV text in UTF-8: {str(error).splitlines()[0]}."
        ) from None
    if not n_rows:
        raise BadTable(f"{path.name} has a header but no rows.")
    joined = {name: _join(columns[name]) for name in names if name}
    missing = _count_missing(joined)
    _refuse_infinite(path, joined)
    return Table(name=path.name, columns=joined, missing=missing, n_rows=n_rows, path=path)


def column_names(rows: Rows) -> tuple[str, ...]:
    """Name the columns, whatever holds them."""
    return tuple(_raw_columns(rows))


def count_rows(rows: Rows) -> int:
    """Count the rows; a mapping of scalars is one row."""
    if isinstance(rows, Table):
        return rows.n_rows
    return max((int(np.size(column)) for column in _raw_columns(rows).values()), default=1)


def as_columns(rows: Rows, names: Sequence[str] | None = None) -> Mapping[str, FloatArray]:
    """Return columns of numbers as read-only float64 arrays of one length.

    `names` are the columns wanted, each of which must be numbers; without it, every column that
    holds numbers is returned. Scalars are repeated to the length of the others. Missing values
    are NaN; infinite ones are refused.

    >>> as_columns({"r": [1, 2], "v": 0.5})["v"]
    array([0.5, 0.5])
    """
    raw = _raw_columns(rows)
    if names is not None:
        require_columns(names, tuple(raw), where=_title(rows))
    columns: dict[str, FloatArray] = {}
    for name in raw if names is None else dict.fromkeys(names):
        column = _as_numbers(raw[name])
        if column is not None:
            columns[name] = column
        elif names is not None:
            raise BadTable(_text_sentence(rows, name, raw[name]))
    return freeze_columns(_same_length(columns))


def as_labels(rows: Rows, name: str) -> tuple[str, ...]:
    """Return one column as text, for groups; whole numbers are written without a point.

    >>> as_labels({"run": [1.0, 2.0]}, "run")
    ('1', '2')
    """
    raw = _raw_columns(rows)
    require_columns([name], tuple(raw), where=_title(rows))
    column = raw[name]
    if isinstance(column, tuple):
        return tuple(map(str, cast("tuple[object, ...]", column)))
    numbers = _as_numbers(column)
    if numbers is not None:
        return tuple(f"{value:.15g}" for value in numbers)
    return tuple(str(cell) for cell in np.asarray(column, dtype=object).ravel())


def drop_missing(
    columns: Mapping[str, FloatArray], names: Sequence[str]
) -> tuple[Mapping[str, FloatArray], int]:
    """Drop the rows in which one of the named columns is missing; say how many they were."""
    if not columns:
        return columns, 0
    length = len(next(iter(columns.values())))
    complete = np.ones(length, dtype=np.bool_)
    for name in names:
        complete &= ~np.isnan(columns[name])
    n_dropped = length - int(complete.sum())
    if not n_dropped:
        return columns, 0
    return freeze_columns({name: column[complete] for name, column in columns.items()}), n_dropped


def number_columns(table: Table) -> tuple[str, ...]:
    """Name the columns that hold numbers; refuse one that would, but for a few cells.

    A column of which at least half of the cells are numbers is meant as numbers: leaving it out
    because of a stray word would answer another question than was asked.
    """
    names: list[str] = []
    for name, column in table.columns.items():
        if isinstance(column, np.ndarray):
            names.append(name)
            continue
        given = [cell for cell in column if cell.strip().casefold() not in MISSING]
        if sum(_as_number(cell) is not None for cell in given) * 2 >= max(len(given), 1):
            raise BadTable(
                f"{_text_sentence(table, name, column)} Mend it, or name the columns to use."
            )
    return tuple(names)


def require_squarable(columns: Mapping[str, FloatArray], where: str) -> None:
    """Raise `BadTable` for numbers whose squares overflow or vanish: errors are sums of squares."""
    for name, column in columns.items():
        largest = float(np.max(np.abs(column), initial=0.0))
        if largest > LARGEST or 0.0 < largest < 1.0 / LARGEST:
            raise BadTable(
                f"`{name}` in {where} reaches {largest:.1e}, whose square no float64 can hold; "
                f"choose a unit in which it lies between {1.0 / LARGEST:.0e} and {LARGEST:.0e}."
            )


def require_columns(names: Sequence[str], there: Sequence[str], *, where: str = "the rows") -> None:
    """Raise `BadTable` unless every name is a column; suggest the nearest one."""
    for name in names:
        if name not in there:
            raise BadTable(
                f"`{name}` is not a column of {where}; {_listed(there)}.{suggestion(name, there)}"
            )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "it has none"
    more = len(names) - _NAMES_SHOWN
    shown = ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'}"


def _title(rows: Rows) -> str:
    return rows.name if isinstance(rows, Table) else "the rows"


def _raw_columns(rows: Rows) -> Mapping[str, Any]:
    """Return the columns as they are, in a mapping."""
    if isinstance(rows, Table):
        return rows.columns
    if isinstance(rows, Mapping):
        return cast("Mapping[str, Any]", rows)
    if isinstance(rows, np.ndarray):
        columns = _record_columns(cast("npt.NDArray[Any]", rows))
    else:
        columns = _dataframe_columns(rows)
    if columns is None:
        raise BadTable(
            f"Rows must be a mapping of columns, a dataframe or a record array; got a value of "
            f"type {type(cast('object', rows)).__name__} without column names."
        )
    return columns


def _record_columns(rows: npt.NDArray[Any]) -> Mapping[str, Any] | None:
    return None if rows.dtype.names is None else {name: rows[name] for name in rows.dtype.names}


def _dataframe_columns(rows: Rows) -> Mapping[str, Any] | None:
    import narwhals as nw  # here, because most callers have no dataframe

    frame: Any = nw.from_native(cast("Any", rows), eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    columns: dict[str, Any] = {}
    for column in cast("nw.DataFrame[Any]", frame).iter_columns():
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            columns[column.name] = column.cast(nw.Float64).fill_null(float("nan")).to_numpy()
        else:
            columns[column.name] = tuple(map(str, column.to_list()))
    return columns


def _as_numbers(column: object) -> FloatArray | None:
    """Return float64, or None where the column is text, dates or the like."""
    try:
        array: npt.NDArray[Any] = np.asarray(column)
    except ValueError:  # ragged nested lists
        return None
    if array.dtype.kind not in "biufO" and array.size:
        return None
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _same_length(columns: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    lengths: dict[str, int] = {}
    for name, column in columns.items():
        if column.ndim > 1:
            raise BadTable(f"`{name}` must be one column of numbers; its shape is {column.shape}.")
        if column.ndim == 1:
            lengths[name] = len(column)
        if np.isinf(column).any():
            row = int(np.argmax(np.isinf(np.atleast_1d(column))))
            raise BadTable(
                f"`{name}` is infinite in row {row + 1}; leave a value out where there is none."
            )
    if len(set(lengths.values())) > 1:
        shortest, longest = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.get)  # type: ignore[arg-type]
        raise BadTable(
            f"Columns must have one length; `{shortest}` has {lengths[shortest]} rows and "
            f"`{longest}` has {lengths[longest]}."
        )
    length = next(iter(lengths.values()), 1)
    return {
        name: np.full(length, column) if column.ndim == 0 else column
        for name, column in columns.items()
    }


def _text_sentence(rows: Rows, name: str, column: object) -> str:
    """Say which cell of a text column is no number."""
    expected = "a number is expected there"
    for row, cell in enumerate(np.asarray(column, dtype=object).ravel().tolist()):
        text = str(cell)
        if text.strip().casefold() in MISSING or _as_number(text) is not None:
            continue
        if re.fullmatch(r"\s*[-+]?\d*,\d+(e[-+]?\d+)?\s*", text, re.IGNORECASE):
            expected = "write decimals with a point"
        if isinstance(rows, Table) and rows.path is not None:
            line = _line_of(rows.path, row)
            return f"{rows.name}, line {line}, column {name}: `{text}` is text; {expected}."
        return f"Row {row + 1} of column `{name}` is `{text}`; {expected}."
    return f"Column `{name}` is not numbers; numbers are expected there."


def _as_number(text: str) -> float | None:
    if "_" in text:  # Python reads 1_000 as a number; nobody writes it in a table
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _content(file: IO[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that count, with their numbers."""
    for number, line in enumerate(file, start=1):
        if _counts(line):
            yield number, line


def _counts(line: str) -> bool:
    """Say whether a line is neither empty nor a comment; fast for a line of numbers."""
    if line[0] not in "# \t\r\n":
        return True
    stripped = line.strip(" \r\n")
    return bool(stripped) and not stripped.startswith("#")


def _read(
    path: Path, as_text: frozenset[str]
) -> tuple[tuple[str, ...], dict[str, list[Column]], int]:
    """Read every column as a list of chunks, each of numbers or of text."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = filter(_counts, file)
        first = next(lines, None)
        if first is None:
            raise BadTable(f"{path.name} is empty; a header line and rows are expected.")
        delimiter = _delimiter(first)
        names = _header(path, next(csv.reader([first], delimiter=delimiter)))
        columns: dict[str, list[Column]] = {name: [] for name in names if name}
        n_rows = 0
        reader = csv.reader(lines, delimiter=delimiter)
        while chunk := list(islice(reader, _CHUNK)):
            _refuse_ragged(path, chunk, n_rows, len(names))
            for name, cells in zip(names, zip(*chunk, strict=True), strict=True):
                if name:
                    column = None if name in as_text else _numbers(cells)
                    columns[name].append(cells if column is None else column)
            n_rows += len(chunk)
    return names, columns, n_rows


def _delimiter(header: str) -> str:
    plain = _QUOTED.sub("", header)
    return max(_DELIMITERS, key=plain.count)


def _header(path: Path, cells: Sequence[str]) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in cells)
    if all(_as_number(name) is not None for name in names):
        raise BadTable(
            f"{path.name} begins with numbers; its first line must name the columns, "
            "for example r,v,a."
        )
    for name in names:
        if name and names.count(name) > 1:
            raise BadTable(f"{path.name} has two columns named `{name}`; rename one of them.")
    return names


def _refuse_ragged(path: Path, chunk: list[list[str]], offset: int, expected: int) -> None:
    if set(map(len, chunk)) == {expected}:
        return
    row = next(i for i, cells in enumerate(chunk) if len(cells) != expected)
    raise BadTable(
        f"{path.name}, line {_line_of(path, offset + row)} has {len(chunk[row])} cells; "
        f"the header names {expected} columns."
    )


def _line_of(path: Path, row: int) -> int:
    """Return the line of the file that holds a row, counted from zero."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return next(islice((number for number, _ in _content(file)), row + 1, None), 0)


def _numbers(cells: tuple[str, ...]) -> FloatArray | None:
    """Turn cells into numbers, missing ones into NaN; None where a cell is text."""
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        parsed = [
            np.nan if cell.strip().casefold() in MISSING else _as_number(cell) for cell in cells
        ]
        return None if None in parsed else np.array(parsed, dtype=np.float64)
    return None if "_" in "".join(cells) else values


def _join(chunks: list[Column]) -> Column:
    if all(isinstance(chunk, np.ndarray) for chunk in chunks):
        return np.concatenate(cast("list[FloatArray]", chunks))
    return tuple(str(cell).strip() for chunk in chunks for cell in chunk)


def _count_missing(columns: Mapping[str, Column]) -> dict[str, int]:
    counts = {
        name: int(np.isnan(column).sum())
        for name, column in columns.items()
        if isinstance(column, np.ndarray)
    }
    return {name: count for name, count in counts.items() if count}


def _refuse_infinite(path: Path, columns: Mapping[str, Column]) -> None:
    for name, column in columns.items():
        if isinstance(column, np.ndarray) and np.isinf(column).any():
            line = _line_of(path, int(np.argmax(np.isinf(column))))
            raise BadTable(
                f"{path.name}, line {line}, column {name} is infinite; leave the cell empty "
                "where there is no value."
            )
