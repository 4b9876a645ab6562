"""The law of a joint's force from rollouts: declared terms, few queries, protected admission.

The loop is that of every study. A rollout is an experiment, its substeps are rows, and what a law
says of an experiment is what it says along the nominal joint's path.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, final

import numpy as np

import alder
from alder.arrays import FloatArray
from alder.bench.articulated.rollout import Probe, Rollout
from alder.expr.text import parse
from alder.proposers.additive import Additive, Term, columns_of
from alder.records.law import Law
from alder.records.outcome import Outcome
from alder.verification.criteria import Criteria, Thresholds
from alder.verification.demands import TypicalError

Query: TypeAlias = Callable[[Probe], Rollout]
Columns: TypeAlias = dict[str, FloatArray]

VARIABLES = (alder.Variable("q"), alder.Variable("v"), alder.Variable("u"))
TARGET = alder.Variable("force")
START = ("bias", "velocity")
"""The law every joint begins with."""

# Rows along which laws are compared before a probe is run.
_N_FORECAST = 32


@final
@dataclass(frozen=True, slots=True)
class JointSettings:
    """What is declared about a joint and its instrument before anything is seen.

    `stiction` is the speed below which the joint may stick, so that friction lies anywhere inside
    its band; those rows are dropped, and those in which it comes to rest. `nmse` is the held-out
    error asked for, `typical` that of the median row. `queries` may be run.
    """

    stiction: float
    nmse: float = 1e-3
    typical: float = 1e-4
    queries: int = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class JointOutcome:
    """The admitted law with its terms, or why there is none; and what it took.

    `terms` are those of the admitted law, or of the last that was fitted, friction by one name.
    `queried` are the probes that were run, `outcome` is that of the study.
    """

    law: Law | None
    terms: frozenset[str]
    n_queries: int
    refusal: str
    queried: tuple[Probe, ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    outcome: Outcome | None = field(default=None, repr=False)


def vocabulary(stiction: float) -> Additive:
    """Return the proposer over the declared terms; a smooth sign bends at the stiction speed."""
    texts = {
        "bias": "1",
        "velocity": "v",
        "position": "q",
        "sign": "sign(v)",
        "smooth_sign": f"tanh(v/{stiction:g})",
        "speed": "abs(v)",
        "velocity_squared": "v^2",
        "drag": "v*abs(v)",
        "position_squared": "q^2",
        "action": "u",
        "action_velocity": "u*v",
        "action_position": "u*q",
        "position_exponential": "exp(q)",
    }
    names = [variable.name for variable in VARIABLES]
    kinds = {"sign": FRICTION, "smooth_sign": FRICTION}
    terms = tuple(
        Term(name, parse(text, names), kinds.get(name, "")) for name, text in texts.items()
    )
    return Additive(terms, start=START)


FRICTION = "friction"
"""The one name of the sign and the smooth sign."""


def discover_joint(
    passive: Sequence[Rollout],
    pool: Sequence[Probe],
    query: Query,
    admission: Sequence[Rollout],
    seed: int,
    *,
    nominal: Sequence[Rollout],
    settings: JointSettings,
    ledger: Path | None = None,
) -> JointOutcome:
    """Find the law of the force over q, v and u, or refuse.

    `passive` rollouts are public from the start, `admission` ones go to the verifier. `query` runs
    one probe of the `pool`; `nominal` are the rollouts of the same probes with the nominal joint,
    along whose rows laws are compared before any is run.
    """
    asked: list[tuple[Probe, Rollout]] = []

    def run(probe: Probe) -> Rollout:
        rollout = query(probe)
        asked.append((probe, rollout))
        return rollout

    proposer = vocabulary(settings.stiction)
    first = _opening(passive, pool, nominal, run, settings)
    rows = _joined([steady(rollout, settings.stiction) for rollout in first])
    sealed = _joined([steady(rollout, settings.stiction) for rollout in admission])
    outcome = alder.discover(
        _world(pool, nominal, run, settings),
        grammar(),
        initial=rows,
        protected=alder.Protected(admission=_unseen(sealed, rows)),
        budget=alder.Budget(
            proposals=settings.queries + 2, queries=settings.queries - len(asked), batch=1
        ),
        proposer=proposer,
        selector="disagreement",
        criteria=Criteria(
            thresholds=Thresholds(settings.nmse), own=[TypicalError(settings.typical)]
        ),
        seed=seed,
        ledger=ledger,
    )
    return _read(outcome, proposer, asked)


def grammar() -> alder.Grammar:
    """Return the language of joint forces: what the declared terms need."""
    return alder.Grammar(
        variables=VARIABLES,
        target=TARGET,
        operators=("add", "sub", "mul", "div", "pow", "exp", "tanh", "abs", "sign"),
        max_nodes=63,
    )


def steady(rollout: Rollout, stiction: float) -> Columns:
    """Return the rows in which the joint moves, and goes on moving, the same way.

    A row is dropped where the speed lies below `stiction`, where the next row moves the other way,
    and where the speed, changing as it did last, would pass through zero within the substep:
    friction then is less than sliding friction for part of it.
    """
    v = rollout.v
    if not len(v):
        return {name: np.zeros(0) for name in ("q", "v", "u", "force")}
    before, after = np.append(v[0], v[:-1]), np.append(v[1:], v[-1])
    moving = (np.abs(v) >= stiction) & (after * v > 0.0) & ((2.0 * v - before) * v > 0.0)
    return {name: getattr(rollout, name)[moving] for name in ("q", "v", "u", "force")}


def _joined(rows: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([one[name] for one in rows]) for name in rows[0]}


def _unseen(sealed: Columns, public: Columns) -> Columns:
    """Leave out protected rows that are public: pulls that begin alike move alike for a while."""
    known = set(zip(*public.values(), strict=True))
    new = np.array([row not in known for row in zip(*sealed.values(), strict=True)])
    return {name: column[new] for name, column in sealed.items()}


def _world(
    pool: Sequence[Probe], nominal: Sequence[Rollout], run: Query, settings: JointSettings
) -> alder.FunctionWorld:
    """Return the pool as a world of experiments; those that were unsafe nominally are not safe."""
    knobs = [_knobs(probe) for probe in pool]
    number = {tuple(one.values()): i for i, one in enumerate(knobs)}

    def which(given: Mapping[str, object]) -> int:
        return number[tuple(float(str(given[name])) for name in knobs[0])]

    paths = [_path(rollout, settings.stiction) for rollout in nominal]
    return alder.FunctionWorld(
        lambda given: steady(run(pool[which(given)]), settings.stiction),
        experiments=knobs,
        is_safe=[rollout.safe for rollout in nominal],
        inputs=lambda given: paths[which(given)],
    )


def _knobs(probe: Probe) -> dict[str, float]:
    return {
        "state": float(probe.state),
        "pull": float(probe.pull),
        "horizon": float(probe.horizon),
        "prelude": 0.0 if probe.prelude is None else float(probe.prelude),
    }


def _path(rollout: Rollout, stiction: float) -> Columns:
    """Return as many rows for every probe, evenly along its nominal path."""
    rows = steady(rollout, stiction)
    n = len(rows["v"])
    if n == 0:  # it never moves: what laws say at rest is no force of sliding
        return {name: np.zeros(_N_FORECAST) for name in ("q", "v", "u")}
    chosen = np.linspace(0, n - 1, _N_FORECAST).round().astype(int)
    return {name: rows[name][chosen] for name in ("q", "v", "u")}


def _opening(
    passive: Sequence[Rollout],
    pool: Sequence[Probe],
    nominal: Sequence[Rollout],
    run: Query,
    settings: JointSettings,
) -> list[Rollout]:
    r"""Return the first public rollouts: the passive ones, and one more where those show nothing.

    A force that is the same in all passive rows is explained by every term that was not moved. The
    probe is then the one whose nominal rows move the declared terms most: it maximises
    $\ln\det(G + \epsilon)$ of their Gram matrix with it.
    """
    rows = _joined([steady(rollout, settings.stiction) for rollout in passive])
    force = rows["force"]
    if len(force) and np.ptp(force) > 1e-9 * np.abs(force).max():
        return list(passive)
    terms = vocabulary(settings.stiction).terms
    paths = [_path(rollout, settings.stiction) for rollout in nominal]
    every = columns_of(terms, _joined(paths), _N_FORECAST * len(paths))
    size = np.maximum(np.sqrt(np.mean(np.square(every), axis=0)), 1e-300)
    G = _gram(terms, rows, size) if len(force) else np.zeros((len(terms), len(terms)))
    gains = [
        np.linalg.slogdet(G + _gram(terms, path, size) + 1e-6 * np.eye(len(terms)))[1]
        if rollout.safe
        else -np.inf
        for path, rollout in zip(paths, nominal, strict=True)
    ]
    return [*passive, run(pool[int(np.argmax(gains))])]


def _gram(terms: Sequence[Term], rows: Columns, size: FloatArray) -> FloatArray:
    X = columns_of(terms, rows, len(rows["v"])) / size
    return X.T @ X / max(len(X), 1)


def _read(
    outcome: Outcome, proposer: Additive, asked: Sequence[tuple[Probe, Rollout]]
) -> JointOutcome:
    law, refusal = outcome.law, ""
    if outcome.refusal is not None:
        refusal = f"{outcome.refusal.cause}: {outcome.refusal.reason}"
    last = law or (outcome.refusal.candidate if outcome.refusal is not None else None)
    names = None if last is None else proposer.terms_of(last.structure)
    if law is not None and names is None:
        law, refusal = None, "no-valid-proposal: the law is no sum of declared terms"
    kinds = {term.name: term.kind for term in proposer.terms}
    return JointOutcome(
        law,
        frozenset(kinds[name] for name in names or ()),
        len(asked),
        refusal,
        tuple(probe for probe, _ in asked),
        tuple(rollout for _, rollout in asked),
        outcome,
    )
