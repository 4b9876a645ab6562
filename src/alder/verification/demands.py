r"""Criteria that a study may add to its own: for rows without noise, and for sums of known terms.

Each is a `Criterion`; add them with `Criteria(own=[...])`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs]

from alder.arrays import FloatArray
from alder.consistency import Whitening, errors_of
from alder.expr.evaluate import evaluate
from alder.expr.text import parse
from alder.records.law import Law


@final
@dataclass(frozen=True, slots=True)
class TypicalError:
    r"""Refuse a law whose typical error is no longer small beside the spread of the target.

    $$\operatorname{median}_i |y_i - f_i| > s \cdot \operatorname{std}(y)$$

    A mean squared error of a thousandth hides a term that is missing where it matters little, and
    is spoiled by one wild row; the median is neither. For targets that are all but free of noise.
    """

    share: float = 1e-4

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        """Compare the median error with the spread of the rows of this role."""
        y = rows[law.target.name]
        error = y - law.predict({v.name: rows[v.name] for v in law.variables} or rows)
        return bool(np.median(np.abs(error)) > self.share * np.std(y))


@final
@dataclass(frozen=True, slots=True)
class EnoughGroups:
    """Refuse a law that rests on fewer groups of rows than this.

    Offsets of two groups say next to nothing about those of others, so that a law fitted to two
    could be blamed for nothing that looks like an offset.
    """

    at_least: int

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        """Count the groups that the law was fitted to; rows are not looked at."""
        return law.noise.n_groups < self.at_least


@final
@dataclass(frozen=True, slots=True)
class NoTermLeft:
    r"""Refuse a law where a declared term would still explain part of its errors.

    $$t_j = \frac{\tilde x_j^\top \tilde e}{s\, \lVert \tilde x_j \rVert}$$

    $\tilde e = V^{-1/2} e$ and $\tilde x_j$ are errors and a term's values on protected rows,
    whitened by noise, coefficients and offsets of groups, $V = D + J C J^\top + \tau^2 Z Z^\top +
    \tfrac{\tau^2}{G} \mathbf 1 \mathbf 1^\top$, and $s$ is the scatter of $\tilde e$. The chance
    of refusing a law that lacks none is at most `level`, over all terms together; $t_j$ is
    Student's, with as many degrees of freedom as there are rows, or other groups where offsets are
    known by their scatter alone. `terms` are expressions of variables in human syntax; `group`
    names the column of groups, empty for none.
    """

    terms: tuple[str, ...]
    level: float = 0.01
    group: str = ""

    def violated(self, law: Law, rows: Mapping[str, FloatArray], role: str) -> bool:
        """Test every term against the errors of this role."""
        errors = errors_of(law, rows)
        df = float(max(len(errors.error) - 1, 1))
        if self.group:
            df = float(max(len(np.unique(rows[self.group])), law.noise.n_groups, 2) - 1)
            shared = _offsets(errors.error, rows[self.group], law) / errors.noise[:, None]
            errors = replace(errors, spread=np.concatenate([errors.spread, shared], axis=1))
        white = Whitening.of(errors)
        e = white.apply(errors.z)
        s = max(float(np.sqrt(np.mean(np.square(e)))), 1e-300)
        names = [name for name in rows if name not in (law.target.name, self.group)]
        for text in self.terms:
            x = np.broadcast_to(evaluate(parse(text, names), rows, {}), len(e)) / errors.noise
            along = white.apply(x)
            size = float(np.linalg.norm(along))
            if size <= 1e-9 * float(np.linalg.norm(x)):
                continue
            p = 2.0 * float(stdtr(df, -abs(float(along @ e)) / (size * s)))
            if p * len(self.terms) < self.level:
                return True
        return False


def _offsets(errors: FloatArray, group: FloatArray, law: Law) -> FloatArray:
    """Return the directions that offsets of groups and their mean move errors in, (n, groups + 1).

    Their size is the larger of what the law says and what the means of these groups scatter by.
    """
    _, index, sizes = np.unique(group, return_inverse=True, return_counts=True)
    Z = np.eye(len(sizes))[index.reshape(-1)]
    means = (errors @ Z) / sizes
    seen = float(np.std(means, ddof=1)) if len(sizes) > 1 else 0.0
    tau = max(seen, law.noise.between)
    mean = np.full((len(errors), 1), tau / np.sqrt(max(law.noise.n_groups, 1)))
    return np.concatenate([tau * Z, mean], axis=1)
