"""The shortest descriptions: against all sets there are, and where terms help only together."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.arrays import FloatArray
from alder.fitting.descriptions import Search, shortest
from alder.fitting.elimination import from_above
from alder.fitting.layers import Layer, Terms

WIDE = Search(n_best=6, width=60, most=4)


def _length(X: FloatArray, y: FloatArray, costs: FloatArray, terms: tuple[int, ...]) -> float:
    """Return the length by least squares, of all columns of these terms."""
    columns = X[:, :, list(terms)].reshape(len(y), -1)
    c = np.linalg.lstsq(columns, y, rcond=None)[0] if terms else np.zeros(0)
    left = y - columns @ c
    return float(left @ left) + float(costs[list(terms)].sum())


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), with_base=st.booleans())
def test_the_shortest_of_all_small_sets_is_found(seed: int, with_base: bool) -> None:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(40, 8)) @ (np.eye(8) + 0.7 * rng.normal(size=(8, 8))))[:, None, :]
    y = X[:, 0] @ (rng.normal(size=8) * (rng.uniform(size=8) < 0.35)) * 3.0 + rng.normal(size=40)
    costs = rng.uniform(2.0, 6.0, size=8)
    every = {
        terms: _length(X, y, costs, terms) for k in range(5) for terms in combinations(range(8), k)
    }
    base = (0, 1, 2) if with_base else ()
    found = shortest(X, y, costs, range(8), Search(6, 60, 4, base))
    assert found[0].length == pytest.approx(min(every.values()))
    assert [one.length for one in found] == sorted(one.length for one in found)
    for one in found:
        assert one.length == pytest.approx(every[tuple(sorted(one.columns))])


def test_a_pair_is_found_of_which_neither_helps_alone() -> None:
    rng = np.random.default_rng(0)
    hidden, other = rng.normal(size=(2, 200))
    X = np.column_stack([hidden + 20.0 * other, other, rng.normal(size=(200, 6))])[:, None, :]
    found = shortest(X, 5.0 * hidden + 0.1 * rng.normal(size=200), np.full(8, 8.0), range(8), WIDE)
    assert set(found[0].columns) == {0, 1}


def test_a_barred_term_is_in_no_description() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 1, 4))
    costs = np.array([np.inf, 2.0, 2.0, 2.0])
    found = shortest(X, 9.0 * X[:, 0, 0] + X[:, 0, 1], costs, range(4), WIDE)
    assert all(0 not in one.columns for one in found)


def test_derivatives_say_which_number_inside_is_near() -> None:
    """A decay is tried at scales of which none is right; the nearest wins and tells where to."""
    t = np.linspace(0.0, 3.0, 60)
    scales = np.geomspace(0.3, 5.0, 8)
    decays = [np.stack([np.exp(-t / s), t / s * np.exp(-t / s)], axis=1) for s in scales]
    X = np.stack(decays, axis=2)
    found = shortest(100.0 * X, 100.0 * np.exp(-t / 1.2), np.full(8, 6.0), ["decay"] * 8, WIDE)
    one = found[0]
    assert len(one.columns) == 1
    value, slope = one.coefficients
    assert scales[one.columns[0]] * np.exp(slope / value) == pytest.approx(1.2, rel=0.02)


def test_what_imitates_a_law_gives_way_to_it_from_above() -> None:
    """Polynomials imitate a saturation; with all of them there, it is seen what they lack."""
    x = np.geomspace(0.05, 5.0, 120)
    simple = np.stack([x**k for k in range(6)], axis=1)
    scales = np.geomspace(0.1, 6.0, 9)
    shapes = np.stack([1.0 / (s + x**2) for s in scales], axis=1)
    slopes = np.stack([-s / (s + x**2) ** 2 for s in scales], axis=1)
    value = np.column_stack([simple, shapes])
    X = np.stack([value, np.column_stack([np.zeros_like(simple), slopes])], axis=1)
    y = 0.9 * x - 0.18 * x**2 - 0.7 + 0.56 / (0.8 + x**2)
    costs = np.array([*[8.0] * 6, *[17.0] * 9])
    kinds = [*"012345", *["shape"] * 9]
    found = shortest(X / 1e-3, y / 1e-3, costs, kinds, Search(5, 10, 6, tuple(range(6))))
    assert [kinds[place] for place in sorted(found[0].columns)] == ["0", "1", "2", "shape"]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_lengths_from_above_are_those_of_their_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(30, 2, 7))
    drawn[:, 1, :4] = 0.0
    X = drawn / np.maximum(np.linalg.norm(drawn, axis=0), 1e-300)
    y, costs = 4.0 * rng.normal(size=30), rng.uniform(1.0, 3.0, size=7)
    kinds = np.array([0, 1, 2, 3, 4, 5, 5])
    for terms, length in from_above(Terms(X, costs, kinds), y, (0, 1, 2), 5).items():
        assert len(terms) <= 5
        assert length == pytest.approx(_length(X, y, costs, terms))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_gains_of_further_terms_are_what_least_squares_says(seed: int) -> None:
    """Terms have one to three columns; one is a copy of another, and takes nothing beside it."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(30, 3, 6))
    drawn[:, 2, :3] = drawn[:, 1, :2] = 0.0
    drawn[:, :, 5] = drawn[:, :, 4]
    X = drawn / np.maximum(np.linalg.norm(drawn, axis=0), 1e-300)
    y, free = 4.0 * rng.normal(size=30), np.zeros(6)
    sets = np.array([[0, 2], [3, 4], [1, 4]])
    layer = Layer.of(Terms(X, free, np.arange(6)), y, sets)
    for row, terms in enumerate(sets.tolist()):
        now = _length(X, y, free, tuple(terms))
        for term in set(range(6)) - set(terms):
            expected = now - _length(X, y, free, (*terms, term))
            assert layer.gains()[row, term] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("apart", [1e-6, 1e-7, 1e-8])
def test_columns_of_a_term_that_nearly_say_the_same_are_dropped_like_others(apart: float) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(30, 2, 4))
    drawn[:, 1] = drawn[:, 0] + apart * drawn[:, 1]
    X = drawn / np.linalg.norm(drawn, axis=0)
    y, costs = 4.0 * rng.normal(size=30), np.full(4, 2.0)
    found = from_above(Terms(X, costs, np.arange(4)), y, (0, 1, 2, 3), 4)
    assert {len(terms) for terms in found} == {1, 2, 3, 4}
    for terms, length in found.items():
        assert length == pytest.approx(_length(X, y, costs, terms), rel=1e-3)


def test_terms_with_more_columns_than_there_are_rows_are_dropped_one_by_one() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(6, 3, 4))
    X = drawn / np.linalg.norm(drawn, axis=0)
    y, costs = 4.0 * rng.normal(size=6), np.full(4, 2.0)
    found = from_above(Terms(X, costs, np.arange(4)), y, (0, 1, 2, 3), 4)
    assert {len(terms) for terms in found} == {1, 2, 3, 4}
    for terms, length in found.items():
        assert length == pytest.approx(_length(X, y, costs, terms), abs=1e-9)
