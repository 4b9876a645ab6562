"""Worlds that a person runs, and recorded rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.problems import GRAMMAR, SPRING

from alder.errors import BadWorld
from alder.records.experiment import Experiment
from alder.worlds.binding import bind
from alder.worlds.function import FunctionWorld
from alder.worlds.log import LogWorld
from alder.worlds.manual import ManualWorld, spread

BOX = {"r": (0.5, 4.0), "v": (-1.0, 1.0)}


@given(st.integers(1, 200), st.integers(1, 8))
def test_a_box_is_filled_inside_with_distinct_points(n: int, n_settings: int) -> None:
    columns = spread({f"x{i}": (-2.0, 3.0) for i in range(n_settings)}, n)
    points = np.array(list(columns.values())).T
    assert points.shape == (n, n_settings)
    assert ((points > -2.0) & (points < 3.0)).all()
    assert len(np.unique(points, axis=0)) == n


def test_a_box_is_filled_evenly() -> None:
    columns = spread({"x": (0.0, 1.0), "y": (0.0, 1.0)}, 144)
    counts, _, _ = np.histogram2d(columns["x"], columns["y"], bins=4, range=[[0, 1], [0, 1]])
    assert counts.min() >= 7
    assert counts.max() <= 11


def test_a_manual_world_offers_and_predicts_but_does_not_run() -> None:
    world = ManualWorld(ranges=BOX, n=5).bind(GRAMMAR)
    pool = world.pool()
    expected = pool.columns["r"] * pool.columns["v"] - 2 * pool.columns["r"]
    np.testing.assert_allclose(world.predict(SPRING, np.arange(5))[:, 0], expected)
    assert list(world.run([])) == []
    with pytest.raises(BadWorld, match=r"Study\.ask"):
        world.run([pool.experiment(0)])


def test_a_manual_world_marks_unsafe_experiments() -> None:
    world = ManualWorld([{"r": 1.0, "v": 0.0}, {"r": 2.0, "v": 0.0}], is_safe=[True, False])
    assert world.bind(GRAMMAR).pool().safe.tolist() == [True, False]


def test_a_manual_world_takes_experiments_or_ranges() -> None:
    with pytest.raises(BadWorld, match="either experiments or ranges"):
        ManualWorld()
    with pytest.raises(BadWorld, match="smaller first"):
        ManualWorld(ranges={"r": (2.0, 1.0)})
    with pytest.raises(BadWorld, match="n is 0"):
        ManualWorld(ranges=BOX, n=0)


def test_a_log_offers_nothing() -> None:
    world = LogWorld().bind(GRAMMAR)
    assert len(world.pool()) == 0
    assert world.predict(SPRING, np.empty(0, dtype=np.intp)).shape == (0, 1)
    with pytest.raises(BadWorld, match="recorded rows"):
        world.run([Experiment("e1", {})])


def test_binding_leaves_a_bound_world_as_it_is_and_refuses_what_is_none() -> None:
    bound = bind(FunctionWorld(lambda _: 1.0, experiments={"r": [1.0], "v": [1.0]}), GRAMMAR)
    assert bind(bound, GRAMMAR) is bound
    with pytest.raises(BadWorld, match="A dict is no world"):
        bind({}, GRAMMAR)
