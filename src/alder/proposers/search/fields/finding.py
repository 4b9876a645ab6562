r"""Search nested spaces for the law of one rate; compare them all by description length."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Const
from alder.expr.operators import Floors
from alder.fitting.threads import limit_matrix_threads
from alder.proposers.search.fields.description import Field, Fields
from alder.proposers.search.fields.exploring import look
from alder.proposers.search.fields.further import Ranges, bends, ridges
from alder.proposers.search.fields.lent import Part, borrow
from alder.proposers.search.fields.monomials import Atoms
from alder.proposers.search.fields.polishing import polish
from alder.proposers.search.fields.shaped import shaped
from alder.proposers.search.fields.spaces import (
    Space,
    distances,
    lifted_atoms,
    mixed_atoms,
    nested,
    phases,
    plain_atoms,
    polynomials,
    ratios,
    turning,
)

# The most columns of a space over lifted atoms, and rows for each of them.
_LIFTED_COLUMNS, _ROWS_PER_COLUMN = 90, 3.5
_LIFTED_RATIOS = ((1, 1), (1, 2), (2, 2))
_TURNING_RATIOS = ((1, 3), (2, 3), (2, 4))


def find_fields(  # noqa: PLR0913 (all that a search needs)
    columns: Mapping[str, FloatArray],
    y: FloatArray,
    *,
    allowed: set[str],
    max_nodes: int,
    floors: Floors,
    ranges: Ranges,
    lent: Sequence[Part] = (),
) -> list[Field]:
    """Return laws of a target by description length, the shortest first.

    `lent` are parts of the laws of other rates, tried right after polynomials.

    Every stage has its own limits of effort, and compares all its spaces unless a law of short
    numbers alone is exact. The first stage that holds a law exact to rounding is the last.
    """
    fields = Fields(columns, y, max_nodes)
    if np.ptp(y) == 0.0:
        return [Field(Const(float(y[0])), {}, 0.0, 0.0, "constant")]
    plain, n = plain_atoms(columns), len(y)
    stages: list[Callable[[], None]] = [
        lambda: look(fields, nested(polynomials(plain, n, "polynomial"))),
        lambda: borrow(fields, lent, floors),
        lambda: look(fields, _lifted_sums(columns, n, allowed, floors)),
        lambda: look(fields, nested(ratios(plain, n, "ratio"))),
        lambda: look(fields, _lifted_ratios(columns, n, allowed, floors)),
        lambda: ridges(fields, allowed),
        lambda: bends(fields, allowed, ranges),
        lambda: shaped(fields, allowed, floors),
    ]
    # One matrix thread: a choice may hang on the last digit, and is the same on any computer.
    with np.errstate(all="ignore"), limit_matrix_threads(1):
        for stage in stages:
            stage()
            polish(fields, floors)
            if fields.is_exact() or fields.is_settled():
                break
    return sorted(fields.found.values(), key=lambda one: one.length)


def _lifted_sums(
    columns: Mapping[str, FloatArray], n: int, allowed: set[str], floors: Floors
) -> Iterator[Space]:
    """Yield sums of phases, then polynomials of lifted atoms: one family of functions, then two.

    Polynomials of a distance are the last.
    """
    turning = phases(columns, allowed, floors) if "sub" in allowed else None
    if turning is not None and 1 + len(turning.exprs) <= _most(n):
        yield Space("phases", turning, turning.monomials(1), ((0,) * len(turning.exprs),))
    lifted = lifted_atoms(columns, allowed, floors)
    mixed = mixed_atoms(columns, allowed, floors)
    far = (("distance", atoms) for atoms in distances(columns, allowed, floors))
    for label, atoms in chain(lifted, mixed, far):
        one = (0,) * len(atoms.exprs)
        for degree in (1, 2, 3):
            above = atoms.monomials(degree)
            if len(above) <= _most(n):
                yield Space(label, atoms, above, (one,))


def _lifted_ratios(
    columns: Mapping[str, FloatArray], n: int, allowed: set[str], floors: Floors
) -> Iterator[Space]:
    """Yield ratios of low degree of lifted atoms, of a higher one where an angle turns."""
    for label, atoms in lifted_atoms(columns, allowed, floors):
        yield from _ratios_of(atoms, n, label, _LIFTED_RATIOS)
    for atoms in turning(columns, allowed, floors):
        yield from _ratios_of(atoms, n, "turning", _TURNING_RATIOS)


def _ratios_of(
    atoms: Atoms, n: int, label: str, degrees: Sequence[tuple[int, int]]
) -> Iterator[Space]:
    for below, above in degrees:
        P, Q = atoms.monomials(below), atoms.monomials(above)
        if len(P) + len(Q) <= _most(n):
            yield Space(label, atoms, Q, P)


def _most(n_rows: int) -> float:
    return min(n_rows / _ROWS_PER_COLUMN, _LIFTED_COLUMNS)
