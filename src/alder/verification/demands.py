r"""Criteria that a study may add to its own: for rows without noise, and for sums of known terms.

Each is a `Criterion`; add them with `Criteria(own=[...])`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
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
