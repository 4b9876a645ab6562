r"""How much a column, or a product of columns, would explain: closed forms, no fit.

With an orthonormal basis $Q$ of what the law has already and the rest $z$ of the target, adding a
column $c$ lowers the sum of squares by

$$\frac{(c^\top z)^2}{|c|^2 - |Q^\top c|^2},$$

and the same holds of a block of columns, one per polynomial of the other variables, where only
matrix products are needed for thousands of shapes at once.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.proposers.search.table import Table

# A column this close to what is there already brings nothing but rounding.
_INSIDE = 1e-7
# Columns solved at once: enough for the matrix product, few enough for memory.
_CHUNK = 4096
# Blocks of polynomials are nearly dependent at times; a touch of ridge keeps them solvable.
_RIDGE = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What a law has already, and the rest: basis (n, m), rest (n), both times root weights."""

    basis: FloatArray
    rest: FloatArray
    table: Table
    rss: float

    def gains(self, columns: FloatArray) -> FloatArray:
        """Return the gain of each column (k, rows)."""
        weighted = self.table.observed(columns) * self.table.root
        size = np.square(weighted).sum(axis=1)
        return _ratio(weighted @ self.rest, size, np.square(weighted @ self.basis).sum(axis=1))

    def block_gains(
        self, columns: FloatArray, block: FloatArray, squares: FloatArray
    ) -> FloatArray:
        """Return the gain of each column times a whole block of columns (b, rows) at once.

        `squares` are the Gram matrices of the blocks, from `block_squares`.
        """
        found = np.empty(len(columns))
        n_block = len(block)
        root = self.table.root
        # What is summed over the rows of an observation is spread over them here, exactly.
        spread = self.table.segments.number(self.table.n_rows)
        weighted = (root[:, None] * np.column_stack([self.rest, self.basis]))[spread]
        inner = (block[:, :, None] * weighted[None, :, :]).transpose(1, 0, 2)
        inner = inner.reshape(len(weighted), -1)
        for start in range(0, len(columns), _CHUNK):
            part = columns[start : start + _CHUNK]
            there = (part @ inner).reshape(len(part), n_block, -1)
            slope, inside = there[:, :, 0], there[:, :, 1:]
            gram = squares[start : start + _CHUNK] - inside @ inside.transpose(0, 2, 1)
            # A column inside the basis leaves rounding; it is as good as none.
            full = np.einsum("kii->ki", squares[start : start + _CHUNK])
            scale = np.sqrt(np.maximum(np.einsum("kii->ki", gram), _INSIDE * full + 1e-300))
            gram = gram / (scale[:, :, None] * scale[:, None, :]) + _RIDGE * np.eye(n_block)
            slope = slope / scale
            solved = np.asarray(np.linalg.solve(gram, slope[:, :, None]), dtype=np.float64)
            found[start : start + _CHUNK] = (solved[:, :, 0] * slope).sum(axis=1)
        return np.clip(found, 0.0, self.rss)

    def with_columns(self, columns: FloatArray) -> "Frame":
        """Add columns (k, observations) to what is there."""
        added = (columns * self.table.root).T
        for _ in range(2):
            added = added - self.basis @ (self.basis.T @ added)
        u, s, _ = np.linalg.svd(added, full_matrices=False)
        fresh = u[:, s > _INSIDE * max(float(s.max(initial=0.0)), 1e-300)]
        basis = np.column_stack([self.basis, fresh])
        rest = self.rest - fresh @ (fresh.T @ self.rest)
        return Frame(basis, rest, self.table, float(rest @ rest))


def frame(table: Table, columns: FloatArray) -> Frame:
    """Begin with the constant (or one per group) and some columns (k, rows)."""
    z = table.root * table.target
    empty = Frame(np.empty((table.n, 0)), z, table, float(z @ z))
    return empty.with_columns(np.vstack([table.constant, table.observed(columns)]))


def block_squares(columns: FloatArray, block: FloatArray, table: Table) -> FloatArray:
    """Return the Gram matrix of each column times a block (b, rows); (columns, b, b)."""
    b = len(block)
    if not table.segments.summed:
        pairs = np.square(table.root) * (block[:, None, :] * block[None, :, :])
        return (np.square(columns) @ pairs.reshape(b * b, -1).T).reshape(len(columns), b, b)
    found = np.empty((len(columns), b, b))
    for squares, column in zip(found, columns, strict=True):
        weighted = table.observed(column * block) * table.root
        squares[:] = weighted @ weighted.T
    return found


def _ratio(slope: FloatArray, size: FloatArray, inside: FloatArray) -> FloatArray:
    left = size - inside
    usable = left > _INSIDE * size
    return np.where(usable, np.square(slope) / np.where(usable, left, 1.0), 0.0)
