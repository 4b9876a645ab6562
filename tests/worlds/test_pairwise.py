# User code has no types, and neither has what these tests pass for it.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportArgumentType=false
"""Worlds of many objects under one law of pairs."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from worlds.problems import law

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.records.experiment import FailedRun, Trajectory
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.records.variable import Variable
from alder.worlds.pairwise import PairwiseWorld, Scene

GRAMMAR = Grammar([Variable("dx"), Variable("m")], Variable("a"))
SUMS = Roles(sums="receiver")
PULL = law("m * dx", "dx", "m")
PAIR = {"x": [0.0, 2.0], "mass": [1.0, 3.0]}
THREE = {"x": [0.0, 2.0, -1.0], "mass": [1.0, 3.0, 5.0]}


def features(receiver: Mapping[str, float], source: Mapping[str, float]) -> dict[str, float]:
    return {"dx": source["x"] - receiver["x"], "m": source["mass"]}


def drag(body: Mapping[str, float]) -> float:
    return -10.0 * body["x"]


def pull(scene: Scene) -> FloatArray:
    x, m = scene["x"], scene["mass"]
    return np.array([np.sum(m * (x - here)) for here in x]) - 10.0 * x


def world(*scenes: object) -> PairwiseWorld:
    return PairwiseWorld(pull, scenes=scenes, features=features, own=drag)


def test_a_pair_gives_an_ordinary_row_for_each_object() -> None:
    bound = world(PAIR).bind(GRAMMAR)
    rows = bound.run([bound.pool().experiment(0)])[0]
    assert isinstance(rows, Trajectory)
    np.testing.assert_allclose(rows.columns["a"], PULL.predict(rows.columns), atol=1e-12)
    assert rows.n_rows == 2


def test_the_forecast_of_the_true_law_is_the_sum_that_a_run_shows() -> None:
    bound = world(THREE).bind(GRAMMAR, SUMS)
    rows = bound.run([bound.pool().experiment(0)])[0]
    assert isinstance(rows, Trajectory)
    shown = rows.columns["a"].reshape(3, 2)
    assert (shown[:, 0] == shown[:, 1]).all()
    np.testing.assert_allclose(bound.predict(PULL, np.arange(1))[0], shown[:, 0], atol=1e-12)
    assert rows.columns["receiver"].tolist() == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]


def test_a_study_of_more_than_two_objects_says_which_rows_make_up_a_sum() -> None:
    with pytest.raises(BadWorld, match="sums over pairs"):
        world(THREE).bind(GRAMMAR, Roles())
    assert world(PAIR).bind(GRAMMAR, Roles()).pool().ids


def test_scenes_measured_before_give_the_rows_that_a_run_would() -> None:
    both = world(THREE, THREE)
    bound = both.bind(GRAMMAR, SUMS)
    ran = bound.run([bound.pool().experiment(0)])[0]
    assert isinstance(ran, Trajectory)
    known = [THREE, PAIR]
    scenes = [{name: np.array(column) for name, column in scene.items()} for scene in known]
    rows = both.rows(known, [pull(scene) for scene in scenes], "a")
    for name, column in ran.columns.items():
        np.testing.assert_array_equal(rows[name][:6], column)
    assert rows["receiver"].tolist() == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0]
    assert rows["share"].tolist() == [0.5] * 6 + [1.0] * 2


def test_measured_scenes_that_cannot_be_used_are_refused_in_a_sentence() -> None:
    with pytest.raises(BadWorld, match="1 scenes but targets of 2"):
        world(PAIR).rows([PAIR], [[1.0, 2.0], [1.0, 2.0]], "a")
    with pytest.raises(BadWorld, match=r"targets of scene 1 .* each of the 2 objects"):
        world(PAIR).rows([PAIR], [[1.0]], "a")
    with pytest.raises(BadWorld, match="There is no scene"):
        world(PAIR).rows([], [], "a")


def test_the_pool_shows_the_properties_of_every_object() -> None:
    columns = world(PAIR, PAIR).bind(GRAMMAR).pool().columns
    assert {name: column.tolist() for name, column in columns.items()} == {
        "x_1": [0.0, 0.0],
        "x_2": [2.0, 2.0],
        "mass_1": [1.0, 1.0],
        "mass_2": [3.0, 3.0],
    }


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda _: [1.0], "each of the 2 objects"),
        (lambda _: [1.0, math.nan], "no finite `a`"),
        (lambda _: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_scene_that_fails_says_why(run: object, words: str) -> None:
    assert callable(run)
    bound = PairwiseWorld(run, scenes=[PAIR], features=features).bind(GRAMMAR)
    result = bound.run([bound.pool().experiment(0)])[0]
    assert isinstance(result, FailedRun)
    assert words in result.reason


def test_bad_input_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadWorld, match="as many objects"):
        world(PAIR, THREE)
    with pytest.raises(BadWorld, match="Scene 1 has fewer than two"):
        world({"x": [1.0], "mass": [1.0]})
    with pytest.raises(BadWorld, match="no experiment"):
        world()
    with pytest.raises(BadWorld, match="`q` is a column of the study but no feature"):
        world(PAIR).bind(Grammar([Variable("q")], Variable("a")))
    with pytest.raises(BadWorld, match=r"features of scene 1 .* KeyError"):
        world({"x": [0.0, 1.0]}).bind(GRAMMAR)
