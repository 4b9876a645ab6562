"""Laws of joints from rollouts: discovery, channels and selectors on a numerical stand-in."""

from dataclasses import replace

import numpy as np
import pytest
from bench.articulated.standin import FAMILIES, SUBSTEP, Force, World, roll, world

from alder.bench.articulated.channels import (
    NoisyForce,
    learn_motion,
    refit_by_threshold,
    spread_of,
)
from alder.bench.articulated.discovery import (
    JointOutcome,
    JointSettings,
    discover_joint,
    pool_world,
    steady,
    vocabulary,
)
from alder.bench.articulated.from_motion import settle_damping
from alder.bench.articulated.identification import identify_joint
from alder.bench.articulated.instruments import Biased
from alder.bench.articulated.rollout import Probe, Rollout

NAMES = {"bias": "bias", "velocity": "velocity", "position": "position", "friction": "sign"}


def found_in(
    case: World, seed: int, sensor: NoisyForce | None = None, instrument: Biased | None = None
) -> JointOutcome:
    def see(rollout: Rollout, number: int) -> Rollout:
        return rollout if sensor is None else sensor.see(rollout, number)

    settings = JointSettings(case.joint.stiction)
    if instrument is not None:
        settings = replace(settings, instrument=instrument)
    return discover_joint(
        [see(rollout, i) for i, rollout in enumerate(case.passive)],
        case.pool,
        lambda probe: see(case.query(probe), 100 + case.pool.index(probe)),
        [see(rollout, 1000 + i) for i, rollout in enumerate(case.admission)],
        seed,
        nominal=case.nominal,
        settings=settings,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_the_terms_of_every_family_are_found_exactly_with_few_queries(family: str) -> None:
    case = world("drawer", family, 21)
    found = found_in(case, 0)
    assert found.law is not None, found.refusal
    assert found.terms == case.force.terms
    assert found.n_queries <= 2
    assert len(found.queried) == len(found.rollouts) == found.n_queries


def test_a_law_through_a_noisy_sensor_has_the_right_terms_or_is_refused() -> None:
    case = world("door", "coulomb", 22)
    sensor = NoisyForce(0.10, spread_of(case.admission), 5)
    found = found_in(case, 1, sensor, Biased())
    assert found.law is None or found.terms == case.force.terms
    assert found.n_queries == 6


def test_a_catch_in_the_joint_is_no_wild_reading() -> None:
    case = world("door", "viscous", 23)

    def caught(rollout: Rollout) -> Rollout:
        inside = np.abs(rollout.q - 0.5) < 0.03  # a catch that no declared term can say
        return replace(rollout, force=rollout.force - np.where(inside, 8.0, 0.0))

    def query(probe: Probe) -> Rollout:
        return caught(case.query(probe))

    other = replace(
        case,
        passive=[caught(one) for one in case.passive],
        admission=[caught(one) for one in case.admission],
        query=query,
    )
    sensor = NoisyForce(0.01, spread_of(case.admission), 5)
    found = found_in(other, 1, sensor, Biased())
    assert found.law is None
    assert found.refusal.startswith("missing-operator")


def test_a_force_that_no_declared_term_says_is_refused_through_a_noisy_sensor() -> None:
    case = world("door", "viscous", 23)

    def bent(rollout: Rollout) -> Rollout:
        wave = 3.0 * np.sin(40.0 * rollout.q) * rollout.v
        return replace(rollout, force=rollout.force + wave)

    def query(probe: Probe) -> Rollout:
        return bent(case.query(probe))

    other = replace(
        case,
        passive=[bent(one) for one in case.passive],
        admission=[bent(one) for one in case.admission],
        query=query,
    )
    sensor = NoisyForce(0.01, spread_of(other.admission), 6)
    found = found_in(other, 2, sensor, Biased())
    assert found.law is None
    assert found.refusal


def test_the_threshold_of_the_paper_admits_little_noise_and_refuses_much() -> None:
    case = world("drawer", "coulomb", 24)
    settings = JointSettings(case.joint.stiction)
    public = [*case.passive, *(case.query(probe) for probe in case.pool[:3])]
    errors: list[float] = []
    for scale in (0.01, 0.10):
        sensor = NoisyForce(scale, spread_of(case.admission), 7)
        degraded = [sensor.see(rollout, i) for i, rollout in enumerate(public)]
        held = [sensor.see(rollout, 50 + i) for i, rollout in enumerate(case.admission)]
        errors.append(refit_by_threshold(("sign",), degraded, held, settings).nmse)
    assert errors[0] < 1e-3 < errors[1]


def test_a_sensor_shows_the_same_rollout_the_same_way_twice() -> None:
    case = world("drawer", "viscous", 25)
    sensor = NoisyForce(0.05, 1.0, 8)
    first, again, other = (sensor.see(case.passive[0], n).force for n in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_rows_before_a_stop_or_a_reversal_are_dropped() -> None:
    v = np.array([0.05, 0.04, 0.03, 0.012, -0.02, -0.05, -0.06])
    zero = np.zeros(len(v))
    rows = steady(Rollout(zero, v, zero, zero, 0.0, True), 0.01)
    assert rows["v"].tolist() == [0.05, 0.04, 0.03, -0.02, -0.05, -0.06]


def test_force_from_motion_is_calibrated_on_known_force() -> None:
    pytest.importorskip("sklearn")
    case = world("drawer", "viscous", 26)
    known = [roll(case.joint, Force(b=20.0), probe) for probe in case.pool[:6]]
    estimate = learn_motion(case.nominal[:12], known, SUBSTEP, 0)
    seen = estimate.see(case.passive[0], 0)
    assert seen.force.shape == case.passive[0].force.shape
    assert np.isfinite(seen.force).all()
    assert estimate.mass > 0.0


def test_disagreement_identifies_a_joint_no_later_than_repeating_what_was_seen() -> None:
    case = world("door", "mixed", 27)
    settings = JointSettings(case.joint.stiction)
    found = identify_joint(
        case.passive,
        pool_world(case.pool, case.nominal, case.query, settings),
        [NAMES[name] for name in case.force.terms],
        3,
        settings=settings,
        selectors=("passive", "disagreement"),
    )
    assert found["passive"].queries == 7
    assert found["disagreement"].support
    assert found["disagreement"].queries <= 3


def test_every_declared_term_is_a_law_of_its_own() -> None:
    proposer = vocabulary(JointSettings(0.01))
    for term in proposer.terms:
        assert proposer.terms_of(proposer.structure([term.name])) == (term.name,)


def test_the_damping_that_is_assumed_is_the_one_that_is_found_again() -> None:
    assert settle_damping(lambda assumed: 20.0 - 0.4 * (20.0 - assumed)) == pytest.approx(20.0)
    assert settle_damping(lambda assumed: 0.9 * assumed) == 0.0
    curved = settle_damping(lambda assumed: 5.0 + np.tanh(assumed / 5.0))
    assert curved == pytest.approx(5.0 + np.tanh(curved / 5.0))
