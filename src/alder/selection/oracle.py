"""The selector that knows the answer: a bound on what any other can do."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.ports import Forecast
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.law import Law
from alder.selection.disagreement import Disagreement


@final
@dataclass(frozen=True, slots=True)
class Oracle:
    """For benchmarks only: choose what separates the true law from the candidates.

    It is told the truth, so it bounds what any selector can do. Half of the weight is the truth's.
    """

    truth: Law
    inner: Disagreement = field(default_factory=Disagreement)

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n experiments, best first."""
        total = sum(candidate.weight for candidate in candidates)
        truth = Candidate(self.truth, max(total, 1e-300), "truth")
        return self.inner.select((truth, *candidates), evidence, forecast, n, rng)
