"""How a joint's force is measured: exactly, or by a sensor with noise and a drifting zero.

An instrument says what an admitted law must show, and what is done with one that was admitted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never, final

import numpy as np

from alder.arrays import FloatArray
from alder.proposers.additive import Additive
from alder.records.evidence import Evidence
from alder.records.law import Law
from alder.records.outcome import Outcome
from alder.records.protected import ADMISSION
from alder.verification.admit import Sealed, admit
from alder.verification.criteria import Criteria, Reference, Thresholds
from alder.verification.demands import EnoughGroups, NoTermLeft, TypicalError
from alder.verification.terms import Terms

ROLLOUT = "rollout"
"""The column that says which rollout a row is of."""
FRICTION = "friction"
"""The one name of the sign and the smooth sign."""
CONSTANT = "bias"
"""The term that takes up the mean of a sensor's offsets."""


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


def criteria_of(instrument: Exact | Biased, terms: tuple[str, ...]) -> Criteria:
    """Return what a law must show on protected rows; `terms` are the declared ones as text."""
    match instrument:
        case Exact(nmse, typical):
            return Criteria(thresholds=Thresholds(nmse), own=[TypicalError(typical)])
        case Biased():
            half = instrument.level / 2.0
            own = [EnoughGroups(instrument.rollouts), NoTermLeft(terms, half, ROLLOUT)]
            return Criteria(level=half, own=own)
        case _:
            assert_never(instrument)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Admitted:
    """What is known once a study has ended: its proposer, public evidence, and protected rows."""

    proposer: Additive
    evidence: Evidence
    sealed: Mapping[str, FloatArray]
    criteria: Criteria


@final
@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """The law of the joint with its terms, or why there is none."""

    law: Law | None
    terms: tuple[str, ...]
    refusal: str


def settle(outcome: Outcome, admitted: Admitted, instrument: Exact | Biased) -> Settled:
    """Return the law of the joint from the end of a study."""
    last = outcome.law
    if outcome.refusal is not None:
        last = outcome.refusal.candidate
    terms = None if last is None else admitted.proposer.terms_of(last.structure)
    if outcome.refusal is not None:
        return Settled(None, terms or (), f"{outcome.refusal.cause}: {outcome.refusal.reason}")
    if isinstance(instrument, Exact):
        return Settled(last, terms or (), "")
    if last is None or terms is None:
        return Settled(None, (), "no-valid-proposal: the law is no sum of declared terms")
    return _believed(last, terms, admitted, instrument)


def _believed(law: Law, terms: tuple[str, ...], admitted: Admitted, instrument: Biased) -> Settled:
    """Refuse a law that public rows leave in doubt, and take off a constant that is the sensor's.

    The constant of an admitted law is the mean offset of the sensor, and whatever constant force
    the joint has. Whether it has one, groups of rows decide by their scatter; without it the law is
    judged again by the same criteria.
    """
    proposer, evidence = admitted.proposer, admitted.evidence
    if instrument.validated:
        found = instrument.validated
        if proposer.excess(found, evidence) > instrument.refuted:
            return Settled(None, found, "noise: public rows refute the terms that were validated")
    else:
        found, margin = proposer.shortest(terms, evidence)
        if margin < instrument.margin:
            return Settled(None, found, f"noise: other terms lie {margin:.1f} twice nats away")
    if not set(found) <= set(terms) <= {*found, CONSTANT}:
        return Settled(None, found, "noise: public and protected rows favour other terms")
    if CONSTANT in found or CONSTANT not in terms:
        return Settled(law, terms, "")
    bare = _without(law, proposer, found)
    if not _passes(bare, admitted):
        return Settled(None, found, "noise: a constant is needed on protected rows alone")
    return Settled(bare, found, "")


def _without(law: Law, proposer: Additive, terms: tuple[str, ...]) -> Law:
    """Return the law with these of its terms only, their coefficients unchanged."""
    structure = proposer.structure(terms)
    kept = [
        i
        for i, coefficient in enumerate(law.coefficients)
        if proposer.term_of(coefficient.name) in terms
    ]
    return replace(
        law,
        structure=structure,
        coefficients=tuple(law.coefficients[i] for i in kept),
        covariance=law.covariance[np.ix_(kept, kept)],
    )


def _passes(law: Law, admitted: Admitted) -> bool:
    grammar = admitted.evidence.grammar
    mean = float(np.mean(admitted.evidence.rows()[grammar.target.name]))
    terms = Terms(
        variables=grammar.variable_names,
        target=grammar.target.name,
        references=(Reference(mean),),
        criteria=admitted.criteria,
        group=ROLLOUT,
    )
    return admit(Sealed({ADMISSION: admitted.sealed}, terms), law, ()).accepted
