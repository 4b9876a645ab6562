"""A forecast without a plant: experiments on offer that nobody here can run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.records.experiment import Experiment, FailedRun, Pool, Trajectory
from alder.records.law import Law
from alder.worlds.offers import Offers


@final
@dataclass(frozen=True, slots=True, eq=False)
class Unrunnable:
    """A bound world that can be asked what it offers, and refuses to run it."""

    offers: Offers
    refusal: str

    def pool(self) -> Pool:
        """Return every experiment on offer."""
        return self.offers.pool

    def predict(self, law: Law, experiments: NDArray[np.intp]) -> FloatArray:
        """Return what a law says about these experiments, (experiments, 1)."""
        return self.offers.predict(law, experiments)

    def run(self, experiments: Sequence[Experiment]) -> Sequence[Trajectory | FailedRun]:
        """Refuse, unless nothing is asked for."""
        if experiments:
            raise BadWorld(self.refusal)
        return ()
