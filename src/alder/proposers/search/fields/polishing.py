r"""All numbers of a nearly exact law moved together, those inside of functions as well.

Sparse relations are looked for with the numbers inside as they are. Where these are a little off,
$k + \delta$, a term is missed by $\delta\, \partial_k$, and other terms make up for it. Moved
together, by Gauss and Newton's steps, the numbers of the sparse law leave nothing but rounding;
then terms that are nothing are dropped, and numbers that are short are written so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.evaluate import evaluate, jacobian
from alder.expr.nodes import Apply, Const, Expr, Param, parameters, size, walk
from alder.expr.operators import OPERATORS, Floors
from alder.expr.valued import with_some
from alder.proposers.search.fields.description import NODE_BITS, Field, Fields
from alder.records.short import FREE_BITS, bits_of, shorten

_TRIED = 8  # laws, the shortest first
_NEAR = 1e-6  # what a law may leave to be near the truth, relative to each row
_STEPS, _HALVINGS = 8, 4
_TOLD_APART = 1e-14
_ERRORS, _BEST = 20.0, 1e-11  # of a number: standard errors, and never better than this
_SLACK = 2.0  # times what was left: what a simpler law may leave


def polish(fields: Fields, floors: Floors) -> None:
    """Move the numbers of the shortest laws that are nearly exact; keep what is shorter."""
    near = [one for one in fields.found.values() if one.rounding < one.rest <= _NEAR]
    for one in sorted(near, key=lambda one: one.length)[:_TRIED]:
        better = _Polishing(fields, floors, one).run()
        if better.length < one.length:
            fields.keep(better)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Numbers:
    """A tree, values of its parameters, what it leaves, and the standard errors of the values."""

    tree: Expr
    values: Mapping[str, float]
    rest: float
    errors: Mapping[str, float]

    def is_nothing(self, name: str) -> bool:
        """Say whether a number cannot be told from zero."""
        return abs(self.values[name]) <= _ERRORS * self.errors[name]

    def short(self) -> dict[str, float]:
        """Return the numbers that are short, written so."""
        found: dict[str, float] = {}
        for name, value in self.values.items():
            tolerance = max(_ERRORS * self.errors[name] / (abs(value) or 1e-300), _BEST)
            short = shorten(value, tolerance) if value else None
            if short is not None:
                found[name] = short.value
        return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Polishing:
    """The rows, and a law that is nearly exact."""

    fields: Fields
    floors: Floors
    old: Field

    def run(self) -> Field:
        """Return the law with better numbers, and with fewer of them where that is enough."""
        exponents: dict[str, float] = {}
        tree = _freed(self.old.structure, exponents)
        best = self._descended(tree, {**self.old.values, **exponents})
        for name in best.values:
            if name in best.values and best.is_nothing(name):
                best = self._simpler(best, _without(best.tree, name))
        short = best.short()
        best = self._simpler(best, with_some(best.tree, short))
        return self._written(best, exponents)

    def _simpler(self, best: _Numbers, tree: Expr | None) -> _Numbers:
        """Return a simpler law where it leaves about as little, or nothing but rounding."""
        if tree is None or tree == best.tree:
            return best
        trial = self._descended(tree, best.values)
        allowed = max(_SLACK * best.rest, self.old.rounding)
        return trial if trial.rest <= allowed else best

    def _written(self, best: _Numbers, exponents: Mapping[str, float]) -> Field:
        """Write exponents as numbers again."""
        literal = {name: best.values[name] for name in exponents if name in best.values}
        tree = with_some(best.tree, literal)
        rounding = self.old.rounding
        fewer = np.log2(max(best.rest, rounding)) - np.log2(max(self.old.rest, rounding))
        nodes = size(tree) - size(self.old.structure)
        bits = _bits(tree) - _bits(self.old.structure)
        return replace(
            self.old,
            structure=tree,
            values={name: best.values[name] for name in parameters(tree)},
            rest=best.rest,
            length=self.old.length + len(self.fields.y) * float(fewer) + NODE_BITS * nodes + bits,
        )

    def _descended(self, tree: Expr, values: Mapping[str, float]) -> _Numbers:
        """Move all numbers to where least is left."""
        names = parameters(tree)
        best = np.array([values[name] for name in names])
        rest, errors = self._rest(tree, names, best), np.full(len(names), np.inf)
        for _ in range(_STEPS if names else 0):
            moved = self._step(tree, names, best)
            if moved is None:
                break
            step, spread = moved
            errors = rest * spread
            trials = (best + 0.5**halving * step for halving in range(_HALVINGS))
            found = next((t for t in trials if self._rest(tree, names, t) < rest), None)
            if found is None:
                break
            best, rest = found, self._rest(tree, names, found)
        return _Numbers(
            tree,
            dict(zip(names, best.tolist(), strict=True)),
            rest,
            dict(zip(names, errors.tolist(), strict=True)),
        )

    def _rest(self, tree: Expr, names: tuple[str, ...], point: FloatArray) -> float:
        there = dict(zip(names, point.tolist(), strict=True))
        said = evaluate(tree, self.fields.columns, there, self.floors)
        rest = self.fields.rest_of(np.broadcast_to(said, self.fields.y.shape))
        return rest if np.isfinite(rest) else np.inf

    def _step(
        self, tree: Expr, names: tuple[str, ...], point: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return a step of all numbers, and their errors for errors of one in every row."""
        there = dict(zip(names, point.tolist(), strict=True))
        said, slopes = jacobian(tree, self.fields.columns, there, names, self.floors)
        J = slopes / self.fields.scale[:, None]
        if not np.isfinite(J).all():
            return None
        length = np.maximum(np.linalg.norm(J, axis=0), 1e-300)
        inverse = np.asarray(np.linalg.pinv(J / length, rcond=_TOLD_APART), dtype=np.float64)
        step = inverse @ ((self.fields.y - said) / self.fields.scale) / length
        return step, np.sqrt(np.square(inverse).sum(axis=1)) / length


def _bits(tree: Expr) -> float:
    """Return what the numbers of a tree take to write."""
    numbers = [node for node in walk(tree) if isinstance(node, Const | Param)]
    return sum(bits_of(one.value) if isinstance(one, Const) else FREE_BITS for one in numbers)


def _freed(expr: Expr, exponents: dict[str, float]) -> Expr:
    """Put parameters in the place of broken exponents, and say what they were."""
    match expr:
        case Apply(row, (base, Const(exponent))) if (
            row.name == "pow" and not float(exponent).is_integer()
        ):
            name = f"e{len(exponents)}"
            exponents[name] = float(exponent)
            return Apply(OPERATORS["powp"], (_freed(base, exponents), Param(name)))
        case Apply(row, arguments):
            return Apply(row, tuple(_freed(one, exponents) for one in arguments))
        case _:
            return expr


def _without(expr: Expr, name: str) -> Expr | None:
    """Return a sum without the terms a number is a factor of; None where nothing is left."""
    match expr:
        case Param(own):
            return None if own == name else expr
        case Apply(row, (left, right)) if row.name in ("add", "sub"):
            first, second = _without(left, name), _without(right, name)
            if first is None or second is None:
                alone = second if row.name == "add" else _negated(second)
                return alone if first is None else first
            return Apply(row, (first, second))
        case Apply(row, arguments) if row.name in ("mul", "div", "neg"):
            factors = [_without(argument, name) for argument in arguments]
            kept = tuple(factor for factor in factors if factor is not None)
            return Apply(row, kept) if len(kept) == len(factors) else None
        case _:
            return expr


def _negated(expr: Expr | None) -> Expr | None:
    return None if expr is None else Apply(OPERATORS["neg"], (expr,))
