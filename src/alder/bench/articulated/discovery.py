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
from alder.bench.articulated.instruments import (
    CONSTANT,
    FRICTION,
    ROLLOUT,
    Admitted,
    Biased,
    Exact,
    criteria_of,
    settle,
    term_texts,
)
from alder.bench.articulated.rollout import Probe, Rollout
from alder.bench.articulated.terms import kinds_in
from alder.expr.text import parse
from alder.fitting.robust import tame_rows
from alder.ports import Proposer
from alder.proposers.additive import Additive, Term, columns_of
from alder.records.law import Law
from alder.records.outcome import Outcome

Query: TypeAlias = Callable[[Probe], Rollout]
Columns: TypeAlias = dict[str, FloatArray]

VARIABLES = (alder.Variable("q"), alder.Variable("v"), alder.Variable("u"))
TARGET = alder.Variable("force")
START = ("bias", "velocity")
"""The law every joint begins with."""

# Wild rows are an instrument's up to this share; more of them are an effect that no term explains.
_MOST_WILD = 0.05
# Rows along which laws are compared before a probe is run.
_N_FORECAST = 32
# Rollouts of the pool are numbered from here, passive ones from 0, protected ones below 0.
_QUERIED = 1000


@final
@dataclass(frozen=True, slots=True)
class JointSettings:
    """What is declared about a joint and its instrument before anything is seen.

    `stiction` is the speed below which the joint may stick, so that friction lies anywhere inside
    its band; those rows are dropped, and those in which it comes to rest. `queries` may be run.
    """

    stiction: float
    instrument: Exact | Biased = field(default_factory=Exact)
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


def vocabulary(settings: JointSettings) -> Additive:
    """Return the proposer over the declared terms."""
    names = [variable.name for variable in VARIABLES]
    kinds = {"sign": FRICTION, "smooth_sign": FRICTION}
    terms = tuple(
        Term(name, parse(text, names), kinds.get(name, ""))
        for name, text in term_texts(settings.stiction).items()
    )
    if isinstance(settings.instrument, Exact):
        return Additive(terms, start=START)
    return Additive(terms, start=START, only=settings.instrument.validated, always=(CONSTANT,))


def discover_joint(  # noqa: PLR0913 (a whole request in one call)
    passive: Sequence[Rollout],
    pool: Sequence[Probe],
    query: Query,
    admission: Sequence[Rollout],
    seed: int,
    *,
    nominal: Sequence[Rollout],
    settings: JointSettings,
    ledger: Path | None = None,
    proposer: Proposer | None = None,
) -> JointOutcome:
    """Find the law of the force over q, v and u, or refuse.

    `passive` rollouts are public from the start, `admission` ones go to the verifier. `query` runs
    one probe of the `pool`; `nominal` are the rollouts of the same probes with the nominal joint,
    along whose rows laws are compared before any is run. Without a `proposer` sums of declared
    terms are proposed; of a noisy sensor, no other law is believed.
    """
    asked: list[tuple[Probe, Rollout]] = []

    def run(probe: Probe) -> Rollout:
        rollout = query(probe)
        asked.append((probe, rollout))
        return rollout

    declared = vocabulary(settings)
    first = _opening(passive, pool, nominal, run, settings)
    rows = joined([_rows(rollout, i, declared, settings) for i, rollout in enumerate(first)])
    sealed = joined([_rows(one, -1 - i, declared, settings) for i, one in enumerate(admission)])
    wild = 1.0 - len(sealed["v"]) / max(sum(_n_steady(one, settings) for one in admission), 1)
    if wild > _MOST_WILD:
        probes, rollouts = tuple(probe for probe, _ in asked), tuple(seen for _, seen in asked)
        why = "missing-operator: too many protected rows lie far from every sum of declared terms."
        return JointOutcome(None, frozenset(), len(asked), why, probes, rollouts)
    sealed = _unseen(sealed, rows)
    criteria = criteria_of(settings.instrument, tuple(term_texts(settings.stiction).values()))
    biased = isinstance(settings.instrument, Biased)
    with alder.Study(
        pool_world(pool, nominal, run, settings),
        grammar(),
        initial=rows,
        protected=alder.Protected(admission=sealed),
        budget=_budget(settings, len(asked)),
        proposer=proposer or declared,
        selector="disagreement",
        criteria=criteria,
        group=ROLLOUT if biased else None,
        seed=seed,
        ledger=ledger,
    ) as study:
        outcome = study.run()
        admitted = Admitted(declared, study.evidence, sealed, criteria)
        found = settle(outcome, admitted, settings.instrument)
    kinds = {term.name: term.kind for term in declared.terms}
    terms = frozenset(kinds[name] for name in found.terms)
    if found.law is not None and not found.terms:  # written by another proposer, in its own way
        terms = kinds_in(found.law.structure, declared.terms)
    probes, rollouts = tuple(probe for probe, _ in asked), tuple(seen for _, seen in asked)
    return JointOutcome(found.law, terms, len(asked), found.refusal, probes, rollouts, outcome)


def _budget(settings: JointSettings, n_asked: int) -> alder.Budget:
    """Return what is left to ask, and how much at once.

    Every query of an exact force may change the law. Offsets of a sensor are known by their scatter
    alone, so that all rollouts are wanted at once; a law of four terms then is two rounds away, and
    none is better than the best that was refused.
    """
    left = settings.queries - n_asked
    if isinstance(settings.instrument, Exact):
        return alder.Budget(proposals=settings.queries + 2, queries=left, batch=1)
    return alder.Budget(proposals=4, queries=left, batch=max(left, 1))


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


def _rows(rollout: Rollout, number: int, proposer: Additive, settings: JointSettings) -> Columns:
    """Return the steady rows of a rollout, with its number where rollouts have offsets.

    Rows far from every combination of all declared terms in this rollout are wild and dropped,
    before anything is proposed and the same for public and protected rollouts. Where too many are,
    no law is looked for.
    """
    rows = steady(rollout, settings.stiction)
    if isinstance(settings.instrument, Exact):
        return rows
    n = len(rows["v"])
    rows[ROLLOUT] = np.full(n, float(number))
    if not n:
        return rows
    finest = 1e-9 * float(np.abs(rows["force"]).max())
    tame = tame_rows(columns_of(proposer.terms, rows, n), rows["force"], finest)
    return {name: column[tame] for name, column in rows.items()}


def _n_steady(rollout: Rollout, settings: JointSettings) -> int:
    return len(steady(rollout, settings.stiction)["v"])


def joined(rows: Sequence[Columns]) -> Columns:
    """Put the rows of several rollouts one below the other."""
    return {name: np.concatenate([one[name] for one in rows]) for name in rows[0]}


def _unseen(sealed: Columns, public: Columns) -> Columns:
    """Leave out protected rows that are public: pulls that begin alike move alike for a while."""
    known = set(zip(*public.values(), strict=True))
    new = np.array([row not in known for row in zip(*sealed.values(), strict=True)])
    return {name: column[new] for name, column in sealed.items()}


def pool_world(
    pool: Sequence[Probe], nominal: Sequence[Rollout], run: Query, settings: JointSettings
) -> alder.FunctionWorld:
    """Return the pool as a world of experiments; those that were unsafe nominally are not safe."""
    knobs = [_knobs(probe) for probe in pool]
    number = {tuple(one.values()): i for i, one in enumerate(knobs)}

    def which(given: Mapping[str, object]) -> int:
        return number[tuple(float(str(given[name])) for name in knobs[0])]

    proposer = vocabulary(settings)
    paths = [_path(rollout, settings.stiction) for rollout in nominal]
    return alder.FunctionWorld(
        lambda given: _rows(run(pool[which(given)]), which(given) + _QUERIED, proposer, settings),
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
    rows = joined([steady(rollout, settings.stiction) for rollout in passive])
    force = rows["force"]
    if len(force) and np.ptp(force) > 1e-9 * np.abs(force).max():
        return list(passive)
    terms = vocabulary(settings).terms
    paths = [_path(rollout, settings.stiction) for rollout in nominal]
    every = columns_of(terms, joined(paths), _N_FORECAST * len(paths))
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
