r"""One law, one category: the criteria in a fixed order, and the bound an admission carries."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray, freeze_columns
from alder.consistency import Errors, errors_of
from alder.expr.nodes import size
from alder.records.law import Law
from alder.records.protected import ADMISSION
from alder.records.verdict import Category, Verdict
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
from alder.verification.spending import Thresholdout, is_spent, level
from alder.verification.stability import is_finite, is_stable
from alder.verification.structure import rank_sum_p
from alder.verification.terms import Terms

# A shift has too few rows to pay for many answers; it must still be better than chance would be.
_SHIFT_LEVEL = 0.05


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sealed:
    """Protected rows by role, with the terms under which laws are judged on them.

    `secret` seeds the noise of thresholds; who does not know it cannot subtract the noise.
    """

    rows: Mapping[str, Mapping[str, FloatArray]]
    terms: Terms
    secret: bytes = b""

    def __post_init__(self) -> None:
        """Freeze the rows."""
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
    judge = _Judge(sealed, law, _Gate(sealed, answers))
    category = judge.category(errors)
    if category != "accept":
        return Verdict(category, k)
    alpha = level(sealed.terms.spending, answers)
    return Verdict(
        "accept",
        k,
        error_bound(judge.losses(errors), alpha / 2.0),
        1.0 - sealed.terms.spending.alpha,
    )


def error_bound(errors: FloatArray, alpha: float) -> float:
    r"""Return what the root mean square error on rows like these exceeds with chance alpha.

    $$\sqrt{\nu m / \chi^2_{\nu}(\alpha)}, \qquad \nu = \min(n, 2 n m^2 / v)$$

    $m$ and $v$ are mean and variance of the squared errors and $\chi^2_\nu(\alpha)$ is the lower
    quantile: exact for Gaussian errors, with fewer degrees of freedom where tails are heavy
    (Satterthwaite).
    """
    from scipy.special import gammaincinv  # pyright: ignore[reportMissingTypeStubs]

    squares = np.square(errors)
    n, m = len(squares), float(np.mean(squares))
    if m == 0.0:
        return 0.0
    v = float(np.var(squares))
    nu = min(float(n), 2.0 * n * m * m / v) if v > 0.0 else float(n)
    quantile = 2.0 * float(gammaincinv(nu / 2.0, alpha))
    return math.sqrt(nu * m / max(quantile, 1e-290))


def _form(sealed: Sealed, law: Law) -> Category | None:
    """Judge what needs no rows: names, numbers, size."""
    names = {variable.name for variable in law.variables}
    numbers = [c.value for c in law.coefficients]
    known = names <= set(sealed.terms.variables) and law.target.name == sealed.terms.target
    if not (known and np.isfinite(numbers).all() and sealed.terms.target not in names):
        return "invalid"
    if law.objective == "events" and not _are_events(sealed):
        return "invalid"
    return "too-complex" if size(law.structure) > sealed.terms.criteria.max_nodes else None


def _are_events(sealed: Sealed) -> bool:
    return all(
        np.isin(rows[sealed.terms.target], (0.0, 1.0)).all() for rows in sealed.rows.values()
    )


def _errors(sealed: Sealed, law: Law, role: str) -> Errors:
    rows = sealed.rows[role]
    sigma = rows[sealed.terms.sigma] if sealed.terms.sigma is not None else None
    return with_doubt(errors_of(law, rows, sigma=sigma), law)


def _behaves(sealed: Sealed, law: Law, role: str, errors: Errors) -> bool:
    rows = sealed.rows[role]
    sound = bool(np.isfinite(errors.spread).all() and np.isfinite(errors.noise).all())
    return is_finite(law, errors) and sound and is_stable(law, rows, errors)


@final
class _Gate:
    """Compares p-values with levels, through noise where the reusable holdout asks for it."""

    def __init__(self, sealed: Sealed, answers: Sequence[Category]) -> None:
        self.spending = sealed.terms.spending
        self.alpha = level(sealed.terms.spending, answers) / 2.0
        self.scale = (
            sealed.terms.spending.scale if isinstance(sealed.terms.spending, Thresholdout) else 0.0
        )
        seed = hashlib.sha256(sealed.secret + len(answers).to_bytes(8, "little")).digest()
        self.rng = np.random.default_rng(list(seed))

    def beats_reference(self, p: float) -> bool:
        """Say whether a p-value of no improvement is small enough."""
        if not isinstance(self.spending, Thresholdout):
            return p <= self.alpha
        bar = -_quantile(self.spending.alpha) + self.spending.margin + self._laplace()
        return -_quantile(p) >= bar

    def is_consistent(self, p: float, limit: float) -> bool:
        """Say whether a p-value of the law holding is large enough."""
        if not isinstance(self.spending, Thresholdout):
            return p >= limit
        return _quantile(p) >= _quantile(limit) + self._laplace()

    def _laplace(self) -> float:
        return float(self.rng.laplace(0.0, self.scale))


def _quantile(p: float) -> float:
    from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

    return float(ndtri(min(max(p, 1e-300), 1.0 - 1e-16)))


@final
class _Judge:
    """The criteria that need outcomes."""

    def __init__(self, sealed: Sealed, law: Law, gate: _Gate) -> None:
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
        return "accept" if all(holds) else "fails-under-shift"

    def losses(self, errors: Mapping[str, Errors]) -> FloatArray:
        """Return the errors the bound is about: in the unit of the target, or wrong events."""
        admission = errors[ADMISSION]
        if self.law.objective == "squared":
            return admission.error
        y = admission.error + admission.prediction
        return np.where((admission.prediction > 0.0) == (y > 0.5), 0.0, 1.0)

    def _improves(self, errors: Errors, role: str) -> bool:
        sealed, limits = self.sealed, self.sealed.terms.criteria.thresholds
        share = sealed.terms.criteria.improvement if limits is None else limits.improvement
        if self.law.objective == "events":
            p = rank_sum_p(errors.prediction, errors.error + errors.prediction)
            return self._passes(p, role)
        for reference in sealed.terms.references:
            said = reference.predict(sealed.rows[role], len(errors.error))
            if not removes_share(errors, said, share):
                return False
            if limits is None and not self._passes(improvement_p(errors, said, share), role):
                return False
        return True

    def _passes(self, p: float, role: str) -> bool:
        return self.gate.beats_reference(p) if role == ADMISSION else p <= _SHIFT_LEVEL

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
        if role == ADMISSION and is_vague(errors, criteria.vague):
            return False
        inputs = {name: self.sealed.rows[role][name] for name in self.sealed.terms.variables}
        limit = criteria.level / len(self.sealed.rows)
        return self.gate.is_consistent(consistency_p(errors, inputs), limit)
