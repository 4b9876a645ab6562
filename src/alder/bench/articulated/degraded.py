"""`--channels`: the validated law refitted where the force is noisy, drifts, or is not measured."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from alder.bench.articulated.case import Case
from alder.bench.articulated.channels import (
    SCALES,
    EstimatedForce,
    NoisyForce,
    learn_motion,
    refit_by_threshold,
    spread_of,
)
from alder.bench.articulated.discovery import (
    JointOutcome,
    JointSettings,
    discover_joint,
    vocabulary,
)
from alder.bench.articulated.execution import Dynamics
from alder.bench.articulated.from_motion import motion_only
from alder.bench.articulated.instruments import Biased
from alder.bench.articulated.learned import law_dynamics
from alder.bench.articulated.methods import refused_control, scored
from alder.bench.articulated.probes import N_QUERIES
from alder.bench.articulated.rig import Joint
from alder.bench.articulated.rollout import Probe, Rollout
from alder.bench.articulated.scene import Kind
from alder.bench.articulated.scoring import optional_terms
from alder.bench.benchmark import Row
from alder.records.law import Law

CHANNELS = (*(f"force-{round(100 * scale)}" for scale in SCALES), "estimated")
"""Noise and offsets of 1, 5 and 10 % of the force's spread, and force from motion."""

SUBSTEP = 0.002
PAPER: Mapping[str, tuple[str, str]] = {
    "force-1": ("80.0", "79.9"),
    "force-5": ("58.8", "58.8"),
    "force-10": ("42.5", "42.5"),
    "estimated": ("0.0", "0.0"),
}
"""The paper's coverage and control success in per cent, both joints together."""

# Joints whose force is known, on which the force from motion is calibrated.
_KNOWN: Mapping[Kind, tuple[Joint, ...]] = {
    "drawer": (Joint(40.0), Joint(0.5, 2.0), Joint(0.5, 0.0, 20.0)),
    "door": (Joint(4.0), Joint(0.05, 0.8), Joint(0.05, 0.0, 2.5)),
}
_N_KNOWN = 8
# Numbers by which a channel knows a rollout: passive ones from 0, then the pool, then admission.
_POOL, _ADMISSION = 1000, 2000

Channel: TypeAlias = NoisyForce | EstimatedForce


def measure_channel(case: Case, name: str) -> Row:
    """Return the row of one channel: our rule, and the paper's beside it."""
    row: Row = {"family": case.world.family, "queries": 0, "ledger": None}
    terms = validated_terms(case)
    if terms is None:
        return {**row, "admitted": False, **refused_control(len(case.targets))}
    channel = make_channel(case, name)
    ours = _from_motion(case, terms) if name == "estimated" else _ours(case, channel, terms)
    paper = _paper(case, channel, terms)
    return {**row, **ours, **{f"paper_rule_{key}": value for key, value in paper.items()}}


def validated_terms(case: Case) -> tuple[str, ...] | None:
    """Return the terms of the law that was admitted with exact forces; None without one."""
    law = case.found.law
    return None if law is None else vocabulary(case.settings).terms_of(law.structure)


def make_channel(case: Case, name: str) -> Channel:
    """Return the sensor, or what takes its place."""
    if name == "estimated":
        return _motion(case)
    scale = SCALES[CHANNELS.index(name)]
    return NoisyForce(scale, spread_of([*case.passive, *case.admission]), case.study_seed)


_MOTIONS: dict[tuple[Kind, int], EstimatedForce] = {}


def _motion(case: Case) -> EstimatedForce:
    """Learn what nominal motion looks like, once for all worlds of a process."""
    key = case.lab.kind, case.seed
    if key not in _MOTIONS:
        probes = case.probes.pool[:_N_KNOWN]
        known = [
            case.lab.observe(probe, Dynamics(joint))
            for joint in _KNOWN[case.lab.kind]
            for probe in probes
        ]
        _MOTIONS[key] = learn_motion(case.pool_nominal, known, SUBSTEP, case.seed % 2**31)
    return _MOTIONS[key]


def _ours(case: Case, channel: Channel, terms: tuple[str, ...]) -> dict[str, Any]:
    """Estimate noise and offsets, query, and admit what they leave possible."""
    place = {probe: number for number, probe in enumerate(case.probes.pool)}

    def query(probe: Probe) -> Rollout:
        return channel.see(case.lab.observe(probe, case.truth), _POOL + place[probe])

    found = discover_joint(
        _seen(channel, case.passive, 0),
        case.probes.pool,
        query,
        _seen(channel, case.admission, _ADMISSION),
        case.study_seed,
        nominal=case.pool_nominal,
        settings=JointSettings(
            stiction=case.settings.stiction,
            instrument=Biased(validated=terms),
            queries=N_QUERIES,
        ),
    )
    return _told(case, found)


def _from_motion(case: Case, terms: tuple[str, ...]) -> dict[str, Any]:
    """Lead the robot's model along what was seen, and discover the law of the force it takes."""
    validated = [term for term in vocabulary(case.settings).terms if term.name in terms]
    lab = motion_only(case.lab, case.truth, case.probes.passive, validated, case.settings.stiction)
    found = discover_joint(
        tuple(map(lab.see, case.probes.passive)),
        case.probes.pool,
        lab.see,
        tuple(map(lab.see, case.probes.admission)),
        case.study_seed,
        nominal=case.pool_nominal,
        settings=case.settings,
    )
    return {**_told(case, found), "damping": lab.damping}


def _told(case: Case, found: JointOutcome) -> dict[str, Any]:
    return {
        **_judged(case, found.law),
        "support": found.law is not None and optional_terms(found.terms) == case.world.terms,
        "terms": sorted(found.terms),
        "queries": found.n_queries,
        "refusal": found.refusal,
    }


def _paper(case: Case, channel: Channel, terms: Sequence[str]) -> dict[str, Any]:
    """Refit on the same queries as the exact study, and keep the threshold."""
    places = [_POOL + case.probes.pool.index(probe) for probe in case.found.queried]
    queried = [
        channel.see(rollout, place)
        for rollout, place in zip(case.found.rollouts, places, strict=True)
    ]
    refitted = refit_by_threshold(
        terms,
        [*_seen(channel, case.passive, 0), *queried],
        _seen(channel, case.admission, _ADMISSION),
        case.settings,
    )
    return {**_judged(case, refitted.law), "nmse": refitted.nmse}


def _seen(channel: Channel, rollouts: Sequence[Rollout], first: int) -> tuple[Rollout, ...]:
    return tuple(channel.see(rollout, first + i) for i, rollout in enumerate(rollouts))


def _judged(case: Case, law: Law | None) -> dict[str, Any]:
    """Return prediction and control with the law, or the figures of a refusal."""
    if law is None:
        return {"admitted": False, "law": None, **refused_control(len(case.targets))}
    return {"admitted": True, "law": str(law), **scored(case, law_dynamics(law))}


def channel_figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of one channel under both rules; failed rows count as refused."""
    found: dict[str, float] = {
        "worlds": len(rows),
        "support": sum(bool(row.get("support")) for row in rows) / len(rows),
        "wrong_admitted": sum(bool(row.get("admitted")) and not row["support"] for row in rows),
        "queries_median": float(np.median([row.get("queries", N_QUERIES) for row in rows])),
        "failed": sum("error" in row for row in rows),
    }
    for prefix in ("", "paper_rule_"):
        found |= _rule_figures(rows, prefix)
    return found


def _rule_figures(rows: Sequence[Row], prefix: str) -> dict[str, float]:
    admitted = [row for row in rows if row.get(f"{prefix}admitted")]
    n_targets = sum(row.get("targets", 16) for row in rows)
    found = {f"{prefix}admitted": len(admitted) / len(rows)}
    for name, key in (("success", "successes"), ("relative_success", "relative_successes")):
        found[f"{prefix}{name}"] = sum(row.get(f"{prefix}{key}", 0) for row in rows) / n_targets
    found[f"{prefix}unsafe"] = float(sum(row.get(f"{prefix}unsafe", 0) for row in rows))
    if admitted:
        errors = [row[f"{prefix}ood_rmse"] for row in admitted]
        found[f"{prefix}ood_rmse"] = float(np.mean(errors))
        found[f"{prefix}ood_rmse_max"] = float(np.max(errors))
        found[f"{prefix}control_mae"] = float(
            np.mean([row[f"{prefix}control_mae"] or 0.0 for row in admitted])
        )
    return found


def channel_table(_kind: str, figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Set both rules beside the paper's figures."""
    lines = [
        f"{'':12} {'rule':8} {'admitted %':>10} {'success %':>9} {'RMSE x 1e-3':>11} "
        f"{'wrong':>5} {'unsafe':>6}"
    ]
    for channel, paper in PAPER.items():
        if channel not in figures:
            continue
        f = figures[channel]
        for rule, prefix in (("ours", ""), ("paper's", "paper_rule_")):
            error = f.get(f"{prefix}ood_rmse")
            shown = f"{1e3 * error:11.3f}" if error is not None else " " * 11
            wrong = f"{f['wrong_admitted']:5.0f}" if not prefix else " " * 5
            lines.append(
                f"{channel:12} {rule:8} {100 * f[f'{prefix}admitted']:10.1f} "
                f"{100 * f[f'{prefix}success']:9.1f} {shown} {wrong} {f[f'{prefix}unsafe']:6.0f}"
            )
        lines.append(f"{'':12} {'paper':8} {paper[0]:>10} {paper[1]:>9}")
    return lines
