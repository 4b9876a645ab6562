"""The laws that still stand: refitted on the same public rows, told apart, weighed and labelled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.canonical import complexity, skeleton_digest
from alder.fitting import Fits
from alder.fitting.evidence import fit_all
from alder.prediction import predict_rows
from alder.records.effort import FULL, SCREENED, THOROUGH, Tally
from alder.records.evidence import Candidate, Evidence
from alder.records.law import Law
from alder.records.proposal import Proposal
from alder.selection.likelihood import Weighing, bic, log_scores
from alder.selection.noise import unit_of

REFUTED = 20.0
"""A law whose BIC exceeds the best by more is refuted: odds of e^10, 22,000 to one, against it."""
LIGHTEST = 0.02
"""A law that is not refuted keeps at least this share of the largest weight: likelihoods rest on
an estimated noise and on laws none of which need be true, and so are surer than they should be."""
# How many are fitted with more starts, and how many as well as we can.
_FULLY, _THOROUGHLY = 48, 8
# How many laws are compared where the only one left was refused.
_ALTERNATIVES = 4
# Laws that differ by less than this many noise standard deviations all over a box wider than the
# rows are one law for now; the simpler stands for both.
_SAME = 0.1
_N_POINTS = 256
_POINT_SEED = 20261116
_WIDER = 0.5


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A proposal as it was fitted, and its BIC."""

    proposal: Proposal
    law: Law
    criterion: float


def refit(
    proposals: Sequence[Proposal],
    evidence: Evidence,
    *,
    labels: Mapping[str, str] | None = None,
    weighing: Weighing = "likelihood",
    most: int = 16,
    tally: Tally | None = None,
) -> tuple[Candidate, ...]:
    """Fit proposals to all public rows and return those not refuted, the heaviest first.

    A law is refuted where its BIC exceeds the best by more than `REFUTED`. Where only one law is
    left that way and the verifier has refused it, it refutes nothing: the next best stay too.
    `proposals` are current and earlier ones, rivals or a supplied set, in any order; structures
    that are equal, or whose fits cannot be told apart, count once. `labels` maps the skeleton
    digests of earlier candidates to their labels (`labels_of`), which they keep. `tally` counts
    the fits.
    """
    tally = tally or Tally()
    distinct: dict[str, Proposal] = {}
    for proposal in proposals:
        distinct.setdefault(skeleton_digest(proposal.structure), proposal)
    if not distinct:
        return ()
    standing = _standing(_Ranking.of(list(distinct.values()), evidence, tally), evidence)[:most]
    if not standing:
        return ()
    scores = log_scores(
        [fitted.proposal for fitted in standing],
        [fitted.law for fitted in standing],
        np.array([fitted.criterion for fitted in standing]),
        evidence,
        weighing,
        tally,
    )
    weights = to_weights(scores)
    order = [int(i) for i in np.argsort(-weights, kind="stable")]
    names = _name([standing[i].law for i in order], labels or {})
    return tuple(
        Candidate(standing[i].law, float(weights[i]), name)
        for i, name in zip(order, names, strict=True)
    )


def labels_of(
    candidates: Sequence[Candidate], earlier: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the labels given so far by skeleton digest, for the next `refit`."""
    given = {skeleton_digest(c.law.structure): c.label for c in candidates}
    return {**(earlier or {}), **given}


def to_weights(scores: FloatArray) -> FloatArray:
    """Turn log scores into weights that sum to one, none lighter than `LIGHTEST` of the best.

    >>> to_weights(np.array([0.0, -1000.0])).round(3)
    array([0.98, 0.02])
    """
    finite = np.isfinite(scores)
    if not finite.any():
        return np.full(len(scores), 1.0 / len(scores))
    relative = np.exp(np.where(finite, scores - scores[finite].max(), -np.inf))
    weights = np.maximum(relative, LIGHTEST)
    return weights / weights.sum()


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Ranking:
    """Fits in order of their BIC, the best first; whole laws are made when asked for."""

    proposals: tuple[Proposal, ...]
    places: tuple[tuple[Fits, int], ...]
    criteria: FloatArray

    @staticmethod
    def of(proposals: list[Proposal], evidence: Evidence, tally: Tally) -> "_Ranking":
        """Fit in rounds, fewer and better each time."""
        kept = proposals
        for effort in (SCREENED, FULL) if len(kept) > _FULLY else (FULL,):
            found = bic(fit_all(kept, evidence, effort, tally), evidence)
            kept = [kept[int(i)] for i in np.argsort(found, kind="stable")[:_FULLY]]
        fits = [fit_all(kept[:_THOROUGHLY], evidence, THOROUGH, tally)]
        if len(kept) > _THOROUGHLY:
            fits.append(fit_all(kept[_THOROUGHLY:], evidence, FULL, tally))
        criteria = np.concatenate([bic(fit, evidence) for fit in fits])
        places = [(fit, i) for fit in fits for i in range(len(fit))]
        order = [int(i) for i in np.argsort(criteria, kind="stable") if np.isfinite(criteria[i])]
        return _Ranking(
            tuple(kept[i] for i in order), tuple(places[i] for i in order), criteria[order]
        )

    def best(self, n: int) -> list[_Fitted]:
        """Return the n best as whole laws."""
        return [
            _Fitted(proposal, fits[i].law, float(criterion))
            for proposal, (fits, i), criterion in zip(
                self.proposals[:n], self.places[:n], self.criteria[:n], strict=True
            )
        ]


def _standing(ranking: _Ranking, evidence: Evidence) -> list[_Fitted]:
    """Return the laws that stand, the best first."""
    if not len(ranking.criteria):
        return []
    n = int(np.sum(ranking.criteria <= ranking.criteria[0] + REFUTED))
    found = _told_apart(ranking.best(n), evidence)
    refused = {skeleton_digest(structure) for structure in evidence.rejected}
    if len(found) == 1 and skeleton_digest(found[0].law.structure) in refused:
        return _told_apart(ranking.best(max(n, _FULLY // 4)), evidence)[:_ALTERNATIVES]
    return found


def _told_apart(standing: Sequence[_Fitted], evidence: Evidence) -> list[_Fitted]:
    """Drop laws that forecast the same as a simpler one; the order stays."""
    if len(standing) < 2:
        return list(standing)
    points = _points(evidence)
    centre = predict_rows(standing[0].law, points)
    sigma = unit_of(standing[0].law, evidence).at(centre)
    simplest = sorted(range(len(standing)), key=lambda i: complexity(standing[i].law.structure))
    kept: dict[int, FloatArray] = {}
    for i in simplest:
        z = predict_rows(standing[i].law, points) / sigma
        with np.errstate(over="ignore"):
            if all(np.sqrt(np.mean(np.square(z - other))) > _SAME for other in kept.values()):
                kept[i] = z
    return [fitted for i, fitted in enumerate(standing) if i in kept]


def _points(evidence: Evidence) -> dict[str, FloatArray]:
    """Draw points of a box wider than the rows, or of the declared ranges, always the same."""
    rng = np.random.default_rng(_POINT_SEED)
    rows = evidence.rows()
    points: dict[str, FloatArray] = {}
    for variable in evidence.grammar.variables:
        column = rows[variable.name]
        low, high = float(np.nanmin(column)), float(np.nanmax(column))
        # A variable that rows never moved still has to move here: an experiment may move it.
        margin = _WIDER * (max(high - low, abs(low), abs(high)) or 1.0)
        # What is positive in all rows may have to be: a mass, a distance.
        bottom = max(low - margin, low / 2.0) if low > 0.0 else low - margin
        box = variable.range or (bottom, high + margin)
        points[variable.name] = rng.uniform(*box, _N_POINTS)
    return points


def _name(laws: Sequence[Law], labels: Mapping[str, str]) -> list[str]:
    """Return each law's label: the one it had, or the next that nobody had."""
    taken, names, number = set(labels.values()), list[str](), 0
    for law in laws:
        known = labels.get(skeleton_digest(law.structure))
        while known is None:
            label = letters(number)
            number += 1
            known = label if label not in taken else None
        names.append(known)
    return names


def letters(number: int) -> str:
    """Count in letters: A, B, ..., Z, AA, AB, ...

    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'AA')
    """
    found = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, len(ascii_uppercase))
        found = ascii_uppercase[digit] + found
    return found
