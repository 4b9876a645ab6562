"""The front of a study: which laws no other beats in both size and accuracy on public rows."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.checking import check
from alder.expr.canonical import skeleton_digest
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Expr, parameters, size
from alder.expr.operators import Floors
from alder.fitting.crossvalidation import segments_of
from alder.fitting.evidence import fit_all
from alder.fitting.groups import group_offsets
from alder.fitting.many import Fits
from alder.records.effort import FULL, Effort, Tally
from alder.records.evidence import Candidate, Evidence
from alder.records.front import FrontLaw
from alder.records.law import Law
from alder.records.proposal import Bounds, Proposal
from alder.segments import Segments
from alder.tables import drop_missing

# One descent from where the parameters were found.
_NEARBY = Effort(pool=1, starts=1, iterations=30, tolerance=1e-9)
# What a law leaves below this share of the target is rounding, and smaller is not better.
_ROUNDING = 1e-12
# Errors that agree to so many digits are equal.
_DIGITS = 6


def find_front(
    evidence: Evidence, candidates: Sequence[Candidate] = (), tally: Tally | None = None
) -> tuple[FrontLaw, ...]:
    r"""Return the laws that no other beats in both size and accuracy, the smallest first.

    They are chosen among the laws of the grammar that were submitted, are candidates, or were
    offered by the proposer: its own front where it gave one, and its rivals. All are fitted to the
    public rows of this moment, validation rows apart; laws that were are left as they are. `tally`
    counts the others.

    Of laws of one size the most accurate is that of the least $n \ln \mathrm{error}^2 + k \ln n$,
    with $n$ observations and $k$ parameters: a free parameter in the place of a literal always
    fits better, and says nothing where it does so by no more than chance. (BIC, Schwarz 1978.)
    Laws that differ by less than $\ln n$ are as accurate; of them one that was submitted comes
    first.
    """
    measure = Measure.of(evidence)
    known = _known(evidence, candidates, measure.n_rows)
    found = [
        _Measured(law.structure, measure.error(law.structure, law.values), lambda law=law: law)
        for law in known.values()
    ]
    for effort, proposals in _offered(evidence, candidates, known).items():
        fits = fit_all(proposals, evidence, effort, tally)
        for i in np.flatnonzero(np.isfinite(fits.loss)).tolist():
            structure = proposals[i].structure
            error = measure.error(structure, fits.values(i))
            found.append(_Measured(structure, error, partial(_law, fits, i)))
    kept = _undominated(_best_of_size(found, evidence, measure))
    return tuple(FrontLaw(one.law(), one.error) for one in kept)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    r"""The error of laws on public rows, in the unit of the target.

    $$\mathrm{error} = \sqrt{\frac{\sum_i w_i (y_i - f_i)^2}{\sum_i w_i}}$$

    $y_i$ are observations, $f_i$ what the law says of each, a sum where targets are sums over rows,
    with the offset of its group where rows have groups. $w_i$ is the weight of the row, over the
    square of its error bar where it has one.
    """

    rows: Mapping[str, FloatArray]
    target: FloatArray
    weights: FloatArray
    segments: Segments
    group: NDArray[np.int64]
    n_groups: int
    floors: Floors

    @staticmethod
    def of(evidence: Evidence) -> "Measure":
        """Read the public rows that laws are fitted to."""
        rows, _ = drop_missing(evidence.rows(), evidence.columns)
        segments, roles = segments_of(rows, evidence), evidence.roles
        target = segments.first(rows[evidence.grammar.target.name])
        weights = np.ones(len(target))
        if roles.sigma is not None:
            weights = weights / np.square(segments.first(rows[roles.sigma]))
        if roles.weight is not None:
            weights = weights * segments.first(rows[roles.weight])
        group, n_groups = np.empty(0, dtype=np.int64), 0
        if roles.group is not None:
            names, index = np.unique(segments.first(rows[roles.group]), return_inverse=True)
            group, n_groups = index.reshape(-1).astype(np.int64), len(names)
        floors = evidence.grammar.floors
        return Measure(rows, target, weights, segments, group, n_groups, floors)

    @property
    def n_rows(self) -> int:
        """Count the rows."""
        return len(next(iter(self.rows.values())))

    @property
    def least(self) -> float:
        """The error below which all is rounding."""
        return _ROUNDING * self._rms(self.target)

    def error(self, structure: Expr, values: Mapping[str, float]) -> float:
        """Return the error of one law, infinite where it is too large for a number."""
        said = evaluate(structure, self.rows, values, self.floors)
        rest = self.target - self.segments.total(np.broadcast_to(said, self.n_rows))
        if self.n_groups:
            rest = rest - group_offsets(rest, self.weights, self.group, self.n_groups)[self.group]
        return max(self._rms(rest), self.least)

    def _rms(self, values: FloatArray) -> float:
        with np.errstate(over="ignore"):
            total = float(np.sum(self.weights * np.square(values)))
        return math.sqrt(total / float(np.sum(self.weights)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """A structure with its error, and how to make the whole law of it where it is wanted."""

    structure: Expr
    error: float
    law: Callable[[], Law]


def _law(fits: Fits, index: int) -> Law:
    return fits[index].law


def _known(evidence: Evidence, candidates: Sequence[Candidate], n_rows: int) -> dict[str, Law]:
    """Return the laws that were fitted to just these rows, those that were submitted first."""
    submitted = [a.fit.law for a in reversed(evidence.attempts) if a.fit is not None]
    known: dict[str, Law] = {}
    for law in (*submitted, *(candidate.law for candidate in candidates)):
        if law.n_rows == n_rows:
            known.setdefault(skeleton_digest(law.structure), law)
    return known


def _offered(
    evidence: Evidence, candidates: Sequence[Candidate], known: Mapping[str, Law]
) -> dict[Effort, list[Proposal]]:
    """Return what is still to be fitted, by how hard it is."""
    distinct: dict[str, Proposal] = {}
    for proposal in _proposals(evidence, candidates):
        digest = skeleton_digest(proposal.structure)
        if digest not in known and not check(proposal, evidence.grammar):
            distinct.setdefault(digest, proposal)
    by_effort: dict[Effort, list[Proposal]] = {}
    for proposal in distinct.values():
        by_effort.setdefault(_NEARBY if _has_starts(proposal) else FULL, []).append(proposal)
    return by_effort


def _proposals(evidence: Evidence, candidates: Sequence[Candidate]) -> Iterator[Proposal]:
    """Yield structures, those whose parameters are known best first."""
    for candidate in candidates:
        starts = {name: Bounds(start=value) for name, value in candidate.law.values.items()}
        yield Proposal(candidate.law.structure, starts)
    offers = [attempt.front for attempt in evidence.attempts if attempt.front]
    yield from offers[-1] if offers else ()
    for attempt in evidence.attempts[::-1]:
        if attempt.proposal is not None and not attempt.problems:
            yield attempt.proposal
    for attempt in evidence.attempts[-1:]:
        yield from attempt.rivals


def _has_starts(proposal: Proposal) -> bool:
    bounds = proposal.bounds
    return all(n in bounds and bounds[n].start is not None for n in parameters(proposal.structure))


def _best_of_size(
    found: Sequence[_Measured], evidence: Evidence, measure: Measure
) -> list[_Measured]:
    """Return the most accurate law of each size, the smallest first.

    Of those as accurate as each other, to within the price of one parameter, that which was
    submitted last comes first.
    """
    n = len(measure.target)
    fitted = [attempt.fit for attempt in evidence.attempts if attempt.fit is not None]
    turns = {skeleton_digest(fit.structure): turn for turn, fit in enumerate(fitted)}

    def best(laws: Sequence[_Measured]) -> _Measured:
        criteria = [_criterion(one, n) for one in laws]
        limit = min(criteria) + math.log(n)
        known = [
            (turns[digest], one)
            for one, criterion in zip(laws, criteria, strict=True)
            if (digest := skeleton_digest(one.structure)) in turns and criterion <= limit
        ]
        return max(known, key=lambda pair: pair[0])[1] if known else laws[int(np.argmin(criteria))]

    by_size: dict[int, list[_Measured]] = {}
    for one in found:
        by_size.setdefault(size(one.structure), []).append(one)
    return [best(by_size[nodes]) for nodes in sorted(by_size)]


def _criterion(one: _Measured, n: int) -> float:
    if not math.isfinite(one.error):
        return math.inf
    squared = 2.0 * math.log(max(one.error, 1e-300))
    return n * squared + len(parameters(one.structure)) * math.log(n)


def _undominated(found: Sequence[_Measured]) -> Iterator[_Measured]:
    """Yield what is more accurate than everything before it."""
    lowest = math.inf
    for one in found:
        error = float(f"{one.error:.{_DIGITS}g}")
        if error < lowest:
            lowest = error
            yield one
