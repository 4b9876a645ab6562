"""Selectors on fixed candidates: how many rollouts each needs to tell the law of a joint.

No structure is proposed: candidates are given, coefficients are refitted after every query, and a
selector is judged by how soon the true candidate stays at high confidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

import alder
from alder.arrays import FloatArray
from alder.bench.articulated.discovery import (
    Columns,
    JointSettings,
    grammar,
    joined,
    steady,
    vocabulary,
)
from alder.bench.articulated.rollout import Rollout
from alder.bench.identification.trial import cost_of
from alder.fitting.evidence import fit_all
from alder.ports import World
from alder.records.effort import FULL
from alder.records.evidence import Candidate, Evidence
from alder.records.experiment import Trajectory
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.records.roles import Roles
from alder.selection.baselines import Random
from alder.selection.candidates import letters, to_weights
from alder.selection.posterior import posterior
from alder.selection.registry import selector
from alder.worlds.binding import bind

SELECTORS = ("passive", "random", "coverage", "uncertainty", "disagreement")
"""The selectors of the comparison."""

CANDIDATES = (
    ("velocity",),
    ("sign",),
    ("bias", "position"),
    ("bias", "velocity", "position", "sign"),
    ("bias",),
    ("bias", "velocity"),
    ("bias", "velocity", "position"),
    ("speed",),
    ("drag",),
    ("action",),
    ("bias", "position_squared"),
    ("bias", "action_velocity"),
)
"""Fixed structures: the four families, and what the passive rollouts confuse them with."""

# No force is read to more digits than this; it also gives a constant force a spread to fit.
_RESOLUTION = 1e-9
_MOST_ROWS = 48


@final
@dataclass(frozen=True, slots=True, eq=False)
class Identified:
    """What one selector did: its queries to lasting identification, one over budget if none.

    `support` says whether the likeliest candidate at the end is the true one. `laws` are the
    likeliest ones before each query and after the last.
    """

    selector: str
    queries: int
    support: bool
    confidence: FloatArray
    laws: tuple[Law, ...] = ()


def identify_joint(  # noqa: PLR0913 (a whole request in one call)
    passive: Sequence[Rollout],
    world: alder.FunctionWorld,
    truth: Sequence[str],
    seed: int,
    *,
    settings: JointSettings,
    selectors: Sequence[str] = SELECTORS,
    candidates: Sequence[Sequence[str]] = CANDIDATES,
) -> dict[str, Identified]:
    """Run every selector for all its queries; `world` is that of `discovery.pool_world`.

    `truth` names the terms of the true candidate, for scoring alone.
    """
    proposer = vocabulary(settings)
    proposals = [Proposal(proposer.structure(names)) for names in candidates]
    true = [set(names) for names in candidates].index(set(truth))
    first = joined([_thinned(steady(rollout, settings.stiction)) for rollout in passive])
    bound = bind(world, grammar(), Roles())
    found: dict[str, Identified] = {}
    for name in selectors:
        rng = np.random.default_rng([seed, SELECTORS.index(name)])
        start = Evidence(
            grammar(),
            Roles(),
            alder.Budget(queries=settings.queries, batch=1),
            Trajectory(_read(first, rng)),
        )
        confidence, laws = _conduct(name, proposals, start, bound, rng)
        queries = cost_of(confidence[:, true])
        support = int(np.argmax(confidence[-1])) == true
        found[name] = Identified(name, queries, support, confidence, laws)
    return found


def _conduct(
    name: str,
    proposals: Sequence[Proposal],
    evidence: Evidence,
    world: World,
    rng: np.random.Generator,
) -> tuple[FloatArray, tuple[Law, ...]]:
    """Return the probability of every candidate before each query and after the last, and laws.

    A passive selector repeats the passive rollouts.
    """
    asks, found, laws = selector(name), list[FloatArray](), list[Law]()
    for _ in range(evidence.budget.queries):
        candidates, probabilities = _weigh(proposals, evidence)
        found.append(probabilities)
        laws.append(candidates[int(np.argmax(probabilities))].law)
        if name == "passive":
            again = Trajectory(_read(dict(evidence.initial.columns), rng), f"again {len(found)}")
            evidence = replace(evidence, trajectories=(*evidence.trajectories, again))
            continue
        chosen = asks.select(candidates, evidence, world, 1, rng)
        # Every trial makes all its queries: one that sees nothing left to ask asks by chance.
        chosen = chosen or Random().select(candidates, evidence, world, 1, rng)
        (answer,) = world.run([chosen[0].experiment])
        if isinstance(answer, Trajectory):
            rows = _read(_thinned(dict(answer.columns)), rng)
            told = Trajectory(rows, answer.experiment)
            evidence = replace(evidence, trajectories=(*evidence.trajectories, told))
        else:
            evidence = replace(evidence, failures=(*evidence.failures, answer))
    candidates, probabilities = _weigh(proposals, evidence)
    laws.append(candidates[int(np.argmax(probabilities))].law)
    return np.array([*found, probabilities]), tuple(laws)


def _weigh(
    proposals: Sequence[Proposal], evidence: Evidence
) -> tuple[tuple[Candidate, ...], FloatArray]:
    fits = fit_all(proposals, evidence, FULL)
    found = posterior(fits, evidence)
    weights = to_weights(found.log_evidence)
    candidates = tuple(
        Candidate(fits[i].law, float(weight), letters(i)) for i, weight in enumerate(weights)
    )
    return candidates, found.probabilities


def _read(rows: Columns, rng: np.random.Generator) -> Columns:
    """Read the force with the digits an instrument has."""
    force = rows["force"]
    size = _RESOLUTION * float(np.abs(force).max(initial=0.0))
    return {**rows, "force": force + size * rng.standard_normal(len(force))}


def _thinned(rows: Columns) -> Columns:
    """Return rows evenly along a rollout; neighbouring substeps say nearly the same."""
    n = len(rows["v"])
    chosen = np.unique(np.linspace(0, max(n - 1, 0), min(n, _MOST_ROWS)).round().astype(int))
    return {name: column[chosen] for name, column in rows.items()}
