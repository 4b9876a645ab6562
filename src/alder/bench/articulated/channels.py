r"""What a force sensor does to a joint's force, and what can still be found through it.

Two channels. A sensor with noise and a zero that drifts from rollout to rollout:

$$\tilde f_i = f_i + s\,S\,(\beta_{r(i)} + \epsilon_i), \qquad \beta_r, \epsilon_i \sim N(0, 1),$$

$S$ the spread of the force signal and $s$ the scale. And no sensor at all: force from motion,

$$\hat f_i = m\,\bigl(a_i - \hat a(q_i, v_i, u_i)\bigr),$$

$a$ the acceleration that was seen, $\hat a$ that of the nominal joint by a forest of 300 trees, and
$m$ calibrated on rollouts whose force is known.

Two rules. The paper's refits the structure that was validated without the channel, by least
squares, and asks for the same normalised error on degraded protected rows. Ours estimates noise and
offsets, and asks for what they leave possible; see `discovery.Biased`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

import alder
from alder.arrays import FloatArray
from alder.bench.articulated.discovery import (
    TARGET,
    VARIABLES,
    JointSettings,
    joined,
    steady,
    vocabulary,
)
from alder.bench.articulated.rollout import Rollout
from alder.bench.extras import load_rival
from alder.records.law import Law

SCALES = (0.01, 0.05, 0.10)
"""Noise and offsets, as shares of the spread of the force signal."""

N_TREES = 300


@final
@dataclass(frozen=True, slots=True)
class NoisyForce:
    """A sensor with noise and an offset per rollout, both of `scale` times `spread`.

    What it shows follows from `seed` and the number of the rollout alone, so that a rollout looked
    at twice shows the same.
    """

    scale: float
    spread: float
    seed: int

    def see(self, rollout: Rollout, number: int) -> Rollout:
        """Return the rollout with the force that the sensor shows."""
        rng = np.random.default_rng([self.seed, number])
        offset, noise = rng.standard_normal(), rng.standard_normal(len(rollout.force))
        return replace(rollout, force=rollout.force + self.scale * self.spread * (offset + noise))


def spread_of(rollouts: Sequence[Rollout]) -> float:
    """Return the standard deviation of the force over all rows."""
    return float(np.std(np.concatenate([rollout.force for rollout in rollouts])))


@final
@dataclass(frozen=True, slots=True, eq=False)
class EstimatedForce:
    """Force from motion and known actions; made by `learn_motion`."""

    forest: Any
    mass: float
    substep: float

    def see(self, rollout: Rollout, number: int) -> Rollout:
        """Return the rollout with the force that its motion suggests; its number says nothing."""
        return replace(rollout, force=self.mass * self._excess(rollout))

    def _excess(self, rollout: Rollout) -> FloatArray:
        return _acceleration(rollout, self.substep) - _predicted(self.forest, rollout)


def learn_motion(
    nominal: Sequence[Rollout], known: Sequence[Rollout], substep: float, seed: int
) -> EstimatedForce:
    """Learn nominal acceleration, then calibrate it on rollouts whose force is known."""
    trees = load_rival("sklearn.ensemble")
    forest = trees.ExtraTreesRegressor(n_estimators=N_TREES, random_state=seed, n_jobs=1)
    X = np.concatenate([_inputs(rollout) for rollout in nominal])
    forest.fit(X, np.concatenate([_acceleration(rollout, substep) for rollout in nominal]))
    excess = np.concatenate([_acceleration(r, substep) - _predicted(forest, r) for r in known])
    force = np.concatenate([rollout.force for rollout in known])
    mass = float(excess @ force) / max(float(excess @ excess), 1e-300)
    return EstimatedForce(forest, mass, substep)


def _inputs(rollout: Rollout) -> FloatArray:
    return np.column_stack([rollout.q, rollout.v, rollout.u])


def _predicted(forest: Any, rollout: Rollout) -> FloatArray:  # noqa: ANN401 (an optional package)
    if not len(rollout.q):
        return np.zeros(0)
    return np.asarray(forest.predict(_inputs(rollout)), dtype=np.float64)


def _acceleration(rollout: Rollout, substep: float) -> FloatArray:
    if len(rollout.v) < 2:  # too few rows to see a change of velocity
        return np.zeros(len(rollout.v))
    return np.asarray(np.gradient(rollout.v, substep), dtype=np.float64)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """A validated structure refitted to degraded rows: its law where admitted, and its error."""

    law: Law | None
    nmse: float


def refit_by_threshold(
    terms: Sequence[str],
    public: Sequence[Rollout],
    admission: Sequence[Rollout],
    settings: JointSettings,
    nmse: float = 1e-3,
) -> Refitted:
    """Apply the paper's rule: least squares, and a fixed error on degraded protected rows."""
    rows = joined([steady(rollout, settings.stiction) for rollout in public])
    held = joined([steady(rollout, settings.stiction) for rollout in admission])
    structure = vocabulary(settings).structure(terms)
    law = alder.fit(structure, rows, target=TARGET, variables=VARIABLES).law
    y = held["force"]
    error = y - law.predict({variable.name: held[variable.name] for variable in VARIABLES})
    found = float(np.sum(np.square(error)) / max(float(np.sum(np.square(y - y.mean()))), 1e-300))
    return Refitted(law if found <= nmse else None, found)
