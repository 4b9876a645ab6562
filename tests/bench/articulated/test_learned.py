"""Laws and networks become what the nominal simulator needs to act like them."""

import numpy as np
import pytest

from alder.bench.articulated.compiled import NO_FORCE, Force
from alder.bench.articulated.learned import (
    initial_dynamics,
    network_dynamics,
    structure_dynamics,
)
from alder.bench.articulated.rollout import Rollout
from alder.expr.nodes import Expr
from alder.expr.text import parse
from alder.kernel.opcodes import CST, VAR


def _law(text: str) -> Expr:
    return parse(text, ("q", "v", "u"))


def _rollout(seed: int = 0) -> Rollout:
    rng = np.random.default_rng(seed)
    q, v, u = rng.uniform(0.2, 0.8, 90), rng.uniform(0.02, 0.1, 90), rng.uniform(-1.0, 1.0, 90)
    return Rollout(q, v, u, 0.5 - 30.0 * v, 0.5, safe=True)


def test_resistance_in_velocity_and_its_sign_becomes_the_joints_own() -> None:
    dynamics = structure_dynamics(_law("a*v + b*sign(v)"), {"a": -18.0, "b": -0.75})
    assert dynamics.joint.damping == 18.0
    assert dynamics.joint.friction == 0.75
    assert dynamics.force is None


def test_signs_of_differences_are_counted() -> None:
    dynamics = structure_dynamics(_law("0.0*q - a*v - sign(v)*b"), {"a": 18.0, "b": 0.75})
    assert (dynamics.joint.damping, dynamics.joint.friction) == (18.0, 0.75)


def test_the_rest_of_a_law_is_applied_as_bytecode() -> None:
    dynamics = structure_dynamics(_law("a*v + k*q"), {"a": -1.0, "k": -2.5})
    assert dynamics.force is not None
    assert VAR in dynamics.force.opcodes
    assert -2.5 in dynamics.force.literals[dynamics.force.opcodes == CST]


def test_what_drives_the_joint_is_applied_and_no_negative_damping_arises() -> None:
    dynamics = structure_dynamics(_law("a*v"), {"a": 3.0})
    assert dynamics.joint.damping == 0.0
    assert dynamics.force is not None


def test_the_initial_law_is_fitted_to_passive_rows() -> None:
    dynamics = initial_dynamics([_rollout()])
    assert dynamics.joint.damping == pytest.approx(30.0, rel=1e-6)
    assert isinstance(dynamics.force, Force)
    assert dynamics.force.literals.max() == pytest.approx(0.5, rel=1e-6)


def test_a_network_has_two_layers_of_32_and_nothing_of_the_joints_own() -> None:
    pytest.importorskip("sklearn")
    dynamics = network_dynamics([_rollout(1)], seed=3)
    assert dynamics.joint.damping == dynamics.joint.friction == 0.0
    assert dynamics.force is not None
    assert (dynamics.force.first.shape, dynamics.force.second.shape) == ((4, 32), (33, 32))
    assert dynamics.force.last.shape == (33,)


def test_dynamics_are_told_apart_by_their_numbers() -> None:
    one = structure_dynamics(_law("a*v + k*q"), {"a": -1.0, "k": -2.5})
    same = structure_dynamics(_law("a*v + k*q"), {"a": -1.0, "k": -2.5})
    other = structure_dynamics(_law("a*v + k*q"), {"a": -1.0, "k": -2.4})
    assert one.digest == same.digest != other.digest


def test_no_force_has_the_floors_of_every_law() -> None:
    assert NO_FORCE.floors.tolist() == [1e-150, 1e-150, 690.0, 1e300]
