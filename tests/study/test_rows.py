"""Rows of a study: who sees which, and what cannot be used."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from study.problems import GRAMMAR, rows

from alder.arrays import FloatArray
from alder.errors import BadStudy, BadTable
from alder.records.protected import Protected
from alder.records.roles import Roles
from alder.study.rows import RowReader, StudyRows, prepare

READER = RowReader(GRAMMAR, Roles())


def split(table: dict[str, Any], roles: Roles, seed: int = 0) -> StudyRows:
    return prepare(RowReader(GRAMMAR, roles), table, None, None, seed)


def as_set(columns: Any) -> set[tuple[float, ...]]:
    return set(zip(*(columns[name] for name in ("x", "v", "y")), strict=True))


@given(st.integers(16, 60), st.integers(0, 5))
def test_rows_are_split_in_two_and_none_is_lost(n: int, seed: int) -> None:
    table = rows(n, seed=1)
    parts = split(table, Roles(), seed)
    public, hidden = as_set(parts.initial.columns), as_set(parts.protected["admission"])
    assert public | hidden == as_set(table)
    assert not public & hidden
    assert len(hidden) == max(round(n / 4), 8)


def test_the_split_depends_on_the_seed_alone() -> None:
    table = rows(40, seed=1)
    first, again, other = (split(table, Roles(), seed) for seed in (0, 0, 1))
    hidden = [as_set(parts.protected["admission"]) for parts in (first, again, other)]
    assert hidden[0] == hidden[1] != hidden[2]


@pytest.mark.parametrize(
    "labels",
    [[0.0, 1.0, 2.0, 3.0], ["a", "b", "c", "d"], ["sample-1", "sample-2", "sample-3", "sample-4"]],
    ids=["numbers", "letters", "long names"],
)
def test_whole_groups_are_protected(labels: list[object]) -> None:
    table = {**rows(40, seed=1), "run": [labels[i % 4] for i in range(40)]}
    parts = split(table, Roles(group="run"))
    public = set(parts.initial.columns["run"])
    hidden = set(parts.protected["admission"]["run"])
    assert len(public) == 3
    assert len(hidden) == 1
    assert not public & hidden


def test_one_group_has_the_same_number_in_every_table() -> None:
    reader = RowReader(GRAMMAR, Roles(group="run"))
    first, _ = reader.read({**rows(2, seed=1), "run": ["left", "right"]}, "these")
    second, _ = reader.read({**rows(3, seed=2), "run": ["right", "left", "middle"]}, "those")
    assert first["run"][0] == second["run"][1]
    assert first["run"][1] == second["run"][0]
    assert second["run"][2] not in first["run"]


def test_the_last_rows_in_time_are_protected() -> None:
    rng = np.random.default_rng(0)
    table = {**rows(40, seed=1), "t": rng.permutation(40.0 * np.arange(40))}
    parts = split(table, Roles(time="t"))
    assert parts.initial.columns["t"].max() < parts.protected["admission"]["t"].min()


def test_copies_of_a_row_stay_on_one_side() -> None:
    table = {name: np.repeat(column, 2) for name, column in rows(20, seed=1).items()}
    parts = split(table, Roles())
    assert not as_set(parts.initial.columns) & as_set(parts.protected["admission"])


def test_too_few_rows_to_split_is_misuse() -> None:
    with pytest.raises(BadStudy, match="12 rows are too few"):
        split(rows(12, seed=1), Roles())


def test_few_rows_with_protected_ones_of_their_own_are_enough() -> None:
    parts = prepare(READER, rows(4, seed=1), None, Protected(rows(12, seed=2)), 0)
    assert parts.initial.n_rows == 4


def test_incomplete_rows_are_left_out_and_counted() -> None:
    table: dict[str, FloatArray] = rows(10, seed=1)
    table["x"] = table["x"].copy()
    table["x"][3] = np.nan
    parts = prepare(READER, table, None, Protected(rows(12, seed=2)), 0)
    assert parts.initial.n_rows == 9
    assert parts.n_dropped == 1


def test_equal_inputs_in_public_and_protected_rows_are_replicates() -> None:
    public = rows(20, seed=1)
    again = {**public, "y": public["y"] + 0.01}
    assert prepare(READER, public, None, Protected(again), 0).initial.n_rows == 20


@pytest.mark.parametrize("where", ["initial", "validation", "shift"])
def test_identical_public_and_protected_rows_are_misuse(where: str) -> None:
    table = rows(20, seed=1)
    first = {name: column[:1] for name, column in table.items()}
    shared = {name: np.append(column, first[name]) for name, column in rows(20, seed=2).items()}
    fresh = rows(20, seed=3)
    initial, validation = (fresh, table) if where == "validation" else (table, None)
    protected = (
        Protected(rows(9, seed=4), {"far": shared}) if where == "shift" else Protected(shared)
    )
    with pytest.raises(BadTable, match=r"1 of 21 protected rows .* are also public"):
        prepare(READER, initial, validation, protected, 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"x": None}, r"the initial rows.*`x`|`x`.*the initial rows"),
        ({"y": np.full(20, 3.0)}, "The target `y` is 3 in every initial row"),
        ({"v": np.full(20, np.nan)}, "Every row of the initial rows misses a value"),
        ({"v": np.full(20, np.inf)}, "v"),
        ({"v": ["red"] * 20}, "v"),
        ({"v": np.ones(19)}, "v"),
        (dict.fromkeys(("x", "v", "y"), np.ones(0)), "There is not one row among the initial rows"),
    ],
    ids=["missing", "constant target", "nan", "infinite", "text", "length", "empty"],
)
def test_rows_no_law_can_be_fitted_to_are_misuse(change: dict[str, Any], sentence: str) -> None:
    table: dict[str, Any] = {**rows(20, seed=1), **change}
    table = {name: column for name, column in table.items() if column is not None}
    with pytest.raises(BadTable, match=sentence):
        prepare(READER, table, None, Protected(rows(12, seed=2)), 0)


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [(Roles(sigma="s"), "Error bars must be positive"), (Roles(weight="s"), "Weights must not")],
    ids=["sigma", "weight"],
)
def test_error_bars_and_weights_below_zero_are_misuse(roles: Roles, sentence: str) -> None:
    good = {**rows(12, seed=2), "s": np.full(12, 0.1)}
    bad = {**rows(20, seed=1), "s": np.append(np.full(19, 0.1), -1.0)}
    for initial, hidden in ((bad, good), (good, bad)):
        with pytest.raises(BadTable, match=sentence):
            prepare(RowReader(GRAMMAR, roles), initial, None, Protected(hidden), 0)
