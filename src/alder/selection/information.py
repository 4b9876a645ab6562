r"""The experiment that tells most about which law holds, in nats.

With law $m$ of weight $w_m$ forecasting a Gaussian outcome of mean $f_m$ and variance
$s_m^2 = \sigma^2 + J_m C_m J_m^\top$, the information an outcome brings about $m$ is at least

$$I(q) \ge -\sum_a w_a \ln \sum_b w_b e^{-B_{ab}(q)},\qquad
B_{ab} = \frac{(f_a - f_b)^2}{4 (s_a^2 + s_b^2)} + \frac12 \ln \frac{s_a^2 + s_b^2}{2 s_a s_b},$$

$B$ being the Bhattacharyya distance (Kolchinsky and Tracey 2017). The bound is zero where all laws
agree and reaches the entropy of the weights where all are told apart, so a diverging law counts no
more than any other that is told apart. Distances of independent outcomes add, which makes a batch
greedy at no extra cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.ports import Forecast
from alder.records.evidence import Candidate, Choice, Evidence
from alder.selection.batch import Offer, Weights, relative_cost, short_list
from alder.selection.coverage import nearest
from alder.selection.disagreement import MOST_PAIRS, describe
from alder.selection.feasible import first_of_best, money_left
from alder.selection.single import LEAST_SIGMAS, about_one
from alder.selection.spread import Ensemble, deviations, predictive_variances, separations
from alder.selection.survey import survey

# Pairs of laws times experiments held at once: 32 megabytes.
_MOST_PAIRS = 4_000_000


@final
@dataclass(frozen=True, slots=True)
class Information:
    """Choose what tells most about which law holds, coefficient uncertainty included.

    Only a short list is weighed pair by pair: the experiments of largest disagreement, and the
    best in each region of the inputs. The answer is empty where that of `Disagreement` is. In
    units of the entropy of the weights, coverage and cost count as `weights` say.
    """

    weights: Weights = field(default_factory=lambda: Weights(coverage=0.02, cost=0.02))
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
        positions, coverage, ensemble = found.positions, found.coverage, found.ensemble
        room = max(_MOST_PAIRS // len(candidates) ** 2, 2)
        chosen = short_list(found.spread.pairs, coverage, positions, found.n_forecasts)
        if len(chosen) > room:
            where = np.searchsorted(positions, chosen)
            best = np.argsort(-found.spread.pairs[where], kind="stable")[:room]
            chosen = chosen[np.sort(best)]
        saturated, plain = deviations(ensemble, forecast, chosen)
        variances = predictive_variances(ensemble, forecast, chosen)
        offer = Offer(found.pool, chosen, saturated, coverage, money_left(evidence))
        picks = _greedy(offer, distances(plain, variances), ensemble.weights, self.weights, n)
        return tuple(
            _choice(offer, ensemble, plain, place, (score, gain)) for place, score, gain in picks
        )


def distances(plain: FloatArray, variances: FloatArray) -> FloatArray:
    """Return Bhattacharyya distances between laws, (experiments, laws, laws).

    `plain` are forecasts and `variances` their variances, noise included, both (experiments,
    outputs, laws) and in units of the noise. Outputs count as independent.
    """
    far = np.where(np.isfinite(plain), plain, 1e9)
    n_laws = plain.shape[2]
    found = np.zeros((len(plain), n_laws, n_laws))
    for a in range(n_laws):
        total = variances[:, :, a, None] + variances
        gap = np.square(far[:, :, a, None] - far) / (4.0 * total)
        shape = 0.5 * np.log(total / (2.0 * np.sqrt(variances[:, :, a, None] * variances)))
        found[:, a, :] = (gap + shape).sum(axis=1)
    return found


def information(B: FloatArray, w: FloatArray) -> FloatArray:
    """Return the bound on the information about the law, in nats, for each experiment.

    `B` is (experiments, laws, laws). It lies between zero and the entropy of the weights.

    >>> information(np.zeros((1, 2, 2)), np.array([0.5, 0.5])) + 0.0
    array([0.])
    """
    return -np.log(np.exp(-B) @ w) @ w


def _greedy(
    offer: Offer, B: FloatArray, w: FloatArray, weights: Weights, n: int
) -> list[tuple[int, float, float]]:
    """Return place, score and information gained of each pick."""
    entropy = float(-(w[w > 0.0] * np.log(w[w > 0.0])).sum())
    points = offer.coverage.scaled(offer.positions)
    distance = offer.coverage.distance(offer.positions, exact=True)
    cost, price = relative_cost(offer.pool, offer.positions), offer.pool.cost[offer.positions]
    ids = [offer.pool.ids[int(position)] for position in offer.positions]
    free, money = np.ones(len(ids), dtype=np.bool_), offer.money
    known, told = np.zeros(B.shape[1:]), 0.0
    picks: list[tuple[int, float, float]] = []
    for _ in range(n):
        free &= price <= money
        if not free.any():
            break
        gain = information(B + known, w) - told
        score = gain + entropy * (weights.coverage * distance - weights.cost * cost)
        place = first_of_best(np.where(free, score, -np.inf), ids)
        picks.append((place, float(score[place]), float(gain[place])))
        free[place], money = False, money - float(price[place])
        known, told = known + B[place], told + float(gain[place])
        if points.shape[1]:
            distance = np.minimum(distance, nearest(points, points[place : place + 1]))
    return picks


def _choice(
    offer: Offer, ensemble: Ensemble, plain: FloatArray, place: int, worth: tuple[float, float]
) -> Choice:
    score, gain = worth
    experiment = offer.pool.experiment(int(offer.positions[place]))
    pairs = separations(ensemble, offer.directions[place], plain[place], MOST_PAIRS)
    reason = (
        f"tells {gain:.2f} nats about which law holds: {describe(pairs)} "
        f"at cost {experiment.cost:g}"
    )
    return Choice(experiment, score, reason, pairs)
