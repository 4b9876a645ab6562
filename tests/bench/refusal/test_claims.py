import numpy as np
import pytest

from alder.bench.refusal.claims import claims
from alder.bench.refusal.domains import TARGET, Role
from alder.bench.refusal.worlds import World, draw_world
from alder.fitting import fit
from alder.records.law import Law

FORM = "a*x^p + b*v"
"""The structure of the first world of the control arm."""


def bounds(both: float) -> dict[Role, float]:
    return {"admission": both, "shift": both}


@pytest.fixture(scope="module")
def world() -> World:
    return draw_world("control-01", 3)


@pytest.fixture(scope="module")
def true(world: World) -> Law:
    return fit(FORM, world.rows["fit"], target=TARGET).law


def test_a_law_that_is_right_is_within_its_claim_on_both_tests(world: World, true: Law) -> None:
    found = claims(world, true, bounds(1.2 * world.noise["admission"]))
    assert all(claim.holds for claim in found.values())
    assert found["admission"].claimed == pytest.approx(1.2 * world.noise["admission"])


def test_a_law_that_states_little_error_and_has_much_breaks_its_claim(world: World) -> None:
    wrong = fit("a*x + b*v", world.rows["fit"], target=TARGET).law
    found = claims(world, wrong, bounds(1.2 * world.noise["admission"]))
    assert not found["admission"].holds
    assert not found["shift"].holds


def test_a_law_no_better_than_the_mean_breaks_any_claim(world: World) -> None:
    mean = fit("c", world.rows["fit"], target=TARGET).law
    assert not claims(world, mean, bounds(1e6))["admission"].holds


def test_a_claim_counts_errors_without_noise_and_observations_with_it(
    world: World, true: Law
) -> None:
    claim = claims(world, true, None)["admission"]
    test = world.rows["admission-test"]
    error = float(np.sqrt(np.mean(np.square(test[TARGET] - true.predict(test)))))
    assert claim.error == pytest.approx(error)
    assert claim.observed == pytest.approx(np.hypot(error, world.noise["admission-test"]))


def test_a_refused_law_claims_what_it_states_itself(world: World, true: Law) -> None:
    stated = true.noise.additive
    assert claims(world, true, None)["admission"].claimed == pytest.approx(stated, rel=0.2)
