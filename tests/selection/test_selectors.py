"""What every selector promises: safe, new, affordable, reasoned, blind to hidden outcomes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alder.errors import BadStudy
from alder.ports import Selector
from alder.records.budget import Budget, Spent
from alder.records.evidence import Choice
from alder.records.experiment import Trajectory
from alder.selection.registry import SELECTORS, selector
from selection.worlds import HiddenPool, draw_pool, make_evidence, some_candidates

SEEDS = st.integers(0, 2**32 - 1)
WITHOUT_CHANCE = ("disagreement", "information", "coverage", "uncertainty")
EVERY = tuple(SELECTORS)


def choose(name: str, world: HiddenPool, n: int = 6, budget: Budget | None = None) -> list[Choice]:
    evidence = make_evidence(budget=budget)
    rng = np.random.default_rng(7)
    return list(selector(name).select(some_candidates(), evidence, world, n, rng))


def ids(choices: list[Choice]) -> list[str]:
    return [choice.experiment.id for choice in choices]


@pytest.mark.parametrize("name", EVERY)
def test_every_selector_is_a_selector(name: str) -> None:
    assert isinstance(selector(name), Selector)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=10)
@given(SEEDS)
def test_hidden_outcomes_change_no_choice(name: str, seed: int) -> None:
    world = draw_pool(seed)
    other = replace(world, outcomes=-1e6 * world.outcomes + 3.0)
    assert choose(name, world) == choose(name, other)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=10)
@given(SEEDS, st.floats(0.0, 1.0))
def test_choices_are_safe_and_distinct(name: str, seed: int, unsafe: float) -> None:
    world = draw_pool(seed, unsafe=unsafe)
    safe = {i for i, is_safe in zip(world.offered.ids, world.offered.safe, strict=True) if is_safe}
    chosen = ids(choose(name, world, n=20))
    assert set(chosen) <= safe
    assert len(set(chosen)) == len(chosen) <= 20


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=10)
@given(SEEDS, st.floats(0.0, 12.0))
def test_choices_cost_no_more_than_is_left(name: str, seed: int, left: float) -> None:
    evidence = replace(make_evidence(budget=Budget(cost=left + 4.0)), spent=Spent(cost=4.0))
    rng = np.random.default_rng(0)
    choices = selector(name).select(some_candidates(), evidence, draw_pool(seed), 20, rng)
    assert sum(choice.experiment.cost for choice in choices) <= left + 1e-6


@pytest.mark.parametrize("name", EVERY)
def test_what_was_run_is_not_asked_again(name: str) -> None:
    world = draw_pool(3, n=30, unsafe=0.0)
    evidence = make_evidence()
    columns = {key: column[:1] for key, column in evidence.initial.columns.items()}
    ran = tuple(Trajectory(columns, experiment=i) for i in world.offered.ids[:20])
    rng = np.random.default_rng(0)
    later = replace(evidence, trajectories=ran)
    choices = selector(name).select(some_candidates(), later, world, 30, rng)
    assert {c.experiment.id for c in choices} == set(world.offered.ids[20:])


@pytest.mark.parametrize("name", EVERY)
def test_what_was_asked_and_has_not_come_back_is_not_asked_again(name: str) -> None:
    world = draw_pool(4, n=20, unsafe=0.0)
    first = choose(name, world, n=5)
    evidence = replace(make_evidence(), choices=tuple(first))
    rng = np.random.default_rng(0)
    second = selector(name).select(some_candidates(), evidence, world, 15, rng)
    assert not set(ids(first)) & set(ids(list(second)))


@pytest.mark.parametrize("name", WITHOUT_CHANCE)
@settings(max_examples=15)
@given(SEEDS, SEEDS)
def test_the_order_of_the_pool_does_not_matter(name: str, seed: int, order: int) -> None:
    world = draw_pool(seed)
    permutation = np.random.default_rng(order).permutation(len(world.offered))
    assert ids(choose(name, world)) == ids(choose(name, world.permuted(permutation)))


@pytest.mark.parametrize("name", WITHOUT_CHANCE)
def test_equal_experiments_are_chosen_by_id_whatever_their_order(name: str) -> None:
    world = draw_pool(5, n=8, unsafe=0.0, costs=(1.0,))
    twice = world.permuted(np.tile(np.arange(8), 2))
    twice = replace(
        twice, offered=replace(twice.offered, ids=tuple(f"e{i:02d}" for i in range(16)))
    )
    backwards = twice.permuted(np.arange(16)[::-1])
    assert ids(choose(name, twice)) == ids(choose(name, backwards))


@pytest.mark.parametrize("name", EVERY)
def test_the_same_generator_gives_the_same_choices(name: str) -> None:
    world = draw_pool(9)
    assert choose(name, world) == choose(name, world)


@pytest.mark.parametrize("name", EVERY)
def test_every_choice_says_why_and_at_what_cost(name: str) -> None:
    for choice in choose(name, draw_pool(2)):
        assert f"cost {choice.experiment.cost:g}" in choice.reason


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("unsafe", [0.0, 1.0])
def test_asking_for_nothing_or_of_nothing_gives_nothing(name: str, unsafe: float) -> None:
    world = draw_pool(1, unsafe=unsafe)
    nothing = replace(world.offered, safe=np.zeros(len(world.offered), dtype=np.bool_))
    assert choose(name, replace(world, offered=nothing)) == []
    assert choose(name, world, n=0) == []


def test_an_unknown_selector_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(BadStudy, match="Did you mean `disagreement`"):
        selector("disagrement")


@pytest.mark.parametrize("name", EVERY)
def test_a_budget_that_decimals_just_fill_is_filled(name: str) -> None:
    world = draw_pool(1, n=9, unsafe=0.0, costs=(0.1,))
    assert len(choose(name, world, budget=Budget(cost=0.3))) == 3
