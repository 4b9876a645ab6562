import os

from alder.fitting.threads import limit_threads, n_threads


def test_all_cores_are_used_unless_somebody_says_otherwise() -> None:
    assert n_threads() == os.cpu_count()


def test_a_limit_holds_within_its_block_only() -> None:
    with limit_threads(3):
        with limit_threads(1):
            assert n_threads() == 1
        assert n_threads() == 3
    assert n_threads() == os.cpu_count()
