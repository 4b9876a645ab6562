r"""One shape with numbers inside that multiplies a sum of columns, beside simple terms.

$$\dot y = \sum_b c_b\, b(x) + \Bigl(\sum_m a_m\, m\Bigr)\, g(x_i; \theta), \qquad
  m \in \{1, x_1, x_2, \dots\}$$

A current is a conductance times what drives it, $(x - E)\, g(x)$; a conversion is what is left
times its speed, $(1 - z)\, k(T)$. The products share their numbers, so that they are looked for
together: linear in all but $\theta$, which few steps settle for every shape.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, Var, variables
from alder.proposers.summands.along import Along, Settled, in_sizes
from alder.proposers.summands.building import plus, times
from alder.proposers.summands.terms import Library, Term, is_tame, moved

_SIMPLEST, _MOST_BASE = 2, 20  # level of simple terms that stand beside, and how many
_FOLLOWED = 6  # shapes whose numbers are settled, after a few steps of all of them
_FIRST_STEPS, _STEPS, _HALVINGS = 8, 20, 4
_FARTHEST = 1.0  # of one step of a number inside, in its logarithm
_REMEMBERED = 64  # shapes with their numbers whose products are at hand
_SETTLED = 1e-4  # of a gain in squares, in units of noise
_NAMES = ("a", "b", "d", "e", "f", "h")  # of the numbers in a sum; shapes have k, w and v

Permitted: TypeAlias = Callable[[Sequence[Term]], NDArray[np.bool_]]
"""Which terms the rate may have at all."""


@final
@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape with its numbers, and the columns that may multiply it."""

    expr: Expr
    level: int
    numbers: tuple[float, ...]
    factors: tuple[Expr, ...]

    def term(self) -> Term:
        """Return the shape alone."""
        return Term(self.expr, self.level, self.numbers)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A shape beside simple terms: coefficients of both, and the squares that are left."""

    shape: _Shape
    base: tuple[int, ...]
    coefficients: FloatArray
    rest: float


def modulated(
    along: Along, y: FloatArray, scale: float, library: Library, permitted: Permitted
) -> list[Settled]:
    """Return sums of simple terms and one such product, the shortest first.

    `y` are the sides of one rate, `scale` the standard deviation of their noise.
    """
    base = _base(library, permitted)
    simple = np.column_stack([along.block(term)[:, 0] for term in base])
    search = _Search(along, y / scale, scale, base, simple)
    begun = [search.begun(same) for same in _shapes(library, permitted).values()]
    followed = sorted((one for one in begun if one is not None), key=lambda one: one.rest)
    found = [search.settled(one) for one in followed[:_FOLLOWED]]
    found.sort(key=lambda pair: pair[0])
    return [settled for length, settled in found if np.isfinite(length)]


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The sides in units of noise, which is `scale`, and simple terms that stand beside."""

    along: Along
    y: FloatArray
    scale: float
    base: tuple[Term, ...]
    simple: FloatArray
    products: dict[_Shape, FloatArray] = field(default_factory=dict[_Shape, FloatArray])

    def begun(self, shapes: Sequence[_Shape]) -> _Fitted | None:
        """Return a shape after a few steps from the likeliest of its numbers.

        These are the best as they are, and the best to first order: either may lead elsewhere.
        """
        whole = tuple(range(len(self.base)))
        fits = [self._fit(shape, whole) for shape in shapes]
        places = {
            int(np.argmin([fit.rest for fit in fits])),
            int(np.argmin([self._foreseen(fit) for fit in fits])),
        }
        turned = [self._turned(shapes[place], whole, _FIRST_STEPS) for place in sorted(places)]
        best = min(turned, key=lambda one: one.rest)
        return best if np.isfinite(best.rest) else None

    def _foreseen(self, fitted: _Fitted) -> float:
        """Return what a step of the numbers inside would leave, to first order."""
        if not np.isfinite(fitted.rest):
            return np.inf
        X, moving = self._slopes(fitted)
        columns = np.column_stack([X, moving])
        return _rest(columns, self.y) if is_tame(columns) else np.inf

    def settled(self, fitted: _Fitted) -> tuple[float, Settled]:
        """Settle the numbers, drop what is not needed, and write the products as one term."""
        fitted = self._turned(fitted.shape, fitted.base)
        for _ in range(3):
            if not np.isfinite(fitted.rest):
                return np.inf, Settled((), np.zeros(0), np.inf)
            fewer = self._fewer(fitted)
            if fewer is None:
                break
            fitted = self._turned(fewer[0], fewer[1])
        return self._written(fitted)

    def _columns(self, shape: _Shape, base: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Return columns of both, and of the products their derivatives by the numbers."""
        if shape not in self.products:
            if len(self.products) >= _REMEMBERED:
                self.products.clear()
            self.products[shape] = self.along.products(shape.term(), shape.factors)
        blocks, B = self.products[shape], self.simple[:, list(base)]
        return np.column_stack([B, blocks[:, 0, :]]), blocks[:, 1 : 1 + len(shape.numbers), :]

    def _slopes(self, fitted: _Fitted) -> tuple[FloatArray, FloatArray]:
        """Return the columns, and what moving the numbers inside changes."""
        X, slopes = self._columns(fitted.shape, fitted.base)
        return X, slopes @ fitted.coefficients[len(fitted.base) :]

    def _fit(self, shape: _Shape, base: tuple[int, ...]) -> _Fitted:
        X, _ = self._columns(shape, base)
        if not is_tame(X):
            return _Fitted(shape, base, np.zeros(X.shape[1]), np.inf)
        c = in_sizes(X, self.y)
        left = self.y - X @ c
        rest = float(left @ left)
        return _Fitted(shape, base, c, rest if np.isfinite(rest) else np.inf)

    def _turned(self, shape: _Shape, base: tuple[int, ...], n_steps: int = _STEPS) -> _Fitted:
        """Move the numbers inside by Gauss and Newton's steps, all else solved for."""
        best = self._fit(shape, base)
        for _ in range(n_steps if np.isfinite(best.rest) else 0):
            X, moving = self._slopes(best)
            whole = np.column_stack([X, moving])
            if not is_tame(whole):
                break
            found = in_sizes(whole, self.y)[X.shape[1] :]
            step = np.clip(found, -_FARTHEST, _FARTHEST)
            before = best.rest
            for halving in range(_HALVINGS):
                numbers = moved(best.shape.numbers, (0.5**halving * step).tolist())
                trial = self._fit(replace(best.shape, numbers=numbers), base)
                if trial.rest < best.rest:
                    best = trial
                    break
            if before - best.rest <= _SETTLED:
                break
        return best

    def _fewer(self, fitted: _Fitted) -> tuple[_Shape, tuple[int, ...]] | None:
        """Drop columns while that shortens the description; None where all are needed.

        Numbers inside may move, to first order: they make up for what is not needed.
        """
        X, moving = self._slopes(fitted)
        moving = moving if is_tame(moving) else moving[:, :0]
        kept, n_base = list(range(X.shape[1])), len(fitted.base)
        cost = float(np.log(max(len(self.y), 2)) + 2.0 * np.log(2.0 * len(self.base)))
        now = fitted.rest
        while len(kept) > 1:
            trials = [
                (_rest(np.column_stack([X[:, [j for j in kept if j != out]], moving]), self.y), out)
                for out in kept
                if out < n_base or sum(j >= n_base for j in kept) > 1
            ]
            if not trials or min(trials)[0] - now > cost:
                break
            now, out = min(trials)
            kept.remove(out)
        if len(kept) == X.shape[1]:
            return None
        factors = tuple(fitted.shape.factors[j - n_base] for j in kept if j >= n_base)
        base = tuple(fitted.base[j] for j in kept if j < n_base)
        return replace(fitted.shape, factors=factors), base

    def _written(self, fitted: _Fitted) -> tuple[float, Settled]:
        """Write the products as one term, and settle all numbers together."""
        n_base = len(fitted.base)
        c, shape = fitted.coefficients, fitted.shape
        columns = self._columns(shape, fitted.base)[0][:, n_base:]
        sizes = np.abs(c[n_base:]) * np.linalg.norm(columns, axis=0)
        order: list[int] = np.argsort(-sizes, kind="stable").tolist()
        lead, others = order[0], [k for k in order[1:] if c[n_base + k] != 0.0][: len(_NAMES)]
        if not sizes[lead] > 0.0:
            return np.inf, Settled((), np.zeros(0), np.inf)
        numbers = [float(c[n_base + k] / c[n_base + lead]) for k in others]
        parts = [shape.factors[lead]]
        for name, k in zip(_NAMES[: len(others)], others, strict=True):
            factor = shape.factors[k]
            parts.append(Param(name) if isinstance(factor, Const) else times(Param(name), factor))
        whole = _product(reduce(plus, parts), shape.expr)
        term = Term(whole, shape.level, (*numbers, *shape.numbers))
        terms = (*(self.base[place] for place in fitted.base), term)
        settled = self.along.settle(terms, self.y * self.scale, self.scale)
        digits = float(np.log(max(len(self.y), 2)))
        length = settled.rest + digits * (len(terms) + len(term.values))
        return length, settled


def _shapes(library: Library, permitted: Permitted) -> Mapping[Expr, list[_Shape]]:
    """Return the shapes of one column that are not multiplied yet, at all their numbers."""
    found: dict[Expr, list[_Shape]] = {}
    every: tuple[Expr, ...] = (Const(1.0), *map(Var, library.columns))
    factors: dict[Expr, tuple[Expr, ...]] = {}
    for term in library.terms:
        if not term.values or len(variables(term.expr)) != 1 or _is_product(term.expr):
            continue
        if term.expr not in factors:
            products = [Term(_product(one, term.expr), 0, term.values) for one in every]
            allowed = permitted(products)
            factors[term.expr] = tuple(f for f, may in zip(every, allowed, strict=True) if may)
        if factors[term.expr]:
            shape = _Shape(term.expr, term.level, term.values, factors[term.expr])
            found.setdefault(term.expr, []).append(shape)
    return found


def _base(library: Library, permitted: Permitted) -> tuple[Term, ...]:
    """Return the simplest terms, of as many levels as are not too many."""
    found: tuple[Term, ...] = ()
    for level in range(_SIMPLEST + 1):
        terms = [term for term in library.terms if term.level <= level and not term.values]
        if len(terms) <= _MOST_BASE:
            found = tuple(t for t, may in zip(terms, permitted(terms), strict=True) if may)
    if not found:
        linear = [t for t in library.terms if isinstance(t.expr, Const | Var)]
        found = tuple(t for t, may in zip(linear, permitted(linear), strict=True) if may)
    return found


def _is_product(expr: Expr) -> bool:
    """Say whether a column multiplies a shape already."""
    return (
        isinstance(expr, Apply)
        and expr.operator.name == "mul"
        and any(isinstance(argument, Var) for argument in expr.arguments)
    )


def _product(factor: Expr, shape: Expr) -> Expr:
    return shape if isinstance(factor, Const) else times(factor, shape)


def _rest(X: FloatArray, y: FloatArray) -> float:
    left = y - X @ in_sizes(X, y)
    rest = float(left @ left)
    return rest if np.isfinite(rest) else np.inf
