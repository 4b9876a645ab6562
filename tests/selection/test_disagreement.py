from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.ports import Selector
from alder.records.evidence import Candidate
from alder.records.experiment import Pool
from alder.records.law import Law
from alder.selection.baselines import FarthestPoint
from alder.selection.batch import Weights
from alder.selection.disagreement import Disagreement
from alder.selection.information import Information
from alder.selection.noise import likeliest, unit_of
from alder.selection.spread import (
    DECISIVE,
    SATURATION,
    assemble,
    deviations,
    measure,
    pair_worth,
    predictive_variances,
    saturate,
)
from selection.worlds import HiddenPool, draw_pool, make_evidence, some_candidates

SEEDS = st.integers(0, 2**32 - 1)


def weighed(seed: int) -> tuple[Candidate, ...]:
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(some_candidates())))
    pairs = zip(some_candidates(), weights, strict=True)
    return tuple(replace(candidate, weight=float(w)) for candidate, w in pairs)


@settings(max_examples=25)
@given(SEEDS, SEEDS)
def test_the_weighted_variance_is_the_sum_over_pairs(seed: int, weights: int) -> None:
    world, candidates = draw_pool(seed, unsafe=0.0), weighed(weights)
    centre = likeliest(candidates)
    ensemble = assemble(candidates, centre, unit_of(centre.law, make_evidence()))
    positions = np.arange(len(world.offered))
    z = deviations(ensemble, world, positions)[0][:, 0, :]
    total, mass = np.zeros(len(z)), 0.0
    for a in range(z.shape[1]):
        for b in range(a):
            share = ensemble.weights[a] * ensemble.weights[b]
            total, mass = total + share * (z[:, a] - z[:, b]) ** 2, mass + share
    found = measure(ensemble, world, positions).pairs
    np.testing.assert_allclose(found, total / mass, rtol=1e-9, atol=1e-9)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_saturation_keeps_order_and_never_exceeds_its_limit(one: float, other: float) -> None:
    low, high = saturate(np.array(sorted([one, other])))
    rounding = 1e-12 * SATURATION
    assert low <= high + rounding
    assert max(abs(low), abs(high)) <= SATURATION + rounding


def test_a_forecast_that_is_no_number_counts_as_far() -> None:
    assert list(saturate(np.array([np.nan, np.inf, -np.inf]))) == [20.0, 20.0, -20.0]


def bounded_pairs(candidates: tuple[Candidate, ...], world: HiddenPool) -> FloatArray:
    """Score every experiment pair by pair, as Equation 5 has it."""
    centre = likeliest(candidates)
    ensemble = assemble(candidates, centre, unit_of(centre.law, make_evidence()))
    positions = np.arange(len(world.offered))
    z = deviations(ensemble, world, positions)[1][:, 0, :]
    s2 = predictive_variances(ensemble, world, positions)[:, 0, :]
    total, mass = np.zeros(len(z)), 0.0
    for a in range(z.shape[1]):
        for b in range(a):
            share = ensemble.weights[a] * ensemble.weights[b]
            d2 = (z[:, a] - z[:, b]) ** 2 / ((s2[:, a] + s2[:, b]) / 2.0)
            total, mass = total + share / (1.0 / d2 + 1.0 / DECISIVE**2), mass + share
    return total / mass


@settings(max_examples=10)
@given(SEEDS, SEEDS)
def test_the_first_choice_is_where_the_laws_disagree_most(seed: int, weights: int) -> None:
    world, candidates = draw_pool(seed, n=200, unsafe=0.0, costs=(1.0,)), weighed(weights)
    plain = Disagreement(Weights(coverage=0.0, cost=0.0))
    rng = np.random.default_rng(0)
    (choice,) = plain.select(candidates, make_evidence(), world, 1, rng)
    scores = bounded_pairs(candidates, world)
    chosen = list(world.offered.ids).index(choice.experiment.id)
    assert scores[chosen] == pytest.approx(scores.max(), rel=1e-9)


def test_all_pairs_told_apart_are_worth_more_than_one_law_far_from_the_rest() -> None:
    laws = tuple(replace(candidate, weight=1.0) for candidate in some_candidates())
    ensemble = assemble(laws, laws[0], unit_of(laws[0].law, make_evidence()))
    z = np.array([[[0.0, 8.0, 16.0]], [[0.0, 0.0, 1000.0]]])
    apart, far = pair_worth(ensemble, z, np.ones_like(z))
    assert apart > far


def test_a_distance_that_a_refit_could_close_is_no_disagreement() -> None:
    laws = some_candidates()
    ensemble = assemble(laws, laws[0], unit_of(laws[0].law, make_evidence()))
    z = np.array([[[0.0, 8.0, 16.0]]])
    known, vague = (pair_worth(ensemble, z, np.full_like(z, s2))[0] for s2 in (1.0, 100.0))
    assert vague < known / 10.0


def test_a_dear_experiment_must_separate_more() -> None:
    world = draw_pool(11, n=200, unsafe=0.0, costs=(1.0,))
    select, rng = Disagreement().select, np.random.default_rng(0)
    (first,) = select(some_candidates(), make_evidence(), world, 1, rng)
    cost = np.where(np.array(world.offered.ids) == first.experiment.id, 100.0, 1.0)
    dear = replace(world, offered=replace(world.offered, cost=cost))
    (second,) = select(some_candidates(), make_evidence(), dear, 1, rng)
    assert second.experiment.id != first.experiment.id


def test_a_batch_does_not_ask_the_same_question_twice() -> None:
    rng = np.random.default_rng(0)
    corner = rng.normal([2.8, 1.8], 0.01, (50, 2))
    spread = rng.uniform(-2.0, 2.0, (50, 2))
    x, y = np.concatenate([corner, spread]).T
    pool = Pool([f"e{i}" for i in range(100)], {"x": x, "y": y}, np.ones(100), np.ones(100, bool))
    world = HiddenPool(pool, np.zeros(100))
    choices = Disagreement().select(some_candidates(), make_evidence(), world, 4, rng)
    crowded = [choice for choice in choices if int(choice.experiment.id[1:]) < 50]
    assert len(crowded) <= 2


def test_one_diverging_law_does_not_outweigh_the_others() -> None:
    """A light law explodes at one experiment; the heavy ones part at another."""
    heavy = some_candidates()
    wild = Candidate(heavy[0].law, 0.01, "W")
    candidates = (replace(heavy[0], weight=0.5), replace(heavy[1], weight=0.49), wild)

    class Exploding:
        """Forecasts by experiment number: the wild law explodes at the first."""

        def pool(self) -> Pool:
            return Pool(["wild", "useful"], {}, np.ones(2), np.ones(2, bool))

        def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
            table = {id(heavy[0].law): [0.0, 0.0], id(heavy[1].law): [0.0, 30.0]}
            return np.array(table.get(id(law), [1e300, 0.0]))[experiments][:, None]

    other = replace(wild, law=replace(heavy[0].law, n_rows=1))
    plain = Disagreement(Weights(0.0, 0.0))
    rng = np.random.default_rng(0)
    (choice,) = plain.select((*candidates[:2], other), make_evidence(), Exploding(), 1, rng)
    assert choice.experiment.id == "useful"


def test_nothing_is_chosen_where_no_experiment_separates_the_laws() -> None:
    same = tuple(
        replace(candidate, law=some_candidates()[0].law) for candidate in some_candidates()
    )
    rng = np.random.default_rng(0)
    assert Disagreement().select(same, make_evidence(), draw_pool(1), 3, rng) == ()


@pytest.mark.parametrize("make", [Disagreement, Information])
def test_a_single_law_is_asked_where_its_coefficients_may_still_move_it(
    make: Callable[[], Selector],
) -> None:
    rng = np.random.default_rng(0)
    chosen = make().select(some_candidates()[:1], make_evidence(), draw_pool(1), 3, rng)
    assert len({choice.experiment.id for choice in chosen}) == 3
    assert all("is left: the coefficients of" in choice.reason for choice in chosen)


def test_a_single_law_that_is_known_is_asked_far_from_everything_measured() -> None:
    (only, *_) = some_candidates()
    exact = replace(only, law=replace(only.law, covariance=np.zeros_like(only.law.covariance)))
    evidence, rng = make_evidence(), np.random.default_rng(0)
    chosen = Disagreement().select([exact], evidence, draw_pool(1), 3, rng)
    farthest = FarthestPoint().select([exact], evidence, draw_pool(1), 3, rng)
    assert [c.experiment.id for c in chosen] == [c.experiment.id for c in farthest]
    assert all("coefficients are known: lies" in choice.reason for choice in chosen)


def test_without_a_law_there_is_nothing_to_ask() -> None:
    rng = np.random.default_rng(0)
    assert Disagreement().select([], make_evidence(), draw_pool(1), 3, rng) == ()


def test_a_choice_names_the_laws_it_separates_and_by_how_much() -> None:
    rng = np.random.default_rng(0)
    world = draw_pool(1, unsafe=0.0)
    (choice,) = Disagreement().select(some_candidates(), make_evidence(), world, 1, rng)
    pair = choice.separates[0]
    assert choice.reason.startswith(f"separates {pair.first} from {pair.second} by ")
    settings_ = {name: np.array([value]) for name, value in choice.experiment.settings.items()}
    of = {candidate.label: candidate.law for candidate in some_candidates()}
    gap = float(of[pair.first].predict(settings_)[0] - of[pair.second].predict(settings_)[0])
    best = likeliest(some_candidates()).law
    sigma = float(best.noise.sigma(best.predict(settings_))[0])
    np.testing.assert_allclose(pair.sigmas, abs(gap) / sigma, rtol=1e-9)


def test_several_outputs_add_up() -> None:
    class Twice:
        """Shows every row twice."""

        def __init__(self, world: HiddenPool) -> None:
            self.world = world

        def pool(self) -> Pool:
            return self.world.pool()

        def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
            return np.repeat(self.world.predict(law, experiments), 2, axis=1)

    world = draw_pool(8, unsafe=0.0)
    centre = likeliest(some_candidates())
    ensemble = assemble(some_candidates(), centre, unit_of(centre.law, make_evidence()))
    positions = np.arange(len(world.offered))
    once, twice = measure(ensemble, world, positions), measure(ensemble, Twice(world), positions)
    np.testing.assert_allclose(twice.pairs, 2.0 * once.pairs, rtol=1e-9)
    np.testing.assert_allclose(twice.sigmas, np.sqrt(2.0) * once.sigmas, rtol=1e-9)


def test_a_short_list_of_a_large_pool_finds_about_the_best() -> None:
    world = draw_pool(21, n=9000, unsafe=0.0, costs=(1.0,))
    candidates = some_candidates()
    rng = np.random.default_rng(0)
    plain = Disagreement(Weights(0.0, 0.0))
    choices = plain.select(candidates, make_evidence(), world, 5, rng)
    scores = bounded_pairs(candidates, world)
    chosen = list(world.offered.ids).index(choices[0].experiment.id)
    assert scores[chosen] >= 0.99 * scores.max()
    assert len({choice.experiment.id for choice in choices}) == 5
