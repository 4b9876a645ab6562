import os
from importlib import import_module
from typing import Any, cast

import numpy as np

from alder.fitting.threads import limit_matrix_threads, limit_threads, n_threads


def test_all_cores_are_used_unless_somebody_says_otherwise() -> None:
    assert n_threads() == os.cpu_count()


def test_a_limit_holds_within_its_block_only() -> None:
    with limit_threads(3):
        with limit_threads(1):
            assert n_threads() == 1
        assert n_threads() == 3
    assert n_threads() == os.cpu_count()


def test_matrix_products_keep_to_their_limit_within_the_block_only() -> None:
    pools = cast("Any", import_module("threadpoolctl")).threadpool_info

    def most() -> int:
        assert (np.ones((2, 2)) @ np.ones((2, 2)) == 2.0).all()
        return max(int(pool["num_threads"]) for pool in pools() if pool["user_api"] == "blas")

    before = most()
    with limit_matrix_threads(1):
        assert most() == 1
    assert most() == before
