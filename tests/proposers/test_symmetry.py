"""Symmetries are read off the slopes of a witness, in noise too."""

import numpy as np
from numpy.testing import assert_allclose
from proposers.evidence import evidence

from alder.arrays import FloatArray
from alder.proposers.search.symmetry import Shift, Stretch, symmetries
from alder.proposers.search.table import Table, read_table
from alder.proposers.search.witness import best_witness, plain_witness
from alder.records.grammar import Grammar
from alder.records.variable import Variable

NAMES = ("a", "b", "c")


def table_of(y: FloatArray, columns: dict[str, FloatArray]) -> Table:
    grammar = Grammar([Variable(name) for name in columns], Variable("y"))
    return read_table(evidence(table={**columns, "y": y}, grammar=grammar))


def draw(n: int = 120) -> dict[str, FloatArray]:
    rng = np.random.default_rng(5)
    return {name: rng.uniform(1.0, 3.0, n) for name in NAMES}


def found_in(y: FloatArray, columns: dict[str, FloatArray]) -> list[object]:
    table = table_of(y, columns)
    witness = best_witness(table)
    assert witness is not None
    return list(symmetries(table, witness, {}))


def test_a_common_scale_of_two_variables_is_seen() -> None:
    c = draw()
    found = found_in(c["c"] ** 2 * np.log1p(c["a"] / c["b"]), c)
    assert Stretch((("a", 1), ("b", 1)), 0.0) in found
    assert Stretch((("c", 1),), 2.0) in found


def test_a_difference_is_seen_in_noise() -> None:
    c = draw()
    noise = np.random.default_rng(6).normal(0.0, 0.01, 120)
    found = found_in(np.exp(0.5 * (c["a"] - c["b"])) + c["c"] ** 2 + noise, c)
    assert Shift("a", "b", -1) in found
    assert Shift("a", "c", -1) not in found


def test_nothing_is_seen_where_nothing_is() -> None:
    c = draw()
    assert found_in(np.exp(c["a"]) + np.sin(c["b"]) + c["c"] * c["a"] ** 2, c) == []


def test_the_witness_holds_noise_for_noise() -> None:
    c = draw()
    noise = np.random.default_rng(7).normal(0.0, 0.1, 120)
    witness = plain_witness(table_of(c["a"] * c["b"] + noise, c))
    assert witness is not None
    assert_allclose(witness.noise, 0.01, rtol=0.5)
