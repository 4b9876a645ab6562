r"""The experiment on which the surviving laws disagree most: the paper's Equation 5.

$$q^\star = \arg\max_{q:\,S(q)=1} \Bigl[\sum_{a<b} \tilde w_{ab}\, d(\hat\tau_a(q), \hat\tau_b(q))
  + \lambda_D D(q, \mathcal D) - \lambda_c c(q)\Bigr]$$

$d$ is the squared distance of two forecasts in noise standard deviations, each forecast first
saturated around that of the likeliest law (`spread.saturate`), so that one diverging law cannot
dominate. $\tilde w_{ab} = w_a w_b / \sum w_a w_b$ makes the sum a mean over pairs. $S$ is a hard
set: what is unsafe is never scored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.ports import Forecast
from alder.records.evidence import Candidate, Choice, Evidence, Separation
from alder.selection.batch import Offer, Pick, Weights, greedy, relative_cost, short_list
from alder.selection.coverage import coverage_of
from alder.selection.feasible import feasible, money_left
from alder.selection.noise import likeliest, unit_of
from alder.selection.single import LEAST_SIGMAS, about_one
from alder.selection.spread import (
    Ensemble,
    assemble,
    deviations,
    measure,
    pair_mass,
    separations,
)

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
        pool = forecast.pool()
        positions = feasible(pool, evidence)
        if not len(positions) or n < 1:
            return ()
        centre = likeliest(candidates)
        ensemble = assemble(tuple(candidates), centre, unit_of(centre.law, evidence))
        spread = measure(ensemble, forecast, positions)
        if not spread.sigmas.max() > self.least_sigmas:
            return ()
        coverage = coverage_of(pool, positions, evidence)
        scale = float(spread.pairs.max())
        score = spread.pairs + scale * (
            self.weights.coverage * coverage.distance(positions)
            - self.weights.cost * relative_cost(pool, positions)
        )
        n_outputs = forecast.predict(centre.law, positions[:1]).size
        chosen = short_list(score, coverage, positions, n_outputs * len(candidates))
        saturated, plain = deviations(ensemble, forecast, chosen)
        directions = _directions(ensemble, saturated)
        offer = Offer(pool, chosen, directions, coverage, money_left(evidence))
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
