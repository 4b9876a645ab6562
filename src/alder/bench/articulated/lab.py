"""A joint that can be probed: outcomes from the store where they are known, simulated otherwise."""

from dataclasses import replace
from functools import cached_property
from typing import final

import numpy as np

from alder.arrays import freeze
from alder.bench.articulated.execution import (
    STICKS,
    Dynamics,
    Extent,
    Motion,
    execute,
    led,
    observed,
)
from alder.bench.articulated.grasp import POSITIONS, Reached, reach_states
from alder.bench.articulated.rig import Rig
from alder.bench.articulated.rollout import Probe, Rollout
from alder.bench.articulated.scene import Kind, compose
from alder.bench.articulated.store import Store, key_of

_SUMMARY = 3  # numbers of a reached state before MuJoCo's own


@final
class Lab:
    """One robot before one kind of joint. The scene is composed when something is simulated."""

    def __init__(self, kind: Kind, store: Store | None = None) -> None:
        """Remember where outcomes are kept; None: nowhere."""
        self.kind: Kind = kind
        self._store = store
        self.n_simulated = 0

    @cached_property
    def rig(self) -> Rig:
        """The robot before the joint."""
        return Rig(compose(self.kind))

    @cached_property
    def reached(self) -> tuple[Reached, ...]:
        """The four states every probe begins with."""
        key = key_of("reached", self.kind, self._scene)
        kept = self._store.get(key) if self._store else None
        if kept is None:
            found = reach_states(self.rig)
            kept = np.stack([np.append([r.goal, r.position, 0.0], r.state) for r in found])
            if self._store:
                self._store.put(key, kept)
        assert len(kept) == len(POSITIONS)
        return tuple(Reached(freeze(row[_SUMMARY:]), float(row[0]), float(row[1])) for row in kept)

    def observe(self, probe: Probe, dynamics: Dynamics) -> Rollout:
        """Return what executing a probe shows."""
        return observed(self._motion(probe, dynamics), STICKS[self.kind])

    def observe_motion(self, probe: Probe, dynamics: Dynamics, damping: float) -> Rollout:
        """Return what a probe shows where force is not measured: the force is that of its motion.

        `damping` is assumed of the joint; see `execution.led`.
        """
        motion = self._motion(probe, dynamics)
        key = self._key("led", probe, dynamics, damping)
        kept = self._store.get(key) if self._store else None
        if kept is None:
            self.n_simulated += 1
            kept = led(self.rig, self.reached[probe.state], probe, motion, damping)[:, None]
            if self._store:
                self._store.put(key, kept)
        rows = motion.rows[:-1].copy()
        rows[:, 3] = kept[:, 0]
        return observed(replace(motion, rows=rows), STICKS[self.kind])

    def _motion(self, probe: Probe, dynamics: Dynamics) -> Motion:
        key = self._key("motion", probe, dynamics)
        kept = self._store.get(key) if self._store else None
        if kept is not None:
            return Motion(kept[:-1], float(kept[-1, 0]), held=bool(kept[-1, 1]))
        motion = self.move(probe, dynamics)
        last = np.array([[motion.end, float(motion.held), 0.0, 0.0, 0.0]])
        if self._store:
            self._store.put(key, np.concatenate([motion.rows, last]))
        return motion

    def extent(self, probe: Probe, dynamics: Dynamics) -> Extent:
        """Return how far executing a probe goes; cheaper to keep than all that it shows."""
        key = self._key("extent", probe, dynamics)
        kept = self._store.get(key) if self._store else None
        if kept is not None:
            return Extent(*map(float, kept[0]))
        found = self.move(probe, dynamics).extent
        if self._store:
            self._store.put(key, np.array([[found.end, found.lowest, found.highest, found.slip]]))
        return found

    def move(self, probe: Probe, dynamics: Dynamics) -> Motion:
        """Simulate a probe, whatever is known of it."""
        self.n_simulated += 1
        return execute(self.rig, self.reached[probe.state], probe, dynamics)

    @cached_property
    def _scene(self) -> str:
        """The digest of the scene's model; kept by the versions that decide it."""
        key = key_of("scene", self.kind)
        kept = self._store.get(key) if self._store else None
        if kept is not None:
            return bytes(kept.astype(np.uint8).ravel()).decode()
        digest = compose(self.kind).digest
        if self._store:
            self._store.put(key, np.frombuffer(digest.encode(), np.uint8)[None].astype(np.float64))
        return digest

    def _key(self, what: str, probe: Probe, dynamics: Dynamics, *more: float) -> str:
        pulled = (probe.state, float(probe.pull), probe.horizon, probe.prelude)
        return key_of(what, self.kind, self._scene, pulled, dynamics.digest, *more)
