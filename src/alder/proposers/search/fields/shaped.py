"""Sums of shapes with numbers inside: what saturates, switches, decays or slows down.

Their numbers are settled first, on the rows as they are. Then each shape is an atom like any
other, and the sparsest polynomial of states and shapes is looked for as everywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.canonical import rename
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Param, Var, parameters
from alder.expr.operators import Floors
from alder.expr.valued import with_some
from alder.proposers.search.fields.description import Fields
from alder.proposers.search.fields.exploring import explore
from alder.proposers.search.fields.monomials import Atoms
from alder.proposers.search.fields.spaces import Space, plain_atoms
from alder.proposers.summands.along import Along, Settled
from alder.proposers.summands.alternatives import Offer, alternatives, partners
from alder.proposers.summands.modulated import modulated
from alder.proposers.summands.shapes import make_library
from alder.proposers.summands.terms import Library, Term
from alder.records.short import shorten

# Noise that is assumed, in shares of the target's spread: where it is none, what numbers inside
# leave to first order would outweigh any term.
_ONE_SHAPE, _SEVERAL = (1e-3, 1e-7), (1e-2, 1e-3, 1e-4)
_FIRST = 3  # sums whose shapes are tried as atoms, and lend their numbers
_DEGREES, _COLUMNS = (1, 2, 3), 90
_MOST_COMPARED = 400  # rows on which sums are compared; what is exact is exact on all
_ROWS_PER_COLUMN = 2.5
_CLOSE = 1e-3  # what is left, relative to the spread, by sums that are worth an exact look
_FINEST = 1e-12  # noise at which numbers inside are settled for an exact look
_ERRORS, _ROUNDING = 20.0, 1e-11  # of a number inside: standard errors, and never better than this


def shaped(fields: Fields, allowed: set[str], floors: Floors) -> None:
    """Look for sums of simple terms and shapes, one shape with all it multiplies first."""
    names = tuple(fields.columns)
    powers = {"powp"} if "pow" in allowed else set[str]()
    library = make_library(names, sorted(allowed | powers), fields.columns)
    some = slice(None, None, -(-len(fields.y) // _MOST_COMPARED))
    table = np.column_stack([*fields.columns.values()])
    search = _Shapes(
        fields,
        library.finer(library.top),
        Along.rows(names, table[some], fields.y[some, None]),
        floors,
        frees_exponents="powp" in allowed,
    )
    for found in search.sums():
        search.look(found)
        if fields.is_exact() or fields.is_settled():
            return


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Shapes:
    """Terms on the rows of a target, and the laws found so far."""

    fields: Fields
    library: Library
    along: Along
    floors: Floors
    frees_exponents: bool

    def sums(self) -> Iterator[Settled]:
        """Yield sums with settled numbers, the likeliest of each kind first."""
        y, spread = self.along.sides[:, 0], float(np.std(self.fields.y))
        for share in _ONE_SHAPE:
            found = modulated(self.along, y, share * spread, self.library, _any)
            yield from self._close(found, share)
        offer = Offer(self.library.terms, self.along.blocks(self.library.terms), self._costs())
        lent: tuple[Term, ...] = ()
        for share in _SEVERAL:
            asked = offer.with_lent(self.along, lent, float(np.log(len(y))))
            noise = (share * spread, share * spread)
            found = alternatives(self.along, 0, noise, asked)
            yield from self._close(found, share)
            lent = partners([one.terms for one in found[:_FIRST]], self.along.columns)

    def _costs(self) -> FloatArray:
        return self.library.costs(len(self.along.sides))

    def _close(self, found: Sequence[Settled], share: float) -> list[Settled]:
        """Return those that leave little."""
        n = len(self.along.sides)
        best = sorted(found, key=lambda one: one.rest)[:_FIRST]
        return [one for one in best if share * np.sqrt(one.rest / n) <= _CLOSE]

    def look(self, found: Settled) -> None:
        """Look for the sparsest polynomial of states and the shapes of a sum."""
        shapes = self._atoms(self._shortened(found))
        if not shapes:
            return
        plain = plain_atoms(self.fields.columns)
        inner: dict[str, float] = {}
        values: list[FloatArray] = []
        for expr, own in shapes.items():
            inner |= own
            values.append(
                np.broadcast_to(
                    evaluate(expr, self.fields.columns, own, self.floors), len(self.fields.y)
                )
            )
        atoms = Atoms(
            (*plain.exprs, *shapes),
            np.column_stack([plain.values, *values]),
            (*plain.at_most, *(1 for _ in shapes)),
        )
        if not np.isfinite(atoms.values).all():
            return
        one = (0,) * len(atoms.exprs)
        for degree in _DEGREES:
            above = atoms.monomials(degree)
            if len(above) <= min(_COLUMNS, len(self.fields.y) / _ROWS_PER_COLUMN):
                explore(self.fields, Space("shapes", atoms, above, (one,)), inner)

    def _atoms(self, found: Settled) -> dict[Expr, dict[str, float]]:
        """Return the shapes of a sum without what multiplies them, and their free numbers."""
        shapes: dict[Expr, dict[str, float]] = {}
        for term in found.terms:
            values = dict(zip(parameters(term.expr), term.values, strict=True))
            for core in _cores(term.expr):
                fresh = {name: f"s{len(shapes)}{name}" for name in parameters(core)}
                own = {fresh[name]: values[name] for name in fresh}
                shapes.setdefault(rename(core, fresh), own)
        return shapes

    def _shortened(self, found: Settled) -> Settled:
        """Settle a sum for an exact look, and write numbers short where they are.

        The others are settled again, beside the short ones.
        """
        y, scale = self.fields.y, _FINEST * float(np.std(self.fields.y))
        found = self.along.settle(found.terms, y, scale)
        while True:
            errors = _relative_errors(self.along, found, y)
            terms = tuple(map(_with_short, found.terms, errors))
            if terms == found.terms:
                break
            found = self.along.settle(terms, y, scale)
        if self.frees_exponents:
            return found
        return replace(found, terms=tuple(map(_with_literal_exponents, found.terms)))


def _any(terms: Sequence[Term]) -> NDArray[np.bool_]:
    return np.ones(len(terms), dtype=np.bool_)


def _relative_errors(along: Along, found: Settled, y: FloatArray) -> list[list[float]]:
    """Return the standard errors of the numbers inside of each term, relative to them."""
    blocks = [along.block(term)[:, : 1 + len(term.values)] for term in found.terms]
    c = [found.coefficients[place] for place in range(len(blocks))]
    scaled = [
        block * np.array([1.0, *[k] * (block.shape[1] - 1)])
        for block, k in zip(blocks, c, strict=True)
    ]
    X = np.concatenate(scaled, axis=1)
    size = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    inverse = np.asarray(np.linalg.pinv(X / size, rcond=1e-13), dtype=np.float64)
    left = y - X / size @ (inverse @ y)
    rounding = (4e-16 * float(np.linalg.norm(y))) ** 2
    noise = max(float(left @ left), rounding) / max(len(y) - X.shape[1], 1)
    errors = np.sqrt(noise * np.square(inverse).sum(axis=1)) / size
    found_errors: list[list[float]] = []
    first = 0
    for block in blocks:
        found_errors.append(errors[first + 1 : first + block.shape[1]].tolist())
        first += block.shape[1]
    return found_errors


def _cores(expr: Expr) -> list[Expr]:
    """Return the factors of a product that are no polynomials."""
    if isinstance(expr, Apply) and expr.operator.name == "mul":
        return [core for argument in expr.arguments for core in _cores(argument)]
    return [] if _is_polynomial(expr) else [expr]


def _is_polynomial(expr: Expr) -> bool:
    match expr:
        case Apply(row, (base, Const(exponent))) if row.name == "pow":
            return _is_polynomial(base) and exponent >= 0.0 and float(exponent).is_integer()
        case Apply(row, arguments):
            return row.name in ("add", "sub", "neg", "mul") and all(map(_is_polynomial, arguments))
        case Const() | Param() | Var():
            return True


def _exponents(expr: Expr) -> set[str]:
    """Return the parameters that are exponents."""
    if not isinstance(expr, Apply):
        return set()
    found = set[str]().union(*map(_exponents, expr.arguments))
    if expr.operator.name == "powp" and isinstance(expr.arguments[1], Param):
        found.add(expr.arguments[1].name)
    return found


def _with_short(term: Term, errors: Sequence[float]) -> Term:
    """Write numbers short that are."""
    numbers: dict[str, float] = {}
    for name, value, error in zip(parameters(term.expr), term.values, errors, strict=True):
        short = shorten(value, max(_ERRORS * error, _ROUNDING))
        if short is not None:
            numbers[name] = short.value
    return _with_numbers(term, numbers)


def _with_literal_exponents(term: Term) -> Term:
    """Write exponents as numbers, for a grammar that frees none."""
    exponents = _exponents(term.expr)
    known = dict(zip(parameters(term.expr), term.values, strict=True))
    return _with_numbers(term, {name: known[name] for name in exponents})


def _with_numbers(term: Term, numbers: Mapping[str, float]) -> Term:
    known = dict(zip(parameters(term.expr), term.values, strict=True))
    expr = with_some(term.expr, numbers)
    return Term(expr, term.level, tuple(known[name] for name in parameters(expr)))
