"""What disagreement is measured against: chance, more of the same, coverage, one law alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.ports import Forecast
from alder.records.evidence import Candidate, Choice, Evidence
from alder.records.experiment import Pool
from alder.selection.batch import Offer, Weights, greedy, short_list
from alder.selection.coverage import Coverage, coverage_of, nearest
from alder.selection.feasible import feasible, first_of_best, money_left
from alder.selection.noise import likeliest, unit_of
from alder.selection.sensitivity import sensitivity

# Forecasts held at once while a whole pool is scored.
_CHUNK = 16_384


@final
@dataclass(frozen=True, slots=True)
class Random:
    """Choose by chance among what is safe."""

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n experiments in random order."""
        pool = forecast.pool()
        order = rng.permutation(feasible(pool, evidence))
        return _afford(pool, order, evidence, n, "drawn by chance")


@final
@dataclass(frozen=True, slots=True)
class Passive:
    """Go on as the first rows did: the experiment nearest to one of them, drawn by chance.

    Where rows do not carry the columns of the pool, experiments are taken in pool order.
    """

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n experiments like the initial rows."""
        pool = forecast.pool()
        positions = feasible(pool, evidence)
        initial = evidence.initial
        shared = bool(pool.columns) and all(name in initial.columns for name in pool.columns)
        if not (shared and initial.n_rows and len(positions)):
            return _afford(pool, positions, evidence, n, "next in the order of the pool")
        coverage = coverage_of(pool, positions, evidence)
        table = np.column_stack([initial.columns[name] for name in pool.columns])
        rows = (table - coverage.low) / coverage.width / np.sqrt(max(table.shape[1], 1))
        points = coverage.scaled(positions)
        free = np.ones(len(positions), dtype=np.bool_)
        order: list[int] = []
        for row in rng.choice(len(rows), size=min(n, len(positions)), replace=True):
            away = np.where(free, nearest(points, rows[row : row + 1]), np.inf)
            order.append(int(np.argmin(away)))
            free[order[-1]] = False
        return _afford(pool, positions[order], evidence, n, "like the initial rows")


@final
@dataclass(frozen=True, slots=True)
class FarthestPoint:
    """Choose what lies farthest from everything measured, one after the other."""

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n experiments, the farthest first."""
        pool = forecast.pool()
        positions = feasible(pool, evidence)
        coverage = coverage_of(pool, positions, evidence)
        distance = coverage.distance(positions, exact=True)
        free, money = np.ones(len(positions), dtype=np.bool_), money_left(evidence)
        choices: list[Choice] = []
        for _ in range(n):
            free &= pool.cost[positions] <= money
            if not free.any():
                break
            place = _first(pool, positions, np.where(free, distance, -np.inf))
            experiment = pool.experiment(int(positions[place]))
            reason = f"lies {distance[place]:.0%} of the pool's width from everything measured"
            choices.append(
                Choice(experiment, float(distance[place]), _at_cost(reason, experiment.cost))
            )
            free[place], money = False, money - experiment.cost
            distance = _nearer(coverage, positions, distance, place)
        return tuple(choices)


@final
@dataclass(frozen=True, slots=True)
class Uncertainty:
    r"""Choose where the coefficients of the likeliest law move its forecast most.

    Greedily D-optimal: the variance $J C J^\top$ in units of the noise, each choice taking off
    what those before it will explain. It sharpens one law and cannot tell it from another, nor
    does it see a coefficient that the rows do not determine at all: that one has no covariance.
    """

    weights: Weights = field(default_factory=lambda: Weights(coverage=0.0, cost=0.1))

    def select(
        self,
        candidates: Sequence[Candidate],
        evidence: Evidence,
        forecast: Forecast,
        n: int,
        rng: np.random.Generator,
    ) -> tuple[Choice, ...]:
        """Return up to n experiments; none where there is no law."""
        if not candidates:
            return ()
        found = sharpen(likeliest(candidates), evidence, forecast, n, self.weights)
        return tuple(choice for choice, _ in found)


def sharpen(
    best: Candidate, evidence: Evidence, forecast: Forecast, n: int, weights: Weights
) -> tuple[tuple[Choice, float], ...]:
    """Choose what sharpens one law; with each choice, the noise sd by which it may still move."""
    pool = forecast.pool()
    positions = feasible(pool, evidence)
    if not len(positions) or n < 1:
        return ()
    unit = unit_of(best.law, evidence)

    def directions(part: NDArray[np.intp]) -> FloatArray:
        sigma = unit.at(forecast.predict(best.law, part).reshape(len(part), -1))
        return np.clip(sensitivity(best.law, forecast, part) / sigma[:, :, None], -1e6, 1e6)

    shape = directions(positions[:1]).shape
    step = max(_CHUNK // max(shape[1] * shape[2], 1), 1)
    variance = np.concatenate(
        [
            np.square(directions(positions[start : start + step])).sum(axis=(1, 2))
            for start in range(0, len(positions), step)
        ]
    )
    coverage = coverage_of(pool, positions, evidence)
    chosen = short_list(variance, coverage, positions, shape[1] * max(shape[2], 1))
    offer = Offer(pool, chosen, directions(chosen), coverage, money_left(evidence))
    found: list[tuple[Choice, float]] = []
    for pick in greedy(offer, weights, n):
        experiment = pool.experiment(int(chosen[pick.place]))
        sigmas = float(np.sqrt(max(pick.variance, 0.0)))
        reason = f"the coefficients of {best.label} move it by {sigmas:.2g} noise sd"
        choice = Choice(experiment, pick.score, _at_cost(reason, experiment.cost))
        found.append((choice, sigmas))
    return tuple(found)


def _first(pool: Pool, positions: NDArray[np.intp], scores: FloatArray) -> int:
    best = np.flatnonzero(scores == scores.max())
    ids = [pool.ids[int(position)] for position in positions[best]]
    return int(best[first_of_best(np.zeros(len(best)), ids)])


def _nearer(
    coverage: Coverage, positions: NDArray[np.intp], distance: FloatArray, place: int
) -> FloatArray:
    """Return the distances once the experiment at `place` counts as seen."""
    here = coverage.scaled(positions[place : place + 1])
    if not here.shape[1]:
        return distance
    found = distance.copy()
    for start in range(0, len(positions), _CHUNK):
        part = slice(start, start + _CHUNK)
        away = nearest(coverage.scaled(positions[part]), here)
        found[part] = np.minimum(found[part], away)
    return found


def _afford(
    pool: Pool, order: NDArray[np.intp], evidence: Evidence, n: int, reason: str
) -> tuple[Choice, ...]:
    """Take experiments in order while money lasts, skipping what has become too dear."""
    money = money_left(evidence)
    choices: list[Choice] = []
    for position in order:
        if len(choices) >= n:
            break
        if pool.cost[position] <= money:
            experiment = pool.experiment(int(position))
            money -= experiment.cost
            choices.append(Choice(experiment, 0.0, _at_cost(reason, experiment.cost)))
    return tuple(choices)


def _at_cost(reason: str, cost: float) -> str:
    return f"{reason}; cost {cost:g}"
