"""Shapes of one variable at a few knots: as polynomials, with their slopes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.proposers.search.interactions import Parity, is_wide
from alder.proposers.search.reader import Reader
from alder.proposers.search.shapes import Dictionary, Shape
from alder.proposers.search.slopes import reach_of

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
    def of(cls, one: Dictionary, most: int | None, read: Reader) -> "Singles":
        """Read every shape of a dictionary at up to so many points of its grid, or at all.

        The last of all shapes is the unit: what a shape meets that meets no other.
        """
        numbers: list[int] = []
        points: list[FloatArray] = []
        reaches: list[FloatArray] = []
        for number in map(int, np.unique(one.shape_of)):
            shape = one.shapes[number]
            if len(shape.names) <= PARAMETERS:
                at, reach = _grid_of(shape, one.point_of[one.shape_of == number], most)
                numbers += [number] * len(at)
                points.append(at)
                reaches.append(reach)
        numbers.append(len(one.shapes))
        none = np.zeros((1, PARAMETERS))
        at, reach = np.vstack([*points, none]), np.vstack([*reaches, none])
        shape_of = np.array(numbers, dtype=np.intp)
        values, slopes = evaluated(read, shape_of, at, reach)
        good = values.any(axis=1) & (np.abs(values).max(axis=1) < _POLE)
        return cls(values[good], slopes[good], at[good], reach[good], shape_of[good])


def _grid_of(
    shape: Shape, places: NDArray[np.intp], most: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return up to so many points of a shape's grid, and how far its parameters may move there."""
    if shape.points is None or not shape.names:
        return np.zeros((1, PARAMETERS)), np.zeros((1, PARAMETERS))
    count = len(places) if most is None else most
    spread = np.linspace(0, len(places) - 1, count).round().astype(np.intp)
    own = shape.points[places[np.unique(spread)]]
    fewer = replace(shape, points=own)
    return _padded(own), _padded(np.array([reach_of(fewer, point) for point in own]))


def joined(found: Sequence[Singles]) -> Singles:
    """Put shapes together."""
    return Singles(
        np.vstack([one.values for one in found]),
        np.vstack([one.slopes for one in found]),
        np.vstack([one.points for one in found]),
        np.vstack([one.reaches for one in found]),
        np.concatenate([one.shape_of for one in found]),
    )


def evaluated(
    read: Reader, shapes: NDArray[np.intp], points: FloatArray, reaches: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return shapes at points (n, 2) of their own, of unit size, with their slopes (n, 2, knots).

    A slope is the change along the reach of a parameter. Zeros stand where a shape has no values.
    """
    found, slopes = read.at(shapes, points)
    with np.errstate(all="ignore"):
        sizes = np.sqrt(np.mean(np.square(found), axis=1))[:, None]
        values, slopes = found / sizes, slopes * (reaches / sizes)[:, :, None]
    fine = np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
    return np.where(fine[:, None], values, 0.0), np.where(fine[:, None, None], slopes, 0.0)


def _padded(found: FloatArray) -> FloatArray:
    """Fill up with zeros for parameters that a shape has not."""
    return np.hstack([found, np.zeros((len(found), PARAMETERS - found.shape[1]))])
