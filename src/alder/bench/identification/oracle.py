r"""The reference: it knows which law holds, with which coefficients, and how large the noise is.

For every query it asks how probable the true candidate would be after the outcome, on average:

$$q^\star = \arg\max_q\; \mathbb E_{y \sim N(f(q), \sigma^2)}
  \bigl[P(m^\star \mid \mathcal D, q, y)\bigr]$$

The posterior is the one identification is judged by: all candidates are refitted to the rows and
the imagined outcome. It looks one query ahead, so it is a reference and no bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.fitting.evidence import fit_all
from alder.ports import Forecast
from alder.records.effort import FULL
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Experiment, Trajectory
from alder.records.proposal import Proposal
from alder.selection.disagreement import Disagreement
from alder.selection.feasible import feasible, first_of_best
from alder.selection.posterior import posterior

# Gauss-Hermite nodes for a normal outcome, and how many queries are averaged over all of them:
# every query is first judged by the outcome without noise.
_N_NODES, _N_AVERAGED = 5, 8
# A truth this probable cannot gain: all queries are alike, to one part in ten thousand.
_SETTLED = 0.9999


@final
@dataclass(frozen=True, slots=True, eq=False)
class Oracle:
    """For benchmarks only: choose the query with the largest expected posterior of the truth.

    `truth` is the number of the true one among `proposals`, `clean` its noiseless outcome for each
    experiment of the pool. Once the truth is settled, the query is that of `then`.
    """

    proposals: tuple[Proposal, ...]
    truth: int
    clean: FloatArray
    noise: float
    then: Disagreement = field(default_factory=Disagreement)

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return one experiment; without chance, so `rng` is not used."""
        pool = forecast.pool()
        positions = feasible(pool, evidence)
        now = posterior(fit_all(self.proposals, evidence, FULL), evidence)
        if now.probabilities[self.truth] >= _SETTLED or not len(positions):
            return self.then.select(candidates, evidence, forecast, 1, rng)
        likely = np.array(
            [
                self._after(evidence, pool.experiment(int(p)), float(self.clean[int(p)]))
                for p in positions
            ]
        )
        best = positions[np.argsort(-likely, kind="stable")[:_N_AVERAGED]]
        expected = np.array(
            [
                self._expected(evidence, pool.experiment(int(p)), float(self.clean[int(p)]))
                for p in best
            ]
        )
        place = first_of_best(expected, [pool.ids[int(p)] for p in best])
        reason = f"raises the truth to {expected[place]:.3f} on average"
        return (Choice(pool.experiment(int(best[place])), float(expected[place]), reason),)

    def _expected(self, evidence: Evidence, experiment: Experiment, clean: float) -> float:
        """Average over the noise of the outcome."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(_N_NODES)
        found = [self._after(evidence, experiment, clean + self.noise * z) for z in nodes]
        return float(np.dot(weights, found) / weights.sum())

    def _after(self, evidence: Evidence, experiment: Experiment, outcome: float) -> float:
        """Return the posterior of the truth once an outcome were known."""
        row = {name: np.array([float(value)]) for name, value in experiment.settings.items()}
        row[evidence.grammar.target.name] = np.array([outcome])
        told = (*evidence.trajectories, Trajectory(row, experiment.id))
        imagined = replace(evidence, trajectories=told)
        found = posterior(fit_all(self.proposals, imagined, FULL), imagined)
        return float(found.probabilities[self.truth])
