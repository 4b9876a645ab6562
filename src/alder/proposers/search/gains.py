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
# Columns moved at once, and the damping of their steps.
_STEPPED = 256
_DAMPED = 1e-4


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
            weights = solved(gram, slope[:, :, None])[:, :, 0]
            found[start : start + _CHUNK] = (weights * slope).sum(axis=1)
        return np.clip(found, 0.0, self.rss)

    def stepped(
        self, columns: FloatArray, slopes: FloatArray, block: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        r"""Move each column (k, rows) along its slopes (k, s, rows) to where it explains the most.

        The column times a block (b, rows) is fitted first, with weights $w$; then a step
        $\delta$ of the slopes times $w$ times the block, none beyond 1. Return the gains of the
        moved columns times the block, and the steps (k, s).
        """
        found = np.empty(len(columns))
        steps = np.zeros(slopes.shape[:2])
        for start in range(0, len(columns), _STEPPED):
            here = slice(start, start + _STEPPED)
            before, weights, basis = self._explained(columns[here], block)
            left = self.rest - (weights[:, None, :] @ basis)[:, 0]
            along = self.outside(slopes[here] * (weights @ block)[:, None, :])
            # What the block can do by itself is no reason to move.
            inner = solved(_gram(basis), basis @ along.transpose(0, 2, 1))
            along = along - inner.transpose(0, 2, 1) @ basis
            size = np.sqrt(np.square(along).sum(axis=2)) + 1e-300
            along = along / size[:, :, None]
            step = solved(_gram(along, _DAMPED), along @ left[:, :, None])[:, :, 0] / size
            step = np.clip(np.nan_to_num(step), -1.0, 1.0)
            moved = columns[here] + (step[:, None, :] @ slopes[here])[:, 0]
            after, _, _ = self._explained(moved, block)
            better = after > before
            found[here] = np.where(better, after, before)
            steps[here] = np.where(better[:, None], step, 0.0)
        return np.clip(found, 0.0, self.rss), steps

    def _explained(
        self, columns: FloatArray, block: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return gains, weights of the block and what it adds (k, b, observations)."""
        basis = self.outside(columns[:, None, :] * block[None, :, :])
        slope = basis @ self.rest
        weights = solved(_gram(basis), slope[:, :, None])[:, :, 0]
        return (weights * slope).sum(axis=1), weights, basis

    def outside(self, columns: FloatArray) -> FloatArray:
        """Return columns (k, b, rows) as observed, less what the law has already."""
        flat = columns.reshape(-1, columns.shape[-1])
        weighted = self.table.observed(flat) * self.table.root
        weighted = weighted - (weighted @ self.basis) @ self.basis.T
        return weighted.reshape(*columns.shape[:2], self.table.n)

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


def solved(matrices: FloatArray, right: FloatArray) -> FloatArray:
    """Solve one or many systems of linear equations."""
    return np.asarray(np.linalg.solve(matrices, right), dtype=np.float64)


def _gram(columns: FloatArray, ridge: float = _RIDGE) -> FloatArray:
    """Return the Gram matrices of columns (k, b, observations), with a touch of ridge."""
    gram = columns @ columns.transpose(0, 2, 1)
    diagonal = np.einsum("kii->ki", gram)
    return gram + ridge * (diagonal + 1e-300)[:, :, None] * np.eye(columns.shape[1])


def _ratio(slope: FloatArray, size: FloatArray, inside: FloatArray) -> FloatArray:
    left = size - inside
    usable = left > _INSIDE * size
    return np.where(usable, np.square(slope) / np.where(usable, left, 1.0), 0.0)
