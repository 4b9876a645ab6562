"""Rollouts whose force comes from motion alone: which damping to assume, and what is then seen.

The robot's own model is led along the motion (`execution.led`). It must assume a damping of the
joint, since MuJoCo damps implicitly. Passive rollouts say which: the one that a fit of the terms to
their force finds again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.bench.articulated.discovery import joined, steady
from alder.bench.articulated.execution import Dynamics
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.rollout import Probe, Rollout
from alder.proposers.additive import Term, columns_of

_VELOCITY = "velocity"
_ROUNDS = 12
_SETTLED = 1e-7


@final
@dataclass(frozen=True, slots=True, eq=False)
class MotionOnly:
    """A laboratory in which positions and velocities are seen, and no force."""

    lab: Lab
    truth: Dynamics
    damping: float

    def see(self, probe: Probe) -> Rollout:
        """Execute a probe; the force is that of its motion."""
        return self.lab.observe_motion(probe, self.truth, self.damping)


def motion_only(
    lab: Lab, truth: Dynamics, passive: Sequence[Probe], terms: Sequence[Term], stiction: float
) -> MotionOnly:
    """Return the laboratory with the damping that passive rollouts settle on."""

    def found(damping: float) -> float:
        seen = MotionOnly(lab, truth, damping)
        return _damping_in([seen.see(probe) for probe in passive], terms, stiction)

    return MotionOnly(lab, truth, settle_damping(found) if _moves(terms) else 0.0)


def settle_damping(found: Callable[[float], float]) -> float:
    r"""Return the damping d with d = found(d), by secants of found(d) - d from none.

    A joint damps or does not: what is found below zero is zero.
    """
    last, at = 0.0, found(0.0)
    excess = at
    for _ in range(_ROUNDS):
        if abs(at - last) <= _SETTLED * max(abs(at), 1e-6):
            break
        now = found(at) - at
        step = now * (at - last) / (excess - now) if excess != now else now
        last, excess, at = at, now, max(at + step, 0.0)
    return at


def _moves(terms: Sequence[Term]) -> bool:
    return any(term.name == _VELOCITY for term in terms)


def _damping_in(rollouts: Sequence[Rollout], terms: Sequence[Term], stiction: float) -> float:
    """Fit the terms to the force, and return the damping among them."""
    rows = joined([steady(rollout, stiction) for rollout in rollouts])
    X = columns_of(terms, rows, len(rows["v"]))
    coefficients, *_ = np.linalg.lstsq(X, rows["force"], rcond=None)
    place = next(i for i, term in enumerate(terms) if term.name == _VELOCITY)
    return max(-float(coefficients[place]), 0.0)
