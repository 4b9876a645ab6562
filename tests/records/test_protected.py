import numpy as np
import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
import pytest

from alder.errors import BadTable
from alder.records.protected import Protected

ROWS = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
NAMES = ("x", "y")


SERIES = {"x": pd.Series([1.0, 2.0]), "y": pd.Series([1.0, 2.0])}
SCALAR = {"x": np.array([1.0, 2.0]), "y": 3.0}


@pytest.mark.parametrize("table", [ROWS, pd.DataFrame(ROWS), SCALAR, SERIES])
def test_one_table_is_one_shift(table: object) -> None:
    assert list(Protected(ROWS, table).columns(NAMES)) == ["admission", "shift"]


@pytest.mark.parametrize("table", [ROWS, pd.DataFrame(ROWS)])
def test_a_mapping_of_tables_names_regimes(table: object) -> None:
    found = Protected(ROWS, {"hot": table, "cold": ROWS}).columns(NAMES)
    assert list(found) == ["admission", "hot", "cold"]
    assert found["hot"]["y"].tolist() == [3.0, 4.0]


def test_without_a_shift_there_is_admission_alone() -> None:
    assert list(Protected(ROWS).columns(NAMES)) == ["admission"]


def test_rows_that_miss_a_value_are_left_out() -> None:
    rows = {"x": [1.0, float("nan")], "y": [3.0, 4.0]}
    assert Protected(rows).columns(NAMES)["admission"]["y"].tolist() == [3.0]


def test_rows_of_which_none_is_complete_are_refused() -> None:
    with pytest.raises(BadTable, match="no complete row"):
        Protected({"x": [float("nan")], "y": [1.0]}).columns(NAMES)


def test_a_regime_named_admission_and_an_empty_shift_are_refused() -> None:
    with pytest.raises(BadTable, match="rename the regime"):
        Protected(ROWS, {"admission": ROWS}).tables()
    with pytest.raises(BadTable, match="empty"):
        Protected(ROWS, {}).tables()
