r"""The crucial experiment: the cheapest safe one whose single outcome decides between given laws.

In units of the noise, law $a$ forecasts outcomes $y \sim N(z_a, \Sigma_a)$ with
$\Sigma_a = \mathbf 1 + S_a S_a^\top$; the columns of $S_a$ are what one standard deviation along
each axis of its coefficients does, so that rows of one rollout err together. With all laws equally
probable beforehand, a run decides where the law that holds gets a posterior of at least $c$. Two
laws at the distance $d$ are decided with chance

$$\Phi\Bigl(\frac d2 - \frac{\ln (c / (1 - c))}{d}\Bigr),\qquad
d^2 = (z_a - z_b)^\top \Bigl(\frac{\Sigma_a + \Sigma_b}{2}\Bigr)^{-1} (z_a - z_b),$$

which orders the experiments by their least separated pair. The chance that is reported is that of
drawn outcomes of all laws.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

from alder.arrays import FloatArray
from alder.errors import BadParameter
from alder.ports import Forecast
from alder.records.evidence import Candidate, Separation
from alder.records.experiment import Experiment
from alder.selection.feasible import first_of_best
from alder.selection.noise import Unit
from alder.selection.sensitivity import sensitivity
from alder.selection.single import LEAST_SIGMAS

# Outcomes drawn for each law: the chance is known to about a per cent.
_N_DRAWS = 2048
_DRAW_SEED = 20261116
# Experiments whose chance is drawn, in order of cost; the order by formula is close to it.
_MOST_DRAWN = 32
# In noise standard deviations: farther is no farther, and its square is a number.
_FARTHEST = 1e6
# Numbers of all forecasts held at once.
_CHUNK = 262_144


@final
@dataclass(frozen=True, slots=True)
class CrucialExperiment:
    """An experiment that is to decide between laws, and how well it will.

    `sigmas` is the distance of the two laws that come closest, in noise standard deviations over
    all that the experiment shows, and `separates` has that of every pair, the closest first.
    `chance` is the probability that one run leaves the law that holds with a posterior of at least
    `confidence`, coefficients being known as well as the fits say.
    """

    experiment: Experiment
    sigmas: float
    chance: float
    separates: tuple[Separation, ...]
    confidence: float

    def __str__(self) -> str:
        """Say what to run, what it costs, and what it will decide."""
        settings = ", ".join(f"{name} = {_said(v)}" for name, v in self.experiment.settings.items())
        closest = self.separates[0]
        return (
            f"{self.experiment.id} ({settings}) at cost {self.experiment.cost:g} separates "
            f"{closest.first} from {closest.second} by {self.sigmas:.3g} noise sd; one run decides "
            f"with chance {self.chance:.0%}"
        )


@final
@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked of the experiment: the chance to decide, and how sure a decision is."""

    chance: float = 0.9
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what is no probability, and a decision that is none."""
        if not 0.0 < self.chance < 1.0:
            raise BadParameter(
                f"chance is a probability between 0 and 1, for example 0.9; got {self.chance}."
            )
        if not 0.5 < self.confidence < 1.0:
            raise BadParameter(
                f"confidence lies between 0.5 and 1, for example 0.95; got {self.confidence}."
            )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Laws to decide between, what they forecast, and the unit of noise."""

    candidates: tuple[Candidate, ...]
    forecast: Forecast
    unit: Unit
    demand: Demand


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What laws forecast of some experiments, in noise standard deviations.

    `z` is (laws, experiments, outputs); `moves` has (experiments, outputs, axes) for each law.
    """

    z: FloatArray
    moves: tuple[FloatArray, ...]


def find_crucial(
    question: Question, positions: NDArray[np.intp]
) -> tuple[int, CrucialExperiment] | None:
    """Return the cheapest experiment that meets the demand, after its place in the pool.

    Where none does, it is the one most likely to decide; its `chance` says so. None where no two
    of the laws part by half a noise standard deviation anywhere. `positions` are those that may be
    run.
    """
    if not len(positions):
        return None
    farthest, chances = _survey(question, positions)
    if not farthest > LEAST_SIGMAS:
        return None
    pool, wanted = question.forecast.pool(), question.demand.chance
    cost = pool.cost[positions]
    drawn = _worth_drawing(chances, cost, wanted)
    shown = _show(question, positions[drawn])
    found = np.array([_chance(shown, i, question.demand) for i in range(len(drawn))])
    ids, price = [pool.ids[int(positions[place])] for place in drawn], cost[drawn]
    # The cheapest that is good enough, the better of two at one price; else the best.
    enough = found >= wanted
    cheapest = float(price[enough].min()) if enough.any() else np.inf
    among = enough & (price <= cheapest) if enough.any() else np.ones(len(found), dtype=np.bool_)
    best = first_of_best(np.where(among, found, -np.inf), ids)
    return _report(question, int(positions[drawn[best]]), float(found[best]))


def _worth_drawing(chances: FloatArray, cost: FloatArray, wanted: float) -> list[int]:
    """Name the experiments whose chance is worth drawing.

    The formula is too careful where one law is known much better than the other, so that those it
    gives half of what is wanted take part, the cheapest first; then the cheapest it is content
    with, and the likeliest.
    """
    named: list[int] = []
    for least in (wanted / 2.0, wanted):
        promising = np.flatnonzero(chances >= least)
        order = np.lexsort((-chances[promising], cost[promising]))
        named += [int(i) for i in promising[order][:_MOST_DRAWN]]
    named += [int(i) for i in np.argsort(-chances, kind="stable")[:_MOST_DRAWN]]
    return list(dict.fromkeys(named))


def _survey(question: Question, positions: NDArray[np.intp]) -> tuple[float, FloatArray]:
    """Return the largest distance of any pair, and the chance to decide the closest pair."""
    farthest, chances = 0.0, np.ones(len(positions))
    step = max(_CHUNK // _n_numbers(question, positions[:1]), 1)
    c = question.demand.confidence
    odds = float(np.log(c / (1.0 - c)))
    for start in range(0, len(positions), step):
        part = slice(start, start + step)
        shown = _show(question, positions[part])
        for a, b in combinations(range(len(shown.z)), 2):
            gap = shown.z[a] - shown.z[b]
            farthest = max(farthest, float(np.sqrt(np.square(gap).sum(axis=1)).max()))
            d = np.maximum(_distance(gap, shown.moves[a], shown.moves[b]), 1e-9)
            decided: FloatArray = np.asarray(ndtr(d / 2.0 - odds / d), dtype=np.float64)
            chances[part] = np.minimum(chances[part], decided)
    return farthest, chances


def _n_numbers(question: Question, position: NDArray[np.intp]) -> int:
    shown = _show(question, position)
    return shown.z.size + sum(moved.size for moved in shown.moves)


def _show(question: Question, positions: NDArray[np.intp]) -> _Shown:
    """Forecast experiments by every law; noise is that at the forecast of the first."""
    forecast, n = question.forecast, len(positions)
    laws = [candidate.law for candidate in question.candidates]
    said = [forecast.predict(law, positions).reshape(n, -1) for law in laws]
    sigma = question.unit.at(said[0])
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.array([(one - said[0]) / sigma for one in said])
        moves = [sensitivity(law, forecast, positions) / sigma[:, :, None] for law in laws]
    z = np.clip(np.where(np.isnan(z), _FARTHEST, z), -_FARTHEST, _FARTHEST)
    return _Shown(z, tuple(np.clip(moved, -_FARTHEST, _FARTHEST) for moved in moves))


def _distance(gap: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    r"""Return $d$ of the module for each experiment, by Woodbury's identity.

    $g^\top (\mathbf 1 + S S^\top)^{-1} g = |g|^2 - |L^{-1} S^\top g|^2$ with
    $L L^\top = \mathbf 1 + S^\top S$ and $S = (S_a, S_b) / \sqrt 2$.
    """
    S = np.concatenate([first, second], axis=2) / np.sqrt(2.0)
    across = np.swapaxes(S, 1, 2)
    onto: FloatArray = across @ gap[:, :, None]
    inner: FloatArray = np.asarray(np.eye(S.shape[2]) + across @ S, dtype=np.float64)
    solved = np.linalg.solve(inner, onto)
    explained = np.sum(onto * solved, axis=(1, 2))
    return np.sqrt(np.maximum(np.square(gap).sum(axis=1) - explained, 0.0))


def _chance(shown: _Shown, i: int, demand: Demand) -> float:
    """Draw outcomes of one experiment from every law; return how often the right one is found."""
    rng = np.random.default_rng(_DRAW_SEED)
    n_laws, _, n_outputs = shown.z.shape
    decided = 0.0
    for a in range(n_laws):
        S = shown.moves[a][i]
        noise = rng.standard_normal((_N_DRAWS, n_outputs))
        y = shown.z[a, i] + noise + rng.standard_normal((_N_DRAWS, S.shape[1])) @ S.T
        likelihoods = np.stack(
            [_log_likelihood(y - shown.z[b, i], shown.moves[b][i]) for b in range(n_laws)]
        )
        against: FloatArray = np.exp(np.minimum(likelihoods - likelihoods[a], 700.0)).sum(axis=0)
        decided += float((1.0 / against >= demand.confidence).mean())
    return decided / n_laws


def _log_likelihood(r: FloatArray, S: FloatArray) -> FloatArray:
    """Return the log density of residuals (draws, outputs) under 1 + S S^T, up to a constant."""
    inner = np.eye(S.shape[1]) + S.T @ S
    onto = r @ S
    quadratic = np.square(r).sum(axis=1) - (onto * np.linalg.solve(inner, onto.T).T).sum(axis=1)
    return -0.5 * (quadratic + float(np.linalg.slogdet(inner)[1]))


def _report(question: Question, position: int, chance: float) -> tuple[int, CrucialExperiment]:
    z = _show(question, np.array([position], dtype=np.intp)).z[:, 0, :]
    labels = [candidate.label for candidate in question.candidates]
    pairs = [
        Separation(labels[a], labels[b], float(np.sqrt(np.square(z[a] - z[b]).sum())))
        for a, b in combinations(range(len(z)), 2)
    ]
    pairs.sort(key=lambda pair: pair.sigmas)
    experiment = question.forecast.pool().experiment(position)
    sure = question.demand.confidence
    return position, CrucialExperiment(experiment, pairs[0].sigmas, chance, tuple(pairs), sure)


def _said(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
