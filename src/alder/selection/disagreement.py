r"""The experiment on which the surviving laws disagree most: the paper's Equation 5.

$$q^\star = \arg\max_{q:\,S(q)=1} \Bigl[\sum_{a<b} \tilde w_{ab}\, d(\hat\tau_a(q), \hat\tau_b(q))
  + \lambda_D D(q, \mathcal D) - \lambda_c c(q)\Bigr]$$

$d$ is the squared distance of two forecasts in standard deviations of noise and coefficients,
bounded for each pair (`spread.pair_worth`): beyond a few standard deviations the pair is decided,
and one diverging law cannot dominate. $\tilde w_{ab} = w_a w_b / \sum w_a w_b$ makes the sum a mean
over pairs. $S$ is a hard set: what is unsafe is never scored. Of a large pool a short list is
scored that way, found by a measure that is linear in the laws (`spread.measure`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.ports import Forecast
from alder.records.evidence import Candidate, Choice, Evidence, Separation
from alder.selection.batch import Offer, Pick, Weights, greedy, relative_cost, short_list
from alder.selection.feasible import money_left
from alder.selection.single import LEAST_SIGMAS, about_one
from alder.selection.spread import (
    Ensemble,
    deviations,
    pair_mass,
    pair_worth,
    predictive_variances,
    separations,
)
from alder.selection.survey import survey

MOST_PAIRS = 3
"""How many pairs of laws a choice names."""


@final
@dataclass(frozen=True, slots=True)
class Disagreement:
    """Choose where the laws disagree most, weighing what is far from the rows, and cost.

    The answer is empty where no safe experiment takes any law further than `least_sigmas` noise
    standard deviations from the likeliest one. A single law disagrees with none; `about_one` then
    chooses what tells most about it. Memory does not grow with laws times experiments.
    """

    weights: Weights = field(default_factory=Weights)
    least_sigmas: float = LEAST_SIGMAS

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n experiments, best first; without chance, so `rng` is not used."""
        if len(candidates) < 2:
            return about_one(candidates, evidence, forecast, n, rng)
        found = survey(candidates, evidence, forecast, self.least_sigmas) if n > 0 else None
        if found is None:
            return ()
        pool, positions, coverage = found.pool, found.positions, found.coverage
        ensemble, scale = found.ensemble, float(found.spread.pairs.max())
        score = found.spread.pairs + scale * (
            self.weights.coverage * coverage.distance(positions)
            - self.weights.cost * relative_cost(pool, positions)
        )
        chosen = short_list(score, coverage, positions, found.n_forecasts)
        saturated, plain = deviations(ensemble, forecast, chosen)
        directions = _directions(ensemble, saturated)
        variances = predictive_variances(ensemble, forecast, chosen)
        worth = pair_worth(ensemble, plain, variances)
        offer = Offer(pool, chosen, directions, coverage, money_left(evidence), worth)
        return tuple(
            _choice(offer, pick, separations(ensemble, *_at(saturated, plain, pick), MOST_PAIRS))
            for pick in greedy(offer, self.weights, n)
        )


def _directions(ensemble: Ensemble, saturated: FloatArray) -> FloatArray:
    """Return directions whose squares sum to the weighted mean over pairs of squared distances."""
    w = ensemble.weights
    centred = saturated - (saturated @ w)[:, :, None]
    return centred * np.sqrt(w / pair_mass(w))


def _at(saturated: FloatArray, plain: FloatArray, pick: Pick) -> tuple[FloatArray, FloatArray]:
    return saturated[pick.place], plain[pick.place]


def _choice(offer: Offer, pick: Pick, separates: tuple[Separation, ...]) -> Choice:
    experiment = offer.pool.experiment(int(offer.positions[pick.place]))
    reason = f"{describe(separates)} at cost {experiment.cost:g}"
    if pick.distance >= FAR:
        reason += f"; lies {pick.distance:.0%} of the pool's width from everything measured"
    return Choice(experiment, pick.score, reason, separates)


FAR = 0.25
"""From this share of the pool's width on, a choice says how far it lies from what is known."""


def describe(separates: Sequence[Separation]) -> str:
    """Say which laws an experiment separates, and by how much.

    >>> describe([Separation("A", "B", 12.3), Separation("A", "C", 4.04)])
    'separates A from B by 12 noise sd and A from C by 4 noise sd'
    """
    said = [f"{pair.first} from {pair.second} by {_sigmas(pair.sigmas)}" for pair in separates[:2]]
    return "separates " + " and ".join(said)


def _sigmas(sigmas: float) -> str:
    if sigmas >= 1e4:
        return "more than 10000 noise sd"
    return f"{sigmas:.2g} noise sd" if sigmas < 10.0 else f"{sigmas:.0f} noise sd"
