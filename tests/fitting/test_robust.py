import numpy as np

from alder.fitting.robust import tame_rows


def test_wild_rows_are_found_and_no_others() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, 300)
    X = np.column_stack([np.ones(300), x, x**2])
    y = X @ np.array([1.0, 2.0, -0.5]) + 0.1 * rng.standard_normal(300)
    wild = rng.choice(300, 30, replace=False)
    y[wild] += rng.choice([-5.0, 5.0], 30)
    assert set(np.flatnonzero(~tame_rows(X, y, 1e-9))) == set(wild)


def test_rows_without_noise_are_all_kept_but_the_wild_one() -> None:
    x = np.linspace(0.0, 1.0, 50)
    X = np.column_stack([np.ones(50), x])
    y = 1.0 - 3.0 * x
    y[7] += 0.5
    assert np.flatnonzero(~tame_rows(X, y, 1e-9)).tolist() == [7]


def test_too_few_rows_say_nothing_of_one_another() -> None:
    X = np.column_stack([np.ones(3), np.arange(3.0)])
    assert tame_rows(X, np.array([0.0, 1.0, 50.0]), 1e-9).all()
