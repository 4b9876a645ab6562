"""The law of a joint's force from rollouts: declared terms, few queries, protected admission.

The loop is that of every study. A rollout is an experiment, its substeps are rows, and what a law
says of an experiment is what it says along the nominal joint's path.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, assert_never, final

import numpy as np

import alder
from alder.arrays import FloatArray
from alder.bench.articulated.rollout import Probe, Rollout
from alder.expr.text import parse
from alder.fitting.robust import tame_rows
from alder.proposers.additive import Additive, Term, columns_of
from alder.records.evidence import Evidence
from alder.records.law import Law
from alder.records.outcome import Outcome
from alder.verification.criteria import Criteria, Thresholds
from alder.verification.demands import EnoughGroups, NoTermLeft, TypicalError

Query: TypeAlias = Callable[[Probe], Rollout]
Columns: TypeAlias = dict[str, FloatArray]

VARIABLES = (alder.Variable("q"), alder.Variable("v"), alder.Variable("u"))
TARGET = alder.Variable("force")
ROLLOUT = "rollout"
"""The column that says which rollout a row is of."""
START = ("bias", "velocity")
"""The law every joint begins with."""

# Rows along which laws are compared before a probe is run.
_N_FORECAST = 32
# Rollouts of the pool are numbered from here, passive ones from 0, protected ones below 0.
_QUERIED = 1000


@final
@dataclass(frozen=True, slots=True)
class Exact:
    """A force that is known to many digits: held-out errors are compared with fixed limits.

    `nmse` is the held-out error asked for, `typical` that of the median row.
    """

    nmse: float = 1e-3
    typical: float = 1e-4


@final
@dataclass(frozen=True, slots=True)
class Biased:
    """A force sensor with noise, and an offset that changes from rollout to rollout.

    Neither size is given: both are estimated. A law must rest on `rollouts` at least, be
    consistent with noise and offsets on protected rows at `level`, leave nothing there that a
    declared term explains, and no set of other terms may come within `margin` of it on public rows,
    in twice nats; a law that was `validated` before need only not be refuted.
    """

    rollouts: int = 8
    level: float = 0.02
    margin: float = 6.0
    refuted: float = 20.0
    validated: tuple[str, ...] = ()


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


def term_texts(stiction: float) -> dict[str, str]:
    """Return the declared terms; the smooth sign bends at the stiction speed."""
    return {
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


def vocabulary(settings: JointSettings) -> Additive:
    """Return the proposer over the declared terms."""
    names = [variable.name for variable in VARIABLES]
    kinds = {"sign": FRICTION, "smooth_sign": FRICTION}
    terms = tuple(
        Term(name, parse(text, names), kinds.get(name, ""))
        for name, text in term_texts(settings.stiction).items()
    )
    only = settings.instrument.validated if isinstance(settings.instrument, Biased) else ()
    return Additive(terms, start=START, only=only)


FRICTION = "friction"
"""The one name of the sign and the smooth sign."""


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

    proposer = vocabulary(settings)
    first = _opening(passive, pool, nominal, run, settings)
    rows = joined([_rows(rollout, i, proposer, settings) for i, rollout in enumerate(first)])
    sealed = joined([_rows(one, -1 - i, proposer, settings) for i, one in enumerate(admission)])
    biased = isinstance(settings.instrument, Biased)
    with alder.Study(
        _world(pool, nominal, run, settings),
        grammar(),
        initial=rows,
        protected=alder.Protected(admission=_unseen(sealed, rows)),
        budget=alder.Budget(
            # Every query may change the law. Once all rows are there, a law of four terms is two
            # rounds away, and there is no better one than the best that was refused.
            proposals=4 if biased else settings.queries + 2,
            queries=settings.queries - len(asked),
            # Offsets are known by their scatter alone, so that all rollouts are wanted at once.
            batch=settings.queries if biased else 1,
        ),
        proposer=proposer,
        selector="disagreement",
        criteria=_criteria(settings),
        group=ROLLOUT if biased else None,
        seed=seed,
        ledger=ledger,
    ) as study:
        outcome = study.run()
        return _read(outcome, proposer, asked, _doubt(outcome, proposer, study.evidence, settings))


def _criteria(settings: JointSettings) -> Criteria:
    instrument = settings.instrument
    match instrument:
        case Exact(nmse, typical):
            return Criteria(thresholds=Thresholds(nmse), own=[TypicalError(typical)])
        case Biased():
            texts = tuple(term_texts(settings.stiction).values())
            own = [
                EnoughGroups(instrument.rollouts),
                NoTermLeft(texts, instrument.level / 2.0, ROLLOUT),
            ]
            return Criteria(level=instrument.level / 2.0, own=own)
        case _:
            assert_never(instrument)


def _doubt(
    outcome: Outcome, proposer: Additive, evidence: Evidence, settings: JointSettings
) -> str:
    """Say why the public rows leave an admitted law in doubt; nothing where they do not."""
    instrument = settings.instrument
    names = None if outcome.law is None else proposer.terms_of(outcome.law.structure)
    if names is None or not isinstance(instrument, Biased):
        return ""
    margin = proposer.margin(names, evidence)
    least = -instrument.refuted if instrument.validated else instrument.margin
    if margin >= least:
        return ""
    return f"noise: another set of terms lies within {margin:.1f} of {least:g} twice nats"


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
    before anything is proposed and the same for public and protected rollouts.
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


def joined(rows: Sequence[Columns]) -> Columns:
    """Put the rows of several rollouts one below the other."""
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


def _read(
    outcome: Outcome, proposer: Additive, asked: Sequence[tuple[Probe, Rollout]], doubt: str
) -> JointOutcome:
    law, refusal = None if doubt else outcome.law, doubt
    if outcome.refusal is not None:
        refusal = f"{outcome.refusal.cause}: {outcome.refusal.reason}"
    last = outcome.law or (outcome.refusal.candidate if outcome.refusal is not None else None)
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
