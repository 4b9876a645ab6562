import numpy as np
import pytest

from alder.arrays import FloatArray
from alder.fitting.intercepts import Rows, lengths_of
from alder.fitting.subsets import term_cost


def grouped(offset: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Eight groups of which half have a step of +1 and half of -1 all over, noise 0.5."""
    group = np.repeat(np.arange(8), 40)
    step = np.where(group % 2 == 0, 1.0, -1.0)
    x = rng.uniform(-1.0, 1.0, 320)
    drawn = offset * rng.standard_normal(8)
    y = 2.0 * x + drawn[group] + 0.5 * rng.standard_normal(320)
    return np.column_stack([np.ones(320), x, step]), y, group.astype(np.float64)


def rows(X: FloatArray, y: FloatArray, group: FloatArray, n_groups: int = 8) -> Rows:
    return Rows(X, y, np.ones(len(y)), group.astype(np.int64), n_groups, 1e-9)


def test_without_groups_the_length_is_that_of_least_squares() -> None:
    X, y, group = grouped(0.0, np.random.default_rng(1))
    lengths = lengths_of(rows(X, y, group, 0))
    c = np.linalg.lstsq(X[:, [0, 1]], y, rcond=None)[0]
    rest = float(np.sum(np.square(y - X[:, [0, 1]] @ c)))
    scale = lengths.sigma**2 * lengths.alike
    expected = rest / scale + 2 * term_cost(int(320 / lengths.alike), 3)
    assert lengths.length((0, 1)) == pytest.approx(expected, rel=1e-9)


def test_offsets_of_groups_are_not_taken_for_a_step_or_a_constant_beyond_doubt() -> None:
    for seed in range(20):
        X, y, group = grouped(1.0, np.random.default_rng(seed))
        lengths = lengths_of(rows(X, y, group))
        wrong = min(lengths.length(K) for K in [(0, 1), (1, 2), (0, 1, 2)])
        assert lengths.length((1,)) < wrong + 6.0


def test_a_step_between_groups_is_seen_where_it_exceeds_their_offsets() -> None:
    X, y, group = grouped(0.3, np.random.default_rng(3))
    lengths = lengths_of(rows(X, y + 3.0 * X[:, 2], group))
    assert lengths.length((1, 2)) + 6.0 < min(lengths.length((1,)), lengths.length((0, 1)))


def test_rows_that_repeat_each_other_count_as_few() -> None:
    rng = np.random.default_rng(4)
    noise = np.repeat(rng.standard_normal(40), 10)
    x = rng.uniform(-1.0, 1.0, 400)
    lengths = lengths_of(rows(x[:, None], x + noise, np.zeros(400), 0))
    assert lengths.alike > 4.0
