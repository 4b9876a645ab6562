r"""What the rows do not determine, found from the Jacobian and said in words.

A direction in parameter space along which no prediction moves is a null vector of the Jacobian.
Parameters that share such directions form a group; where all but one direction of the group is
null, the one that is left is a product of powers, or a sum, and that is what matters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray

# A Jacobian is good to about 1e-14 of its columns. True coefficients were seen at relative
# singular values down to 1e-8; below 1e-11 a direction is rounding.
RANK_TOLERANCE = 1e-11
_LARGEST_POWER = 4
_CLOSE = 1e-3

Predict = Callable[[FloatArray], FloatArray]

# The square of a smaller slope is not a number of float64: it determines nothing.
_VANISHING = 1e-150


@final
@dataclass(frozen=True, slots=True, eq=False)
class Determination:
    """Rank and condition of a fit, the undetermined parameters, and sentences about them."""

    condition: float
    inverse: FloatArray
    undetermined: NDArray[np.bool_]
    sentences: tuple[str, ...]


def determine(
    jacobian: FloatArray, values: FloatArray, names: Sequence[str], predict: Predict
) -> Determination:
    r"""Judge which parameters a weighted Jacobian (n, p) determines.

    `inverse` is the pseudo-inverse of $J^TJ$: null directions contribute nothing, so a variance
    of a prediction computed from it is right, and finite.
    """
    p = len(names)
    if p == 0:
        return Determination(1.0, np.zeros((0, 0)), np.zeros(0, dtype=np.bool_), ())
    norms = np.sqrt(np.sum(np.square(jacobian), axis=0))
    safe = np.where(norms > _VANISHING, norms, 1.0)
    scaled = jacobian / safe
    if not np.isfinite(scaled).all():
        unknown = np.ones(p, dtype=np.bool_)
        return Determination(np.inf, np.zeros((p, p)), unknown, ("The derivatives overflow.",))
    # The triangular factor has the same singular values, and is as small as the parameters.
    _, singular, rows = np.linalg.svd(np.linalg.qr(scaled, mode="r"), full_matrices=True)
    singular = np.concatenate([singular, np.zeros(p - len(singular))])
    kept = singular > RANK_TOLERANCE * max(float(singular[0]), 1e-300)
    basis = rows[kept] / singular[kept][:, None]
    inverse = (basis.T @ basis) / np.outer(safe, safe)
    condition = float(singular[0] / singular[-1]) if kept.all() else float("inf")
    null = rows[~kept]
    undetermined = np.sqrt(np.sum(np.square(null), axis=0)) > _CLOSE
    sentences = tuple(
        _describe(group, null[:, group] / safe[group], norms, values, names, predict)
        for group in _groups(null, undetermined)
    )
    return Determination(condition, inverse, undetermined, sentences)


def _groups(null: FloatArray, undetermined: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Split undetermined parameters into sets that share null directions."""
    projector = np.abs(null.T @ null) > _CLOSE
    left = set(map(int, np.flatnonzero(undetermined)))
    groups: list[NDArray[np.intp]] = []
    while left:
        members = {min(left)}
        while True:
            linked = {j for i in members for j in map(int, np.flatnonzero(projector[i]))} & left
            if linked <= members:
                break
            members |= linked
        groups.append(np.array(sorted(members), dtype=np.intp))
        left -= members
    return groups


def _describe(
    group: NDArray[np.intp],
    null: FloatArray,
    norms: FloatArray,
    values: FloatArray,
    names: Sequence[str],
    predict: Predict,
) -> str:
    members = [names[int(i)] for i in group]
    if len(group) == 1:
        return f"{members[0]} does not matter on these rows."
    if (norms[group] == 0.0).all():
        return f"{', '.join(members)} do not matter on these rows."
    # Only directions of this group; others have zeros in these columns.
    directions = null[np.sqrt(np.sum(np.square(null), axis=1)) > 0.0]
    x = values[group]
    if (x != 0.0).all():
        powers = _single_direction(directions / x)
        if powers is not None and _unmoved(group, powers, values, predict, product=True):
            return f"Only {_product(members, powers)} matters, not its factors."
    terms = _single_direction(directions)
    if terms is not None and _unmoved(group, terms, values, predict, product=False):
        return f"Only {_sum(members, terms)} matters, not its terms."
    return f"{', '.join(members)} are not determined separately by these rows."


def _single_direction(null: FloatArray) -> FloatArray | None:
    """Return the one direction orthogonal to all null ones, in small whole numbers."""
    size = null.shape[1]
    _, singular, rows = np.linalg.svd(null, full_matrices=True)
    rank = int(np.sum(singular > 1e-6 * singular[0])) if len(singular) else 0
    if rank != size - 1:
        return None
    direction = rows[-1]
    smallest = np.abs(direction).min()
    if smallest < _CLOSE:
        return None
    whole = direction / smallest
    rounded: FloatArray = np.rint(whole)
    if np.abs(whole - rounded).max() > _CLOSE or np.abs(rounded).max() > _LARGEST_POWER:
        return None
    return rounded * np.sign(rounded[np.argmax(np.abs(rounded) > 0)])


def _unmoved(
    group: NDArray[np.intp],
    invariant: FloatArray,
    values: FloatArray,
    predict: Predict,
    *,
    product: bool,
) -> bool:
    """Try it: move the parameters a long way with the invariant held; do predictions stay?"""
    first, second = 0, 1
    moved = values.copy()
    i, j = group[first], group[second]
    if product:
        moved[i] *= 1.5
        moved[j] *= 1.5 ** (-invariant[first] / invariant[second])
    else:
        shift = 0.5 * (abs(values[i]) + abs(values[j])) + 1.0
        moved[i] += shift
        moved[j] -= shift * invariant[first] / invariant[second]
    before, after = predict(values), predict(moved)
    return bool(np.abs(after - before).max() <= 1e-9 * np.abs(before).max())


def _product(names: Sequence[str], powers: FloatArray) -> str:
    above = [_power(n, p) for n, p in zip(names, powers, strict=True) if p > 0]
    below = [_power(n, -p) for n, p in zip(names, powers, strict=True) if p < 0]
    text = "*".join(above)
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def _power(name: str, power: float) -> str:
    return name if power == 1 else f"{name}^{power:g}"


def _sum(names: Sequence[str], terms: FloatArray) -> str:
    text = ""
    for name, factor in zip(names, terms, strict=True):
        sign = (" - " if factor < 0 else " + ") if text else ("-" if factor < 0 else "")
        text += sign + (name if abs(factor) == 1 else f"{abs(factor):g}*{name}")
    return text
