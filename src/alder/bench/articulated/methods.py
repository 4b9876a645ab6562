"""The methods: what each believes the joint does, and what that leads to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from alder.bench.articulated.case import Case
from alder.bench.articulated.execution import Dynamics
from alder.bench.articulated.learned import initial_dynamics, law_dynamics, network_dynamics
from alder.bench.articulated.planning import Reach, predicted_ends, reach
from alder.bench.articulated.scoring import (
    NEAR,
    finite_choices,
    optional_terms,
    relative_successes,
    rmse,
)
from alder.bench.benchmark import Row
from alder.records.law import Law

METHODS = ("nominal", "passive", "mlp", "alder", "parameter-oracle", "outcome-oracle")
"""Five models and an oracle of outcomes, which ranks actions but predicts nothing else."""


def measure_method(case: Case, method: str) -> Row:
    """Return the row of one method in one world."""
    if method == "alder":
        return _alder(case)
    believed = _TERMS.get(method, case.world.terms)
    row = {**_about(case), "admitted": True, "support": believed == case.world.terms}
    if method == "outcome-oracle":
        return {**row, **_best_choices(case)}
    if method == "mlp":
        row["queries"] = case.found.n_queries
    return {**row, **scored(case, _MODELS[method](case))}


def scored(case: Case, model: Dynamics) -> dict[str, Any]:
    """Predict the control probes with a model, and reach all targets by inverting it."""
    predicted = predicted_ends(case.lab, model, case.probes.control)
    reached = [reach(case.lab, model, case.truth, t.state, t.position) for t in case.targets]
    return {
        "ood_rmse": rmse(predicted, case.ends),
        **_finite(case, predicted),
        **control_figures(reached),
    }


def control_figures(reached: Sequence[Reach]) -> dict[str, Any]:
    """Return what became of the targets; refusals are no success and have no error."""
    errors = [one.error for one in reached]
    executed = [error for error in errors if error is not None]
    return {
        "targets": len(reached),
        "errors": [None if error is None else float(f"{error:.4g}") for error in errors],
        "control_mae": float(np.mean(executed)) if executed else None,
        "successes": sum(r.error is not None and r.error <= NEAR and r.safe for r in reached),
        "unsafe": sum(not one.safe for one in reached),
        "planned": [one.status for one in reached],
        "evaluations": [one.evaluations for one in reached],
    }


def refused_control(n_targets: int) -> dict[str, Any]:
    """Return the figures of a model that is not admitted: it refuses every target."""
    return {
        "targets": n_targets,
        "successes": 0,
        "relative_successes": 0,
        "unsafe": 0,
        "control_mae": None,
    }


def _alder(case: Case) -> Row:
    found = case.found
    candidate = found.law or last_candidate(case)
    row: Row = {
        **_about(case),
        "admitted": found.law is not None,
        "law": None if candidate is None else str(candidate),
        "values": None if candidate is None else candidate.values,
        "terms": sorted(found.terms),
        "support": found.law is not None and optional_terms(found.terms) == case.world.terms,
        "queries": found.n_queries,
        "queried": [case.probes.pool.index(probe) for probe in found.queried],
        "refusal": found.refusal,
        "ledger": None if found.outcome is None else found.outcome.digest,
    }
    unsafe_queries = sum(not rollout.safe for rollout in found.rollouts)
    if found.law is not None:
        row |= scored(case, law_dynamics(found.law))
    else:
        row |= refused_control(len(case.targets))
        row["ood_rmse"] = None if candidate is None else _error(case, law_dynamics(candidate))
    return {**row, "unsafe": row["unsafe"] + unsafe_queries}


def last_candidate(case: Case) -> Law | None:
    """Return the last law that was fitted in a study that was refused."""
    outcome = case.found.outcome
    return None if outcome is None or outcome.refusal is None else outcome.refusal.candidate


def _error(case: Case, model: Dynamics) -> float:
    return rmse(predicted_ends(case.lab, model, case.probes.control), case.ends)


def _network(case: Case) -> Dynamics:
    """Fit the network to exactly the rows that the discovered law was fitted to."""
    return network_dynamics([*case.passive, *case.found.rollouts], case.study_seed)


_MODELS: Mapping[str, Callable[[Case], Dynamics]] = {
    "nominal": lambda case: case.nominal,
    "passive": lambda case: initial_dynamics(case.passive),
    "mlp": _network,
    "parameter-oracle": lambda case: case.truth,
}


_TERMS: Mapping[str, frozenset[str] | None] = {
    "nominal": frozenset(),
    "passive": frozenset(),
    "mlp": None,
}
"""The optional terms each model is a sum of; a network is no sum. Oracles have the true ones."""


def _best_choices(case: Case) -> dict[str, Any]:
    """Rank the finite actions by their outcomes: errors are those of the best action there is."""
    chosen = finite_choices(case.targets, case.probes.control, case.ends)
    wanted = np.array([target.position for target in case.targets])
    errors = np.abs(case.ends[list(chosen)] - wanted)
    return {
        "ood_rmse": 0.0,
        **_finite(case, case.ends),
        "errors": [float(f"{error:.4g}") for error in errors],
        "control_mae": float(errors.mean()),
        "successes": int(np.sum(errors <= NEAR)),
        "unsafe": 0,
    }


def _finite(case: Case, predicted: Any) -> dict[str, Any]:  # noqa: ANN401 (an array)
    chosen = finite_choices(case.targets, case.probes.control, predicted)
    n = relative_successes(case.targets, case.probes.control, case.ends, chosen)
    return {"targets": len(case.targets), "relative_successes": n}


def _about(case: Case) -> dict[str, Any]:
    joint = case.world.joint
    return {
        "family": case.world.family,
        "world": {
            "damping": joint.damping,
            "friction": joint.friction,
            "stiffness": joint.stiffness,
        },
        "queries": 0,
        "ledger": None,
    }
