"""What the rows say before any law: who acts together, and what is odd or even."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proposers.evidence import evidence

from alder.arrays import FloatArray
from alder.proposers.search.interactions import Structure, find_structure
from alder.proposers.search.table import read_table
from alder.records.grammar import Grammar
from alder.records.variable import Variable

NAMES = ("a", "b", "c", "d")


def draw(seed: int, n: int = 150) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-1.0, 1.0, n) for name in NAMES}


def structure_of(columns: dict[str, FloatArray], y: FloatArray, noise: int) -> Structure:
    noisy = y + 0.01 * np.random.default_rng([7, noise]).standard_normal(len(y))
    grammar = Grammar([Variable(name) for name in columns], Variable("y"))
    return find_structure(read_table(evidence(table={**columns, "y": noisy}, grammar=grammar)))


@given(st.sampled_from(range(20)), st.permutations(NAMES))
def test_only_variables_that_share_a_term_are_found_to_interact(
    seed: int, names: list[str]
) -> None:
    columns = draw(seed)
    a, b, c, d = (columns[name] for name in names)
    found = structure_of(columns, a * np.exp(b) + np.sin(c) + d, seed)
    together = {frozenset(pair) for pair, chance in found.pairs.items() if chance < 1e-5}
    assert together == {frozenset(names[:2])}
    assert set(map(frozenset, found.cliques())) == {
        frozenset(names[:2]), frozenset(names[2:3]), frozenset(names[3:]),
    }  # fmt: skip


def test_a_variable_that_changes_nothing_does_not_matter() -> None:
    columns = draw(3)
    found = structure_of(columns, columns["a"] * columns["b"] + columns["c"], 3)
    assert found.relevant == ("a", "b", "c")


@pytest.mark.parametrize(("shape", "parity"), [(np.sin, "odd"), (np.cos, "even"), (np.exp, "any")])
def test_parity_is_that_of_the_function_where_rows_lie_evenly_about_zero(
    shape: np.ufunc, parity: str
) -> None:
    half = draw(5, n=75)
    columns = {name: np.concatenate([half[name], half[name]]) for name in NAMES}
    columns["a"] = np.concatenate([half["a"], -half["a"]])
    found = structure_of(columns, shape(columns["a"]) * (2.0 + columns["b"]), 5)
    assert found.parity["a"] == parity


def test_a_variable_of_one_sign_has_no_parity() -> None:
    columns = draw(6)
    columns["a"] = np.abs(columns["a"])
    assert structure_of(columns, np.square(columns["a"]), 6).parity["a"] == "any"
