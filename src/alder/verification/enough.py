"""How many protected rows it takes to admit anything: said at the start, not after a search."""

from collections.abc import Mapping

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadStudy
from alder.records.protected import ADMISSION
from alder.verification.admit import SHIFT_LEVEL
from alder.verification.gate import score
from alder.verification.groups import GROUPED_TESTS
from alder.verification.spending import Thresholdout, level
from alder.verification.terms import Terms

# More rows than this are asked for by no level a float can hold.
_MOST = 1000


def require_enough(terms: Terms, rows: Mapping[str, Mapping[str, FloatArray]]) -> None:
    r"""Raise `BadStudy` where protected rows are so few that no law can be admitted on them.

    The signed-rank test gives a law that is better on every one of $n$ rows a p-value of $2^{-n}$,
    and no law a smaller one. Rows of one group share an offset, so that $G$ groups count as
    $\max(n - G, G)$ rows. Fixed thresholds ask for no rows.
    """
    if terms.criteria.thresholds is not None:
        return
    for role, columns in rows.items():
        n, groups = len(columns[terms.target]), ""
        if terms.sums is not None:  # a sum over rows is one witness
            n = len(np.unique(columns[terms.sums]))
        counted = n
        if terms.group is not None:
            n_groups = len(np.unique(columns[terms.group]))
            counted = max(n - n_groups, n_groups)
            groups = f" in {n_groups} group{'s' if n_groups > 1 else ''}"
        needed = fewest_rows(terms, role)
        if counted < needed:
            kind = "rows" if terms.group is None else "rows in one group, or groups,"
            other = (
                "leave `protected` out and let them be split off the initial rows"
                if role == ADMISSION
                else "leave this regime out"
            )
            raise BadStudy(
                f"{n} protected row{'s' if n > 1 else ''}{groups} ({role}) can admit no law, "
                f"however good: it takes at least {needed} {kind}. Give more, or {other}."
            )


def fewest_rows(terms: Terms, role: str = ADMISSION) -> int:
    """Return how many rows a law must be better on, all of them, to be admitted at first."""
    tests = 1 if terms.group is None else GROUPED_TESTS
    return next(n for n in range(1, _MOST) if _passes(min(1.0, tests * 0.5**n), terms, role))


def _passes(p: float, terms: Terms, role: str) -> bool:
    """Say whether a p-value would do, without the noise of a threshold."""
    spending = terms.spending
    if role != ADMISSION:
        return p <= SHIFT_LEVEL
    if isinstance(spending, Thresholdout):
        return -score(p) >= -score(spending.alpha) + spending.margin
    return p <= level(spending, (), terms.revealing) / 2.0
