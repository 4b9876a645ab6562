from pathlib import Path

import numpy as np
import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alder.errors import BadTable
from alder.tables import (
    as_columns,
    as_labels,
    column_names,
    count_rows,
    drop_missing,
    number_columns,
    read_csv,
    require_squarable,
)

numbers = st.floats(allow_nan=False, allow_infinity=False)


def written(folder: Path, text: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@given(
    columns=st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=n, max_size=n)
    ),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_numbers_round_trip_through_a_file(
    tmp_path_factory: pytest.TempPathFactory, columns: list[list[float]], delimiter: str
) -> None:
    names = [f"c{i}" for i in range(len(columns))]
    lines = [delimiter.join(names)]
    lines += [delimiter.join(repr(column[row]) for column in columns) for row in range(3)]
    path = written(tmp_path_factory.mktemp("rows"), "\n".join(lines) + "\n")
    read = as_columns(read_csv(path))
    assert {name: read[name].tolist() for name in names} == dict(zip(names, columns, strict=True))


def test_comments_empty_lines_and_a_byte_order_mark_are_skipped(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff# made by hand\nr,a\n\n1,2\n # note\n3,4\n")
    table = read_csv(path)
    assert as_columns(table)["r"].tolist() == [1.0, 3.0]
    assert column_names(table) == ("r", "a")


def test_missing_cells_are_counted_and_kept_as_nan(tmp_path: Path) -> None:
    table = read_csv(written(tmp_path, "r,a\n1,\nNA,2\n3, null \nnan,4\n5,6\n"))
    assert table.missing == {"r": 2, "a": 2}
    columns, n_dropped = drop_missing(as_columns(table), ["r", "a"])
    assert n_dropped == 4
    assert columns["a"].tolist() == [6.0]


def test_rows_missing_only_an_unused_column_are_kept() -> None:
    columns = as_columns({"r": [1.0, 2.0], "note": [np.nan, 1.0]})
    assert drop_missing(columns, ["r"]) == (columns, 0)


def test_text_columns_serve_as_labels(tmp_path: Path) -> None:
    table = read_csv(written(tmp_path, 'run,r\n"left, first",1\nright,2\n'))
    assert as_labels(table, "run") == ("left, first", "right")
    assert tuple(as_columns(table)) == ("r",)


def test_labels_that_begin_like_numbers_are_text_in_every_row(tmp_path: Path) -> None:
    rows = "".join(f"{i},1\n" for i in range(70_000))
    table = read_csv(written(tmp_path, "run,r\n" + rows + "last,1\n"))
    labels = as_labels(table, "run")
    assert (labels[0], labels[-1]) == ("0", "last")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "rows.csv is empty; a header line and rows are expected."),
        ("# only a comment\n", "rows.csv is empty; a header line and rows are expected."),
        ("r,a\n", "rows.csv has a header but no rows."),
        ("1,2\n3,4\n", "rows.csv begins with numbers; its first line must name the columns"),
        ("r,r\n1,2\n", "rows.csv has two columns named `r`; rename one of them."),
        ("r,a\n# x\n1,2\n1,2,3\n", "rows.csv, line 4 has 3 cells; the header names 2 columns."),
        ("r,a\n1,2\n1\n", "rows.csv, line 3 has 1 cells; the header names 2 columns."),
        ("r,a\n1,2\n1,inf\n", "rows.csv, line 3, column a is infinite"),
        ("r,a\n1,2\n1,1e999\n", "rows.csv, line 3, column a is infinite"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadTable) as caught:
        read_csv(written(tmp_path, text))
    assert str(caught.value).startswith(sentence)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"There is no file rows\.csv"):
        read_csv(tmp_path / "rows.csv")


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(b"r,a\n\xff\xfe,2\n")
    with pytest.raises(BadTable, match=r"rows\.csv cannot be read as CSV text"):
        read_csv(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("fast", "rows.csv, line 4, column v: `fast` is text; a number is expected there."),
        ("1_000", "rows.csv, line 4, column v: `1_000` is text; a number is expected there."),
        ('"1,5"', "rows.csv, line 4, column v: `1,5` is text; write decimals with a point."),
    ],
)
def test_text_where_a_number_is_expected_is_located(
    tmp_path: Path, cell: str, sentence: str
) -> None:
    table = read_csv(written(tmp_path, f"# rows\nr,v\n1,\n2,{cell}\n"))
    with pytest.raises(BadTable) as caught:
        as_columns(table, ["v"])
    assert str(caught.value) == sentence


def test_a_missing_column_is_named_with_what_is_there(tmp_path: Path) -> None:
    table = read_csv(written(tmp_path, "radius,v\n1,2\n"))
    with pytest.raises(BadTable) as caught:
        as_columns(table, ["radus"])
    assert str(caught.value) == (
        "`radus` is not a column of rows.csv; radius, v are. Did you mean `radius`?"
    )


@pytest.mark.parametrize(
    "rows",
    [
        {"r": [1, 2, 3], "v": [0.5, 1.5, np.nan]},
        pd.DataFrame({"r": [1, 2, 3], "v": [0.5, 1.5, None]}),
        pd.DataFrame({"r": [1, 2, 3], "v": pd.array([0.5, 1.5, None], dtype="Float64")}),
        pl.DataFrame({"r": [1, 2, 3], "v": [0.5, 1.5, None]}),
        np.array([(1, 0.5), (2, 1.5), (3, np.nan)], dtype=[("r", int), ("v", float)]),
    ],
)
def test_every_kind_of_rows_gives_the_same_columns(rows: object) -> None:
    columns = as_columns(rows, ["v", "r"])
    assert columns["r"].tolist() == [1.0, 2.0, 3.0]
    assert columns["v"].tolist()[:2] == [0.5, 1.5]
    assert np.isnan(columns["v"][2])
    assert count_rows(rows) == 3
    assert not columns["r"].flags.writeable


def test_scalars_are_repeated_to_the_length_of_the_others() -> None:
    assert as_columns({"r": [1.0, 2.0], "v": 0.5})["v"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ({"r": [1.0], "v": [1.0, 2.0]}, "Columns must have one length; `r` has 1 rows"),
        ({"r": [1.0, np.inf]}, "`r` is infinite in row 2"),
        ({"r": np.ones((2, 2))}, "`r` must be one column of numbers; its shape is"),
        ({"r": ["1.0", "x"]}, "Row 2 of column `r` is `x`"),
        ({"r": ["1.0", "2.0"]}, "Column `r` is not numbers"),
        ({"r": [[1.0], [1.0, 2.0]]}, "Row 1 of column `r` is"),
        (np.ones((2, 2)), "Rows must be a mapping of columns"),
        ([1.0, 2.0], "Rows must be a mapping of columns"),
        ({"v": [1.0]}, "`r` is not a column of the rows; v is."),
        ({}, "`r` is not a column of the rows; it has none."),
    ],
)
def test_rows_no_fit_can_use_are_refused_in_one_sentence(rows: object, sentence: str) -> None:
    names = ["r", "v"] if sentence.startswith("Columns") else ["r"]
    with pytest.raises(BadTable) as caught:
        as_columns(rows, names)
    assert str(caught.value).startswith(sentence)


def test_numbers_serve_as_labels() -> None:
    assert as_labels({"run": [1, 2, 2.5]}, "run") == ("1", "2", "2.5")
    assert as_labels(pl.DataFrame({"run": ["a", "b"]}), "run") == ("a", "b")


def test_columns_of_text_are_told_from_those_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,site,note\n1,north,\n2,south,3 m\n")
    assert number_columns(read_csv(tmp_path / "rows.csv")) == ("x",)


def test_a_stray_word_among_numbers_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n1,2\nhigh,3\n2,4\n")
    with pytest.raises(BadTable, match="line 3, column x: `high` is text"):
        number_columns(read_csv(tmp_path / "rows.csv"))


@pytest.mark.parametrize("value", [1e200, 1e-200, -1e141])
def test_numbers_whose_squares_do_not_exist_are_refused(value: float) -> None:
    with pytest.raises(BadTable, match="choose a unit"):
        require_squarable({"x": np.array([0.0, value])}, "the rows")


def test_zeros_and_ordinary_numbers_can_be_squared() -> None:
    require_squarable({"x": np.zeros(3), "y": np.array([1e-300, 1.0]), "z": np.empty(0)}, "rows")
