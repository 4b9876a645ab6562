"""What a family of worlds is: a way to draw truths, and why the grammar cannot say them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.refusal.domains import Columns, Setting

Truth: TypeAlias = Callable[[Columns, Setting], FloatArray]
"""The noise-free target of rows. What it takes from the setting, no column shows."""

Reason: TypeAlias = Literal["not-elementary", "not-analytic", "not-a-column", "too-large"]
"""Why no law of the grammar equals the truth.

`not-elementary`: no finite tree of these operators is that function. `not-analytic`: it has a jump,
a kink or a broken derivative, and laws are analytic away from poles. `not-a-column`: rows with
equal inputs have different outcomes. `too-large`: its tree exceeds the limit on nodes.
"""


@final
@dataclass(frozen=True, slots=True)
class Family:
    """A kind of worlds; `draw` makes one truth of it, of any size."""

    name: str
    reason: Reason
    draw: Callable[[np.random.Generator], Truth]
    uneven: bool = False
    """Whether the noise grows with a variable, in a way the noise of a law cannot state."""
