import numpy as np

from alder.consistency import covariance_root


def test_the_root_of_a_covariance_keeps_small_variances_beside_huge_ones() -> None:
    size = np.array([1e11, 1e-4, 1.0])  # a coefficient in small units, its exponent, another
    correlation = np.array([[1.0, 0.9999, 0.1], [0.9999, 1.0, 0.1], [0.1, 0.1, 1.0]])
    covariance = correlation * np.outer(size, size)
    L = covariance_root(covariance)
    np.testing.assert_allclose(L @ L.T, covariance, rtol=1e-9)


def test_the_root_of_a_singular_covariance_has_no_size_where_nothing_moves() -> None:
    covariance = np.array([[4.0, 0.0], [0.0, 0.0]])
    L = covariance_root(covariance)
    np.testing.assert_allclose(L @ L.T, covariance, atol=1e-15)
    assert covariance_root(np.zeros((0, 0))).shape == (0, 0)
