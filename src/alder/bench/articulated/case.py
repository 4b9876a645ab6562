"""One world under study: its probes, what they show, and the law that is found in it."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.articulated.discovery import JointOutcome, JointSettings, discover_joint
from alder.bench.articulated.execution import STICKS, Dynamics
from alder.bench.articulated.grasp import NOMINAL
from alder.bench.articulated.lab import Lab
from alder.bench.articulated.probes import N_QUERIES, Probes, choose_probes
from alder.bench.articulated.rollout import Probe, Rollout
from alder.bench.articulated.scoring import Target, targets_of
from alder.bench.articulated.worlds import HiddenWorld, case_names, draw_world
from alder.bench.studies import fresh_ledger, study_seed
from alder.ports import Proposer


@final
class Case:
    """A world, with everything measured in it at most once."""

    def __init__(self, lab: Lab, name: str, seed: int, folder: Path) -> None:
        """Draw the world; nothing is simulated before it is asked for. Ledgers go to `folder`."""
        self.lab = lab
        self.seed = seed
        self.world: HiddenWorld = draw_world(name, lab.kind, seed)
        self._folder = folder

    @property
    def truth(self) -> Dynamics:
        """What the joint does."""
        return Dynamics(self.world.joint)

    @property
    def nominal(self) -> Dynamics:
        """What its maker says it does."""
        return Dynamics(NOMINAL[self.lab.kind])

    @property
    def settings(self) -> JointSettings:
        """What is declared before anything is seen."""
        return JointSettings(stiction=STICKS[self.lab.kind], queries=N_QUERIES)

    @property
    def study_seed(self) -> int:
        """The seed of what is random in a study of this world."""
        return study_seed(self.seed, case_names().index(self.world.name))

    @cached_property
    def probes(self) -> Probes:
        """The probes of this joint, the same in all of its worlds."""
        return choose_probes(self.lab, self.seed)

    @cached_property
    def passive(self) -> tuple[Rollout, ...]:
        """What is public from the start."""
        return self.observe(self.probes.passive)

    @cached_property
    def admission(self) -> tuple[Rollout, ...]:
        """What only the verifier sees."""
        return self.observe(self.probes.admission)

    @cached_property
    def pool_nominal(self) -> tuple[Rollout, ...]:
        """What the nominal joint would show in the probes of the pool."""
        return tuple(self.lab.observe(probe, self.nominal) for probe in self.probes.pool)

    @cached_property
    def ends(self) -> FloatArray:
        """Where the control probes end in this world."""
        return np.array([self.lab.extent(probe, self.truth).end for probe in self.probes.control])

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """Where the joint is wanted: sixteen positions it can reach."""
        return targets_of(self.probes.control, self.ends)

    @cached_property
    def found(self) -> JointOutcome:
        """The law that is discovered, or its refusal."""
        return self.discover(self._folder / "ledgers" / f"{self.world.name}.alder")

    def discover(self, ledger: Path, proposer: Proposer | None = None) -> JointOutcome:
        """Run the study with any proposer, that of declared terms unless another is given."""
        return discover_joint(
            self.passive,
            self.probes.pool,
            lambda probe: self.lab.observe(probe, self.truth),
            self.admission,
            self.study_seed,
            nominal=self.pool_nominal,
            settings=self.settings,
            ledger=fresh_ledger(ledger),
            proposer=proposer,
        )

    def observe(self, probes: Sequence[Probe]) -> tuple[Rollout, ...]:
        """Execute probes in this world."""
        return tuple(self.lab.observe(probe, self.truth) for probe in probes)
