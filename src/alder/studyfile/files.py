"""The CSV files a study file names: read, and put one below the other."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from alder.studyfile.source import Source
from alder.tables import Rows, Table, as_labels, read_csv


def as_list(value: object) -> list[object]:
    """Return a list as it is, one thing as a list of one, and nothing as an empty list."""
    if value is None:
        return []
    return cast("list[object]", value) if isinstance(value, list) else [value]


def read_tables(source: Source, *path: str) -> list[Table]:
    """Read the file or files of one setting, relative to the study file."""
    tables: list[Table] = []
    for name in as_list(source.get(*path)):
        with source.blame(*path, value=name):
            tables.append(read_csv(source.path.parent / str(name)))
    return tables


def join_tables(tables: Sequence[Table]) -> Rows:
    """Put tables one below the other: the columns all of them have."""
    if len(tables) == 1:
        return tables[0]
    shared = [name for name in tables[0].columns if all(name in t.columns for t in tables)]
    joined: dict[str, object] = {}
    for name in shared:
        columns = [table.columns[name] for table in tables]
        if any(isinstance(column, tuple) for column in columns):
            joined[name] = tuple(label for table in tables for label in as_labels(table, name))
        else:
            joined[name] = np.concatenate([np.asarray(column) for column in columns])
    return joined
