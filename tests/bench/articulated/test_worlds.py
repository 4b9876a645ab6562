"""Worlds are drawn by seed; outcomes are kept by key."""

from pathlib import Path

import numpy as np

from alder.bench.articulated.grasp import NOMINAL
from alder.bench.articulated.scene import KINDS
from alder.bench.articulated.store import Store
from alder.bench.articulated.worlds import case_names, draw_world


def test_there_are_ten_seeds_of_four_families() -> None:
    names = case_names()
    assert len(names) == len(set(names)) == 40
    assert names[:4] == ("viscous-01", "coulomb-01", "spring-01", "mixed-01")


def test_a_world_follows_from_its_name_and_the_seed_alone() -> None:
    assert draw_world("mixed-03", "door", 5) == draw_world("mixed-03", "door", 5)
    assert draw_world("mixed-03", "door", 5) != draw_world("mixed-03", "door", 6)
    assert draw_world("mixed-03", "door", 5) != draw_world("mixed-04", "door", 5)


def test_a_family_hides_what_its_name_says_and_nothing_else() -> None:
    for kind in KINDS:
        spring = draw_world("spring-01", kind, 0).joint
        assert (spring.damping, spring.friction) == (NOMINAL[kind].damping, 0.0)
        assert spring.stiffness > 0.0
        mixed = draw_world("mixed-01", kind, 0)
        assert min(mixed.joint.friction, mixed.joint.stiffness) > 0.0
        assert mixed.terms == {"friction", "position"}


def test_a_store_returns_the_numbers_it_was_given(tmp_path: Path) -> None:
    store, table = Store(tmp_path), np.array([[1.0, np.pi], [np.inf, -0.0]])
    store.put("key", table)
    store.put("key", table + 1.0)
    again = Store(tmp_path).get("key")
    assert again is not None
    assert np.array_equal(again, table)
    assert store.get("other") is None
    store.close()
