"""Records as the JSON values of events, and back; floats and columns stay as they are.

`alder.ledger.content` writes what JSON cannot hold. A record gains a field only with a default, so
that older ledgers can still be read.
"""

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from alder.expr.json import from_json, to_json
from alder.expr.operators import Floors
from alder.records.budget import Budget, Spent
from alder.records.evidence import Candidate, Choice, Misfit, Separation
from alder.records.experiment import Experiment, Trajectory
from alder.records.fit import Fit
from alder.records.front import FrontLaw
from alder.records.grammar import Grammar, Nesting
from alder.records.law import Law
from alder.records.lawfile import (
    LawParts,
    content_of,
    parts_of,
    variable_from_json,
    variable_to_json,
)
from alder.records.nextstep import NextStep
from alder.records.outcome import Finding, Refusal
from alder.records.problem import Problem
from alder.records.proposal import Bounds, Proposal
from alder.records.roles import Roles
from alder.records.verdict import Commitment, Verdict

Json: TypeAlias = dict[str, object]
Value: TypeAlias = Mapping[str, Any]

Plain: TypeAlias = (
    Roles
    | Budget
    | Spent
    | Floors
    | Nesting
    | Problem
    | Misfit
    | Separation
    | Verdict
    | Commitment
    | Finding
)
"""Records whose fields are numbers and texts; their JSON is their fields."""

# What a proposer wrote is kept up to this many characters: the checker refuses longer ones anyway.
MAX_SOURCE = 256 * 1024


def plain_to_json(record: Plain) -> Json:
    """Write a record of numbers and texts by its fields; `Roles(**value)` reads it."""
    return {part.name: getattr(record, part.name) for part in dataclasses.fields(record)}


def grammar_to_json(grammar: Grammar) -> Json:
    """Write a grammar."""
    return {
        "variables": [variable_to_json(variable) for variable in grammar.variables],
        "target": variable_to_json(grammar.target),
        "operators": list(grammar.operators),
        "max_nodes": grammar.max_nodes,
        "max_depth": grammar.max_depth,
        "floors": plain_to_json(grammar.floors),
        "units": grammar.units,
        "angles_in_trig": grammar.angles_in_trig,
        "indicators_as_factors": grammar.indicators_as_factors,
        "nesting": [plain_to_json(rule) for rule in grammar.nesting],
    }


def grammar_from_json(value: Value) -> Grammar:
    """Read a grammar."""
    parts: dict[str, Any] = {
        **value,
        "variables": [variable_from_json(variable) for variable in value["variables"]],
        "target": variable_from_json(value["target"]),
        "operators": tuple(value["operators"]),
        "floors": Floors(**value["floors"]),
        "nesting": [Nesting(**rule) for rule in value["nesting"]],
    }
    return Grammar(**parts)


def proposal_to_json(proposal: Proposal) -> Json:
    """Write a proposal in the wire format of `alder.expr.json.proposal_schema`."""
    return {
        "structure": to_json(proposal.structure),
        "parameters": {name: _bounds(bounds) for name, bounds in proposal.bounds.items()},
        "rationale": proposal.rationale,
        "scope": proposal.scope,
        **({"exponents": list(proposal.exponents)} if proposal.exponents else {}),
    }


def proposal_from_json(value: Value) -> Proposal:
    """Read a proposal; an end that is left out is open."""
    return Proposal(
        structure=from_json(value["structure"]),
        bounds={name: Bounds(**ends) for name, ends in value["parameters"].items()},
        rationale=value["rationale"],
        scope=value["scope"],
        exponents=tuple(value.get("exponents", ())),
    )


def _bounds(bounds: Bounds) -> dict[str, float]:
    ends = {"lower": bounds.lower, "upper": bounds.upper, "start": bounds.start}
    return {end: value for end, value in ends.items() if value is not None and np.isfinite(value)}


def source_to_json(source: str | bytes) -> Json:
    """Write what a proposer wrote as it is, cut where no checker would read on."""
    cut: Json = {"length": len(source)} if len(source) > MAX_SOURCE else {}
    if isinstance(source, bytes):
        return {"base64": base64.b64encode(source[:MAX_SOURCE]).decode("ascii"), **cut}
    return {"text": source[:MAX_SOURCE], **cut}


def source_from_json(value: Value) -> str | bytes:
    """Read what a proposer wrote."""
    return base64.b64decode(value["base64"]) if "base64" in value else value["text"]


def trajectory_to_json(trajectory: Trajectory) -> Json:
    """Write a trajectory; its columns stay arrays, in their order."""
    return {
        "columns": dict(trajectory.columns),
        "order": list(trajectory.columns),
        "experiment": trajectory.experiment,
    }


def trajectory_from_json(value: Value) -> Trajectory:
    """Read a trajectory."""
    columns = value["columns"]
    return Trajectory({name: columns[name] for name in value["order"]}, value["experiment"])


def experiment_to_json(experiment: Experiment) -> Json:
    """Write an experiment."""
    return {
        "id": experiment.id,
        "settings": dict(experiment.settings),
        "order": list(experiment.settings),
        "cost": experiment.cost,
    }


def experiment_from_json(value: Value) -> Experiment:
    """Read an experiment."""
    settings = {name: value["settings"][name] for name in value["order"]}
    return Experiment(value["id"], settings, value["cost"])


def choice_to_json(choice: Choice) -> Json:
    """Write a choice with its reason."""
    return {
        "experiment": experiment_to_json(choice.experiment),
        "score": choice.score,
        "reason": choice.reason,
        "separates": [plain_to_json(separation) for separation in choice.separates],
    }


def choice_from_json(value: Value) -> Choice:
    """Read a choice."""
    return Choice(
        experiment=experiment_from_json(value["experiment"]),
        score=value["score"],
        reason=value["reason"],
        separates=tuple(Separation(**separation) for separation in value["separates"]),
    )


def law_to_json(law: Law) -> Json:
    """Write a law as its file does."""
    return content_of(_parts(law, law.provenance))


def law_from_json(value: Value) -> Law:
    """Read a law."""
    return Law(**parts_of(value))


def candidate_to_json(candidate: Candidate) -> Json:
    """Write a law that still stands."""
    return {
        "law": law_to_json(candidate.law),
        "weight": candidate.weight,
        "label": candidate.label,
    }


def candidate_from_json(value: Value) -> Candidate:
    """Read a law that still stands."""
    return Candidate(law_from_json(value["law"]), value["weight"], value["label"])


def front_law_to_json(one: FrontLaw) -> Json:
    """Write a law of the front with its error."""
    return {"law": law_to_json(one.law), "error": one.error}


def front_law_from_json(value: Value) -> FrontLaw:
    """Read a law of the front."""
    return FrontLaw(law_from_json(value["law"]), value["error"])


def fit_to_json(fit: Fit) -> Json:
    """Write a fit: its law, and what a law does not say."""
    return {
        "law": content_of(_parts(fit, {})),
        "loss": fit.loss,
        "converged": fit.converged,
        "reason": fit.reason,
        "undetermined": list(fit.undetermined),
        "condition": fit.condition,
        "offsets": dict(fit.offsets),
    }


def fit_from_json(value: Value) -> Fit:
    """Read a fit."""
    parts: dict[str, Any] = {**parts_of(value["law"]), **value}
    del parts["law"], parts["provenance"]
    parts["undetermined"] = tuple(value["undetermined"])
    return Fit(**parts)


def refusal_to_json(refusal: Refusal) -> Json:
    """Write a refusal with the laws that were left; the step only where there is one."""
    step = {} if refusal.step is None else {"step": step_to_json(refusal.step)}
    return {
        "cause": refusal.cause,
        "reason": refusal.reason,
        "advice": refusal.advice,
        "candidate": None if refusal.candidate is None else law_to_json(refusal.candidate),
        "rivals": [law_to_json(law) for law in refusal.rivals],
        "findings": [plain_to_json(finding) for finding in refusal.findings],
        **step,
    }


def refusal_from_json(value: Value) -> Refusal:
    """Read a refusal."""
    candidate = value["candidate"]
    return Refusal(
        cause=value["cause"],
        reason=value["reason"],
        advice=value["advice"],
        candidate=None if candidate is None else law_from_json(candidate),
        rivals=tuple(map(law_from_json, cast("Sequence[Value]", value["rivals"]))),
        findings=tuple(Finding(**finding) for finding in value.get("findings", ())),
        step=_step_from_json(value["step"]) if "step" in value else None,
    )


def step_to_json(step: NextStep) -> Json:
    """Write what to do next as JSON."""
    return {
        "action": step.action,
        "operators": list(step.operators),
        "variables": list(step.variables),
        "ranges": {name: list(ends) for name, ends in step.ranges.items()},
        "settings": dict(step.settings),
    }


def _step_from_json(value: Value) -> NextStep:
    return NextStep(
        action=value["action"],
        operators=tuple(value["operators"]),
        variables=tuple(value["variables"]),
        ranges={name: (low, high) for name, (low, high) in value["ranges"].items()},
        settings=dict(value["settings"]),
    )


def _parts(record: Law | Fit, provenance: Mapping[str, str]) -> LawParts:
    """Return the fields a law and a fit share."""
    names = [name for name in LawParts.__annotations__ if name != "provenance"]
    shared: dict[str, Any] = {name: getattr(record, name) for name in names}
    return cast("LawParts", {**shared, "provenance": provenance})
