r"""One law, one category: the criteria in a fixed order, and the bound an admission carries."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray, freeze_columns
from alder.consistency import Errors, errors_of
from alder.expr.nodes import size
from alder.ports import Criterion
from alder.records.law import Law
from alder.records.protected import ADMISSION
from alder.records.verdict import Category, Verdict
from alder.segments import Segments
from alder.verification.criteria import (
    balanced_accuracy,
    consistency_p,
    improvement_p,
    is_negligible,
    is_vague,
    nmse,
    removes_share,
    with_doubt,
)
from alder.verification.gate import Gate
from alder.verification.groups import grouped_improvement_p, independent_rows, with_offsets
from alder.verification.own import is_violated, make
from alder.verification.rollout import diverges
from alder.verification.spending import is_spent, level
from alder.verification.stability import is_finite, is_stable
from alder.verification.structure import rank_sum_p
from alder.verification.terms import Terms

# A shift has too few rows to pay for many answers; it must still be better than chance would be.
SHIFT_LEVEL = 0.05


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sealed:
    """Protected rows by role, with the terms under which laws are judged on them.

    `secret` seeds the noise of thresholds; who does not know it cannot subtract the noise.
    """

    rows: Mapping[str, Mapping[str, FloatArray]]
    terms: Terms
    secret: bytes = b""
    own: tuple[Criterion, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Freeze the rows, and make the criteria of the study's own."""
        object.__setattr__(self, "own", tuple(map(make, self.terms.criteria.described)))
        frozen = {role: freeze_columns(columns) for role, columns in self.rows.items()}
        object.__setattr__(self, "rows", frozen)


def admit(sealed: Sealed, law: Law, answers: Sequence[Category]) -> Verdict:
    """Judge one law after the answers already given.

    The order is fixed: what needs no outcomes first, since it costs nothing to say.
    """
    k = len(answers) + 1
    if is_spent(sealed.terms.spending, answers):
        return Verdict("budget-spent", k)
    found = _form(sealed, law)
    if found is not None:
        return Verdict(found, k)
    errors = {role: _errors(sealed, law, role) for role in sealed.rows}
    if not all(_behaves(sealed, law, role, errors[role]) for role in sealed.rows):
        return Verdict("unstable", k)
    alpha = level(sealed.terms.spending, answers, sealed.terms.revealing)
    judge = _Judge(sealed, law, Gate(sealed.terms.spending, alpha, sealed.secret, len(answers)))
    category = judge.category(errors)
    if category != "accept":
        return Verdict(category, k)
    # Half of the level is for the reference; what the bounds have left, they share.
    bounds = {role: judge.bound(role, errors[role], alpha / (2.0 * len(errors))) for role in errors}
    shifted = [bound for role, bound in bounds.items() if role != ADMISSION]
    confidence = 1.0 - sealed.terms.spending.alpha
    return Verdict("accept", k, bounds[ADMISSION], confidence, max(shifted, default=None))


def error_bound(errors: FloatArray, alpha: float, n_independent: float = math.inf) -> float:
    r"""Return what the root mean square error on rows like these exceeds with chance alpha.

    $$\sqrt{\nu m / \chi^2_{\nu}(\alpha)}, \qquad \nu = \min(n, 2 n m^2 / v)$$

    $m$ and $v$ are mean and variance of the squared errors and $\chi^2_\nu(\alpha)$ is the lower
    quantile: exact for Gaussian errors, with fewer degrees of freedom where tails are heavy
    (Satterthwaite). Rows that share something count as `n_independent`.
    """
    from scipy.special import gammaincinv  # pyright: ignore[reportMissingTypeStubs]

    squares = np.square(errors)
    n, m = len(squares), float(np.mean(squares))
    if m == 0.0:
        return 0.0
    v = float(np.var(squares))
    nu = min(float(n), 2.0 * n * m * m / v if v > 0.0 else float(n), n_independent)
    quantile = 2.0 * float(gammaincinv(nu / 2.0, alpha))
    return math.sqrt(nu * m / max(quantile, 1e-290))


def _form(sealed: Sealed, law: Law) -> Category | None:
    """Judge what needs no rows: names, numbers, size."""
    names = {variable.name for variable in law.variables}
    numbers = [c.value for c in law.coefficients]
    known = names <= set(sealed.terms.variables) and law.target.name == sealed.terms.target
    if not (known and np.isfinite(numbers).all() and sealed.terms.target not in names):
        return "invalid"
    if law.objective == "events" and not (sealed.terms.sums is None and _are_events(sealed)):
        return "invalid"
    return "too-complex" if size(law.structure) > sealed.terms.criteria.max_nodes else None


def _are_events(sealed: Sealed) -> bool:
    return all(
        np.isin(rows[sealed.terms.target], (0.0, 1.0)).all() for rows in sealed.rows.values()
    )


def _errors(sealed: Sealed, law: Law, role: str) -> Errors:
    rows, terms = sealed.rows[role], sealed.terms
    sigma = rows[terms.sigma] if terms.sigma is not None else None
    sums = rows[terms.sums] if terms.sums is not None else None
    return with_doubt(errors_of(law, rows, sigma=sigma, sums=sums), law)


def _behaves(sealed: Sealed, law: Law, role: str, errors: Errors) -> bool:
    rows = sealed.rows[role]
    sound = bool(np.isfinite(errors.spread).all() and np.isfinite(errors.noise).all())
    terms = sealed.terms
    # Equations of a system are followed together; see `following`. Alone, with the other states
    # read between rows, a true law of a system may run away through what reading them misses.
    is_system = terms.rollout is not None
    along = terms.time if is_system else None
    if not (is_finite(law, errors) and sound and is_stable(law, rows, errors, along)):
        return False
    if is_system or terms.motion is None or terms.time is None or law.objective == "events":
        return True
    return not diverges(law, rows, terms.motion, terms.time, terms.group)


@final
class _Judge:
    """The criteria that need outcomes."""

    def __init__(self, sealed: Sealed, law: Law, gate: Gate) -> None:
        self.sealed = sealed
        self.law = law
        self.gate = gate

    def category(self, errors: Mapping[str, Errors]) -> Category:
        """Return the first criterion that fails, or "accept"."""
        if not self._improves(errors[ADMISSION], ADMISSION):
            return "no-better-than-reference"
        if not self._accurate(errors[ADMISSION], ADMISSION):
            return "inaccurate"
        shifted = [role for role in errors if role != ADMISSION]
        holds = [
            self._improves(errors[role], role) and self._accurate(errors[role], role)
            for role in shifted
        ]
        if not all(holds):
            return "fails-under-shift"
        return "fails-criterion" if self._fails_own() else "accept"

    def bound(self, role: str, errors: Errors, alpha: float) -> float:
        """Return what the error on rows like those of a role exceeds with chance alpha.

        The error is in the unit of the target, or the share of wrong events.
        """
        losses = errors.error
        if self.law.objective != "squared":
            y = errors.error + errors.prediction
            losses = np.where((errors.prediction > 0.0) == (y > 0.5), 0.0, 1.0)
        return error_bound(losses, alpha, self._n_independent(role, losses, errors))

    def _n_independent(self, role: str, losses: FloatArray, errors: Errors) -> float:
        """Count the rows the bound rests on; rows of one group are not as many as they look."""
        group = self._group(role)
        if group is None:
            return math.inf
        shared = self.law.noise.between**2
        own = float(np.median(np.square(errors.noise)))
        return independent_rows(losses, group, shared / (shared + own))

    def _group(self, role: str) -> FloatArray | None:
        name = self.sealed.terms.group
        if name is None:
            return None
        rows, sums = self.sealed.rows[role], self.sealed.terms.sums
        return Segments.of(None if sums is None else rows[sums]).first(rows[name])

    def _fails_own(self) -> bool:
        described = self.sealed.terms.criteria.described
        return any(
            is_violated(own, criterion, self.law, rows, role)
            for own, criterion in zip(described, self.sealed.own, strict=True)
            for role, rows in self.sealed.rows.items()
        )

    def _improves(self, errors: Errors, role: str) -> bool:
        sealed, limits = self.sealed, self.sealed.terms.criteria.thresholds
        share = sealed.terms.criteria.improvement if limits is None else limits.improvement
        if self.law.objective == "events":
            p = rank_sum_p(errors.prediction, errors.error + errors.prediction)
            return self._passes(p, role)
        for reference in sealed.terms.references:
            rows = sealed.rows[role]
            inputs = {name: errors.segments.total(rows[name]) for name in reference.slopes}
            said = reference.predict(inputs, len(errors.error))
            if not removes_share(errors, said, share):
                return False
            if limits is None and not self._passes(self._chance(errors, said, share, role), role):
                return False
        return True

    def _chance(self, errors: Errors, said: FloatArray, share: float, role: str) -> float:
        group = self._group(role)
        if group is None:
            return improvement_p(errors, said, share)
        return grouped_improvement_p(errors, said, share, group)

    def _passes(self, p: float, role: str) -> bool:
        return self.gate.beats_reference(p) if role == ADMISSION else p <= SHIFT_LEVEL

    def _accurate(self, errors: Errors, role: str) -> bool:
        criteria, limits = self.sealed.terms.criteria, self.sealed.terms.criteria.thresholds
        if self.law.objective == "events":
            y = errors.error + errors.prediction
            return balanced_accuracy(errors.prediction, y) >= criteria.balanced_accuracy
        if limits is not None:
            limit = limits.admission_nmse if role == ADMISSION else limits.shift_nmse
            return limit is None or nmse(errors) <= limit
        if is_negligible(errors, criteria.negligible):
            return True
        if is_vague(errors, criteria.vague):
            return False
        inputs = {name: self.sealed.rows[role][name] for name in self.sealed.terms.variables}
        limit = criteria.level / len(self.sealed.rows)
        group = self._group(role)
        if group is not None:  # half of the chance is that offsets scatter more than the bound says
            limit /= 2.0
            errors = with_offsets(errors, self.law.noise, group, limit)
        return self.gate.is_consistent(consistency_p(errors, inputs), limit)
