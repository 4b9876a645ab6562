"""One trial: eight queries of one selector, and how probable each candidate was after each."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.identification.cases import NOISE, Case
from alder.bench.identification.families import GRAMMAR, TARGET, VARIABLES
from alder.bench.identification.oracle import Oracle
from alder.expr.evaluate import evaluate
from alder.fitting.evidence import fit_all
from alder.ports import Selector, World
from alder.records.budget import Budget
from alder.records.effort import FULL
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Experiment, Trajectory
from alder.records.roles import Roles
from alder.selection.baselines import Random
from alder.selection.candidates import letters, to_weights
from alder.selection.posterior import posterior
from alder.selection.registry import SELECTORS, selector
from alder.worlds.pool import PoolWorld

METHODS = ("passive", "random", "coverage", "uncertainty", "disagreement", "information", "oracle")
"""The selectors, each asked for eight queries on the same cases."""

# These look at inputs alone.
_BLIND = ("passive", "random", "coverage")

N_QUERIES = 8
UNRESOLVED = N_QUERIES + 1
"""The cost of a case that is never identified: one more than the budget."""
CONFIDENT = 0.95


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Posteriors (queries + 1, candidates), and which experiments were run.

    `n_idle` counts rounds in which the selector saw nothing left to separate and a query was drawn
    by chance instead, since every trial makes eight.
    """

    posteriors: FloatArray
    experiments: tuple[str, ...]
    n_idle: int


def conduct(case: Case, method: str, seed: int) -> Trial:
    """Run eight queries of one selector."""
    rng = np.random.default_rng([seed, case.number, METHODS.index(method)])
    asks = _selector(case, method)
    world = world_of(case)
    evidence = Evidence(
        GRAMMAR, Roles(), Budget(queries=N_QUERIES, batch=1), Trajectory(case.initial)
    )
    found: list[FloatArray] = []
    ran: list[str] = []
    n_idle = 0
    for _ in range(N_QUERIES):
        candidates, probabilities = weigh(case, evidence, laws=method not in _BLIND)
        found.append(probabilities)
        chosen = asks.select(candidates, evidence, world, 1, rng)
        if not chosen:
            n_idle += 1
            chosen = Random().select(candidates, evidence, world, 1, rng)
        ran.append(chosen[0].experiment.id)
        evidence = _told(evidence, world, chosen[0].experiment)
    found.append(weigh(case, evidence, laws=False)[1])
    return Trial(np.array(found), tuple(ran), n_idle)


def world_of(case: Case) -> World:
    """Return the pool of a case as a world; outcomes are hidden until queried."""
    inputs = {variable.name: case.pool[variable.name] for variable in VARIABLES}
    return PoolWorld(inputs, query=case.pool[TARGET.name].__getitem__).bind(GRAMMAR)


def weigh(
    case: Case, evidence: Evidence, *, laws: bool
) -> tuple[tuple[Candidate, ...], FloatArray]:
    """Refit all candidates; return them weighed by their evidence, and their probabilities.

    Without `laws`, which take longer than the fits, there are probabilities only.
    """
    fits = fit_all(case.proposals, evidence, FULL)
    found = posterior(fits, evidence)
    if not laws:
        return (), found.probabilities
    weights = to_weights(found.log_evidence)
    candidates = tuple(
        Candidate(fits[i].law, float(weight), letters(i)) for i, weight in enumerate(weights)
    )
    return candidates, found.probabilities


def cost_of(confidence: FloatArray) -> int:
    """Return the first query count from which the truth stays at high confidence; 9 if none.

    >>> cost_of(np.array([0.5, 0.99, 0.9, 0.96, 0.99, 0.99, 0.99, 0.99, 0.99]))
    3
    """
    doubtful = np.flatnonzero(confidence < CONFIDENT)
    return int(doubtful[-1]) + 1 if len(doubtful) else 0


def _selector(case: Case, method: str) -> Selector:
    if method in SELECTORS:
        return selector(method)
    structure = case.proposals[case.truth].structure
    clean = evaluate(structure, case.pool, case.coefficients)
    return Oracle(case.proposals, case.truth, clean, NOISE)


def _told(evidence: Evidence, world: World, experiment: Experiment) -> Evidence:
    (answer,) = world.run([experiment])
    assert isinstance(answer, Trajectory)
    return replace(evidence, trajectories=(*evidence.trajectories, answer))
