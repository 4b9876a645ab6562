"""The robot itself; these tests run in the environment that `make robots` makes."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from alder.bench.articulated.case import Case
from alder.bench.articulated.discovery import JointSettings, steady, vocabulary
from alder.bench.articulated.execution import STICKS, Dynamics, Motion
from alder.bench.articulated.from_motion import motion_only
from alder.bench.articulated.grasp import NOMINAL, POSITIONS
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.learned import structure_dynamics
from alder.bench.articulated.methods import measure_method
from alder.bench.articulated.packages import missing_packages
from alder.bench.articulated.planning import reach
from alder.bench.articulated.rig import Joint
from alder.bench.articulated.rollout import Probe
from alder.bench.articulated.scene import KINDS, Kind
from alder.bench.articulated.selectors import measure_selector
from alder.bench.articulated.store import Store
from alder.expr.text import parse

pytestmark = [
    pytest.mark.skipif(missing_packages() is not None, reason=missing_packages() or ""),
    pytest.mark.filterwarnings("ignore"),  # robosuite's own
]

MIXED = {"drawer": Joint(40.0, 8.0, 80.0), "door": Joint(3.6, 0.7, 7.2)}
PROBES = [
    Probe(1, 1.0, 11, None, "test"),
    Probe(2, -0.5, 17, None, "test"),
    Probe(1, 0.6, 7, -0.6, "test"),
]


@cache
def lab(kind: Kind) -> Lab:
    return Lab(kind)


def _rows(kind: Kind, joint: Joint) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    seen = [lab(kind).observe(probe, Dynamics(joint)) for probe in PROBES]
    return np.concatenate([np.column_stack([r.q, r.v, r.force]) for r in seen])


@pytest.mark.parametrize("kind", KINDS)
def test_the_grasp_reaches_four_positions(kind: Kind) -> None:
    assert [r.position for r in lab(kind).reached] == pytest.approx(POSITIONS, abs=1.1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_state_replays_to_the_last_bit(kind: Kind) -> None:
    dynamics = Dynamics(MIXED[kind])
    first = lab(kind).move(PROBES[0], dynamics)
    state = lab(kind).rig.save()
    lab(kind).move(PROBES[2], Dynamics(NOMINAL[kind]))
    second = lab(kind).move(PROBES[0], dynamics)
    assert np.array_equal(first.rows, second.rows)
    assert np.array_equal(state, lab(kind).rig.save())


@pytest.mark.parametrize("kind", KINDS)
def test_the_force_that_is_told_is_the_law_of_the_joint(kind: Kind) -> None:
    q, v, force = _rows(kind, MIXED[kind]).T
    joint, span = MIXED[kind], lab(kind).rig.span
    law = -joint.damping * v - joint.friction * np.sign(v) - joint.stiffness * span * q
    assert np.max(np.abs(force - law)) < 1e-10


@pytest.mark.parametrize("kind", KINDS)
def test_force_from_motion_is_the_force_of_the_joint(kind: Kind) -> None:
    truth = Dynamics(MIXED[kind])
    terms = [
        term for term in vocabulary(JointSettings(STICKS[kind])).terms
        if term.name in ("velocity", "position", "sign")
    ]  # fmt: skip
    seen = motion_only(lab(kind), truth, PROBES[:2], terms, STICKS[kind])
    assert seen.damping == pytest.approx(MIXED[kind].damping, rel=1e-3)
    told, found = (
        steady(rollout, STICKS[kind])["force"]
        for rollout in (lab(kind).observe(PROBES[2], truth), seen.see(PROBES[2]))
    )
    n = len(found)  # the force after the last substep cannot be seen
    assert np.median(np.abs(found - told[:n])) < 1e-3 * np.std(told)


def test_a_prelude_moves_the_joint_against_the_pull_that_follows() -> None:
    rows = lab("drawer").move(PROBES[2], Dynamics(NOMINAL["drawer"])).rows
    assert np.any(rows[:, 1] * rows[:, 2] < 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_law_in_the_nominal_simulator_ends_where_the_world_ends(kind: Kind) -> None:
    joint = MIXED[kind]
    values = {
        "a": -joint.damping,
        "b": -joint.friction,
        "k": -joint.stiffness * lab(kind).rig.span,
    }
    model = structure_dynamics(parse("a*v + b*sign(v) + k*q", ("q", "v", "u")), values)
    for probe in PROBES:
        world = lab(kind).move(probe, Dynamics(joint))
        assert lab(kind).move(probe, model).end == pytest.approx(world.end, abs=1e-9)


def test_hidden_dynamics_change_where_a_probe_ends() -> None:
    ends = [
        lab("door").extent(PROBES[0], Dynamics(j)).end for j in (NOMINAL["door"], MIXED["door"])
    ]
    assert abs(ends[0] - ends[1]) > 0.01


def test_the_stops_are_not_safe() -> None:
    far = Probe(3, 1.0, 17, None, "test")
    motion: Motion = lab("drawer").move(far, Dynamics(NOMINAL["drawer"]))
    assert not motion.extent.safe


def test_a_target_is_reached_by_inverting_the_true_joint() -> None:
    truth = Dynamics(MIXED["drawer"])
    found = reach(lab("drawer"), truth, truth, 1, 0.48)
    assert found.status == "reached"
    assert found.safe
    assert found.error is not None
    assert found.error <= 1e-4
    assert found.evaluations <= 48


def test_one_world_from_passive_rows_to_control(tmp_path: Path) -> None:
    store = Store(tmp_path)
    case = Case(Lab("drawer", store), "coulomb-01", 11, tmp_path)
    row = measure_method(case, "alder")
    assert row["admitted"]
    assert row["support"]
    assert 1 <= row["queries"] <= 6
    assert row["successes"] == row["targets"] == 16
    assert row["unsafe"] == 0
    assert row["ood_rmse"] <= 1e-4
    assert measure_method(case, "nominal")["ood_rmse"] > 10.0 * row["ood_rmse"]
    # Passive rows do not tell which law it is: which of several comes out on top is chance.
    torn, sure = (measure_selector(case, name) for name in ("passive", "disagreement"))
    assert max(torn["confidence"]) < 0.5
    assert sure["confidence"][-1] > 0.95
    assert sure["identified"]
    again = Case(Lab("drawer", store), "coulomb-01", 11, tmp_path)
    assert measure_method(again, "alder") == {**row, "ledger": again.found.outcome.digest}  # type: ignore[union-attr]
    assert again.lab.n_simulated == 0
