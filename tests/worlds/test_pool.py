# User code has no types, and neither has what these tests pass for it.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Pools whose outcomes are hidden until queried."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.problems import GRAMMAR, SPRING

from alder.errors import BadWorld
from alder.ports import World
from alder.records.experiment import FailedRun, Trajectory
from alder.worlds.guard import Guard
from alder.worlds.pool import PoolWorld

INPUTS = {"r": np.array([1.0, 2.0, 3.0, 4.0]), "v": np.array([0.0, 1.0, 0.0, 1.0])}
OUTCOMES = np.array([-2.0, -2.0, -6.0, -4.0])


def bound(query: object = OUTCOMES.__getitem__, **options: object) -> World:
    return PoolWorld(INPUTS, query=query, **options).bind(GRAMMAR)  # type: ignore[arg-type]


def run(world: World, *rows: int) -> list[Trajectory | FailedRun]:
    return list(world.run([world.pool().experiment(row) for row in rows]))


@given(st.lists(st.integers(0, 3), unique=True, min_size=1))
def test_query_gets_the_distinct_rows_asked_for_in_one_integer_array(rows: list[int]) -> None:
    asked: list[np.ndarray] = []

    def query(numbers: np.ndarray) -> np.ndarray:
        asked.append(numbers)
        return OUTCOMES[numbers]

    results = run(bound(query), *rows)
    assert [numbers.tolist() for numbers in asked] == [rows]
    assert asked[0].ndim == 1
    assert asked[0].dtype.kind == "i"
    assert [t.columns["a"][0] for t in results if isinstance(t, Trajectory)] == [
        OUTCOMES[row] for row in rows
    ]


def test_query_is_never_called_before_a_run() -> None:
    def query(_: object) -> float:
        raise AssertionError("asked too early")

    world = bound(query, cost=[1.0, 2.0, 3.0, 4.0], safe=[1, 1, 0, 1])
    assert len(world.pool()) == 4
    assert world.predict(SPRING, np.array([1, 3])).tolist() == [[-2.0], [-4.0]]
    assert list(world.run([])) == []


def test_an_unsafe_row_is_never_queried() -> None:
    asked: list[object] = []
    world = bound(asked.append, safe=np.array([True, False, True, True]))
    with pytest.raises(BadWorld, match="unsafe"):
        run(world, 0, 1)
    assert asked == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (lambda rows: OUTCOMES[:1], "1 outcomes for 2 rows"),
        (lambda rows: None, "2 numbers were expected"),
        (lambda rows: ["a", "b"], "2 numbers were expected"),
        (lambda rows: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_query_that_answers_rubbish_fails_all_it_was_asked(query: object, words: str) -> None:
    results = run(bound(query), 0, 2)
    assert [result.experiment for result in results] == ["e1", "e3"]
    assert all(isinstance(r, FailedRun) and words in r.reason for r in results)


def test_an_outcome_that_is_no_number_fails_its_own_row_only() -> None:
    results = run(bound(lambda rows: np.array([1.0, np.nan])), 0, 1)
    assert isinstance(results[0], Trajectory)
    assert results[1] == FailedRun("e2", "it returned no finite `a`")


def test_a_query_that_hangs_fails() -> None:
    def query(_: object) -> float:
        while True:
            pass

    result = run(bound(query, guard=Guard(seconds=0.05)), 0)[0]
    assert isinstance(result, FailedRun)
    assert "took longer" in result.reason


@pytest.mark.parametrize(
    ("inputs", "options", "words"),
    [
        ({"r": [1.0, 2.0], "v": [1.0]}, {}, "one length"),
        ({"r": [1.0, np.nan], "v": [1.0, 1.0]}, {}, "finite number"),
        ({"r": ["x"], "v": [1.0]}, {}, "number is expected"),
        ({}, {}, "no experiment"),
        ({"r": [1.0]}, {}, "`v` is a variable"),
        (INPUTS, {"safe": [True]}, "1 values for 4"),
        (INPUTS, {"cost": [1, 1, 1, -1]}, "costs -1"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    inputs: object, options: dict[str, object], words: str
) -> None:
    with pytest.raises(BadWorld, match=words):
        PoolWorld(inputs, query=OUTCOMES.__getitem__, **options).bind(GRAMMAR)  # type: ignore[arg-type]
