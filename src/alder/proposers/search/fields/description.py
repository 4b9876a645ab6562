r"""Laws found so far, compared by how short the rows can be described with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.canonical import digest
from alder.expr.nodes import Expr, parameters, size
from alder.proposers.search.fields.ratio import Ratio, written
from alder.records.short import bits_of

# Relative residuals below this are rounding, which says nothing about a law.
ROUNDING = 3e-15
_EXACT = 1e-12
# Of all terms together: the numbers inside of them are rounded too.
_EPSILON = 2.0 * float(np.finfo(np.float64).eps)
NODE_BITS = 5.0
"""What a node of a tree takes to write."""
# Laws longer than the shortest by so many bits are not kept; rivals are far nearer.
_FAR = 2_000.0
# Nodes of a law that rounding does not explain: coincidences of that kind take many terms.
_MODERATE = 31


@final
@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A law of a rate: tree, values of parameters, what it leaves, and its length in bits.

    `rounding` is what it would leave if it were true: terms that cancel each other round more.
    """

    structure: Expr
    values: Mapping[str, float]
    rest: float
    length: float
    label: str
    rounding: float = ROUNDING

    @property
    def is_plain(self) -> bool:
        """Whether it is exact, with short numbers only: there is nothing shorter to look for."""
        return self.rest <= _EXACT and not self.values


@final
class Fields:
    """Laws found so far for the rows of one target."""

    def __init__(self, columns: Mapping[str, FloatArray], y: FloatArray, max_nodes: int) -> None:
        """Begin with nothing; errors are relative to each row, and to a middling one."""
        self.columns = dict(columns)
        self.y = y
        self.max_nodes = max_nodes
        self.found: dict[str, Field] = {}
        middle = float(np.median(np.abs(y))) or float(np.sqrt(np.mean(np.square(y)))) or 1.0
        self.scale = np.abs(y) + middle

    @property
    def best(self) -> float:
        """The length of the shortest law."""
        return min((one.length for one in self.found.values()), default=np.inf)

    def is_settled(self) -> bool:
        """Say whether a law of short numbers is exact."""
        return any(one.is_plain for one in self.found.values())

    def is_exact(self) -> bool:
        """Say whether a law of moderate size is exact to rounding, whatever its numbers."""
        return any(
            one.rest <= one.rounding and size(one.structure) <= _MODERATE
            for one in self.found.values()
        )

    def add(self, ratio: Ratio, label: str) -> None:
        """Keep a law, where its values are sound and it is not too large."""
        with np.errstate(all="ignore"):
            rest = self.rest_of(ratio.values())
            rounding = self._rounding(ratio)
        if not np.isfinite(rest):
            return
        bits = ratio.bits + sum(bits_of(v) for v in ratio.inner.values())
        length = self.length_of(max(rest, rounding), ratio.weight, bits)
        if length > self.best + _FAR:
            return
        tree, values = written(ratio)
        used = {name: values[name] for name in parameters(tree)}
        if size(tree) <= self.max_nodes:
            self.keep(Field(tree, used, rest, length, label, rounding))

    def keep(self, field: Field) -> None:
        """Keep a law; of two equal ones the shorter."""
        identity = digest(field.structure)
        old = self.found.get(identity)
        if old is None or field.length < old.length:
            self.found[identity] = field

    def rest_of(self, values: FloatArray) -> float:
        """Return the root mean square error, relative to each row."""
        return float(np.sqrt(np.mean(np.square((self.y - values) / self.scale))))

    def _rounding(self, ratio: Ratio) -> float:
        """Return what rounding alone may leave of a law, relative to each row."""
        size = float(np.sqrt(np.mean(np.square(ratio.sizes() / self.scale))))
        return float(np.clip(_EPSILON * size, ROUNDING, _EXACT))

    def length_of(self, rest: float, n_nodes: int, bits: float) -> float:
        """Return the description length of the rows under a law, in bits."""
        return len(self.y) * float(np.log2(max(rest, ROUNDING))) + NODE_BITS * n_nodes + bits
