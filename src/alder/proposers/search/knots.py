"""Shapes of one variable at a few knots: as polynomials, with their slopes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import Const
from alder.expr.operators import Floors
from alder.proposers.search.interactions import Parity, is_wide
from alder.proposers.search.shapes import Dictionary, Shape, evaluate_grid
from alder.proposers.search.slopes import DIFFERENCE, reach_of

PARAMETERS = 2
"""Most parameters of a shape at the knots."""

# Polynomials of a profile, and knots at which shapes are read.
_DEGREES = 12
_KNOTS = 28
# Values at a knot so many times the typical one are poles, not shapes.
_POLE = 1e3


@final
@dataclass(frozen=True, slots=True, eq=False)
class Knots:
    """Where shapes of one variable are read, and what makes polynomials of them.

    `basis` are the polynomials at the rows (m, rows); `project` turns values at the knots into
    their coefficients (m, knots). Knots of an odd or even variable lie evenly about zero.
    """

    at: FloatArray
    basis: FloatArray
    project: FloatArray

    def coefficients(self, columns: FloatArray) -> FloatArray:
        """Turn columns (k, rows) into coefficients of the polynomials, (k, m)."""
        found = np.linalg.lstsq(self.basis.T, columns.T, rcond=1e-10)[0].T
        return np.asarray(found, dtype=np.float64)

    @classmethod
    def of(cls, column: FloatArray, parity: Parity) -> "Knots":
        """Choose knots over the range of a column."""
        wide = is_wide(column) and parity == "any"
        read = np.log(column) if wide else column
        low, high = float(read.min()), float(read.max())
        if parity != "any":
            high = max(-low, high)
            low = -high
        middle, half = 0.5 * (low + high), 0.5 * (high - low) or 1.0
        degrees = int(np.clip(len(column) // 5, 4, _DEGREES))
        places = np.cos(np.pi * (np.arange(_KNOTS) + 0.5) / _KNOTS)
        at = middle + half * places
        return cls(
            np.exp(at) if wide else at,
            np.asarray(chebyshev.chebvander((read - middle) / half, degrees - 1).T, np.float64),
            np.asarray(np.linalg.pinv(chebyshev.chebvander(places, degrees - 1)), np.float64),
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Singles:
    """Shapes of one variable at the knots (s, knots), their slopes (s, 2, knots) and points."""

    values: FloatArray
    slopes: FloatArray
    points: FloatArray
    reaches: FloatArray
    shape_of: NDArray[np.intp]

    @classmethod
    def of(
        cls, one: Dictionary, most: int | None, name: str, knots: Knots, floors: Floors
    ) -> "Singles":
        """Read every shape of a dictionary at up to so many points of its grid, or at all."""
        found: list[Singles] = []
        for number in map(int, np.unique(one.shape_of)):
            shape = one.shapes[number]
            if len(shape.names) <= PARAMETERS:
                places = one.point_of[one.shape_of == number]
                if shape.points is not None and shape.names:
                    count = len(places) if most is None else most
                    spread = np.linspace(0, len(places) - 1, count).round().astype(np.intp)
                    shape = replace(shape, points=shape.points[places[np.unique(spread)]])
                found.append(_read(shape, number, {name: knots.at}, floors))
        unit = Shape(Const(1.0))  # what a shape meets that meets no other
        found.append(_read(unit, len(one.shapes), {name: knots.at}, floors))
        return joined(found)


def joined(found: Sequence[Singles]) -> Singles:
    """Put shapes together."""
    return Singles(
        np.vstack([one.values for one in found]),
        np.vstack([one.slopes for one in found]),
        np.vstack([one.points for one in found]),
        np.vstack([one.reaches for one in found]),
        np.concatenate([one.shape_of for one in found]),
    )


def _read(shape: Shape, number: int, at: Mapping[str, FloatArray], floors: Floors) -> Singles:
    """Evaluate a shape and its slopes at the knots, at every point of its grid."""
    k = len(shape.names)
    own = shape.points if shape.points is not None and k else np.empty((1, 0))
    reach = np.array([reach_of(shape, point) for point in own]) if k else own
    values, slopes = evaluated(shape, own, reach, at, floors)
    good = values.any(axis=1) & (np.abs(values).max(axis=1) < _POLE)
    return Singles(
        values[good],
        slopes[good],
        _padded(own[good]),
        _padded(reach[good]),
        np.full(int(good.sum()), number, dtype=np.intp),
    )


def evaluated(
    shape: Shape,
    points: FloatArray,
    reach: FloatArray,
    at: Mapping[str, FloatArray],
    floors: Floors,
) -> tuple[FloatArray, FloatArray]:
    """Return a shape at points (n, k), of unit size, and its slopes; zeros where it has none."""
    n_knots, k = len(next(iter(at.values()))), points.shape[1]
    moved = [points]
    for j in range(k):
        step = np.zeros_like(points)
        step[:, j] = DIFFERENCE * reach[:, j]
        moved += [points + step, points - step]
    grid = replace(shape, points=np.vstack(moved))
    found = np.array(evaluate_grid(grid, at, floors)).reshape(2 * k + 1, len(points), n_knots)
    slopes = np.zeros((len(points), PARAMETERS, n_knots))
    with np.errstate(all="ignore"):
        slopes[:, :k] = ((found[1::2] - found[2::2]) / (2.0 * DIFFERENCE)).transpose(1, 0, 2)
        sizes = np.sqrt(np.mean(np.square(found[0]), axis=1))[:, None]
        values, slopes = found[0] / sizes, slopes / sizes[:, :, None]
    fine = np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
    return np.where(fine[:, None], values, 0.0), np.where(fine[:, None, None], slopes, 0.0)


def _padded(found: FloatArray) -> FloatArray:
    """Fill up with zeros for parameters that a shape has not."""
    return np.hstack([found, np.zeros((len(found), PARAMETERS - found.shape[1]))])
