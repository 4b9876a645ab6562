r"""Which operator would say what is left over.

The target is fitted by all products of two or three inputs, which sums and products say, plus one
term $k\, w\, g(q u + c)$ for each operator $g$, rate, place, variable $u$ and factor $w$ on a grid.
With $P$ the projection off the products, a term takes away

$$\Delta = \frac{(g^\top P y)^2}{g^\top P g}$$

of the sum of squares. Operators are ranked by their best term; of operators that draw the same
curve only the best is named.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.diagnosis.view import View

Shape: TypeAlias = Callable[[FloatArray, FloatArray, float], Iterator[FloatArray]]

_PLACES = np.linspace(0.05, 0.95, 13)
_RATES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_WAVES = np.linspace(2.0, 24.0, 45)
_MOST_NAMED = 2
# An operator must take away this share of what products leave; otherwise products say it all, and
# nodes are what is missing. By chance the best of all terms takes a tenth.
_WORTH = 0.3


def suggest(view: View, along: Sequence[str]) -> tuple[str, ...]:
    """Return the operators, the best first, that would say what products of inputs do not."""
    left = view.left
    assert left is not None
    allowed = frozenset(view.evidence.grammar.operators)
    absent = {op: shape for op, shape in SHAPES.items() if op not in allowed}
    y = left.columns[view.evidence.grammar.target.name]
    if not absent or float(np.ptp(y)) == 0.0:
        return ()
    basis = _products(left.inputs)
    Q, _ = np.linalg.qr(basis)
    rest = y - Q @ (Q.T @ y)
    gains = _gain(view, along, absent, Q, rest)
    ranked = sorted(gains, key=lambda op: -gains[op])
    if not ranked or gains[ranked[0]] < _WORTH * float(rest @ rest):
        return ()
    named: list[str] = []
    for op in ranked:
        if all(FAMILY[op] != FAMILY[other] for other in named):
            named.append(op)
    return tuple(named[:_MOST_NAMED])


def _gain(
    view: View,
    along: Sequence[str],
    shapes: Mapping[str, Shape],
    Q: FloatArray,
    rest: FloatArray,
) -> dict[str, float]:
    """Return what the best term of each operator takes away of the sum of squares."""
    left = view.left
    assert left is not None
    found: dict[str, float] = {}
    for op, shape in shapes.items():
        columns = [g for name in along for g in _terms(view, name, shape)]
        if not columns:
            continue
        terms = np.stack(columns, axis=1)
        G = terms - Q @ (Q.T @ terms)
        norms = np.einsum("ij,ij->j", G, G)
        sound = norms > 1e-9 * len(rest) * np.maximum(np.square(G).max(axis=0), 1e-300)
        gains = np.where(sound, np.square(G.T @ rest) / np.maximum(norms, 1e-300), 0.0)
        found[op] = float(gains.max(initial=0.0))
    return found


def _terms(view: View, name: str, shape: Shape) -> Iterator[FloatArray]:
    left = view.left
    assert left is not None
    at = view.names.index(name)
    raw = left.columns[name]
    u = left.inputs[:, at]
    factors = [np.ones_like(u)]
    factors += [left.columns[other] for other in view.names if other != name]
    width = max(float(np.ptp(raw)), 1e-300)
    for g in shape(u, raw, width):
        spread = float(np.std(g))
        if np.isfinite(spread) and spread > 0.0:
            yield from (w * g for w in factors)


def _products(inputs: FloatArray) -> FloatArray:
    """Return all products of up to two inputs, and the cubes of each: (n, k)."""
    n_rows, n_inputs = inputs.shape
    centred = 2.0 * inputs - 1.0
    columns = [np.ones(n_rows), *(centred[:, i] for i in range(n_inputs))]
    columns += [
        centred[:, i] * centred[:, j] for i, j in combinations_with_replacement(range(n_inputs), 2)
    ]
    columns += [centred[:, i] ** 3 for i in range(n_inputs)]
    most = max(2, n_rows // 3)
    return np.stack(columns[:most], axis=1)


def _wave(u: FloatArray, raw: FloatArray, width: float) -> Iterator[FloatArray]:
    del raw, width
    for q in _WAVES:
        for phase in np.linspace(0.0, np.pi, 8, endpoint=False):
            yield np.sin(q * u + phase)


def _exponential(u: FloatArray, raw: FloatArray, width: float) -> Iterator[FloatArray]:
    del raw, width
    for q in (*_RATES[:5], 6.0, 11.0):
        yield np.exp(-q * u)
        yield np.exp(-q * (1.0 - u))


def _step(curve: Callable[[FloatArray], FloatArray]) -> Shape:
    def terms(u: FloatArray, raw: FloatArray, width: float) -> Iterator[FloatArray]:
        del raw, width
        for c in _PLACES:
            for q in _RATES[1:]:
                yield curve(q * (u - c))

    return terms


def _kink(u: FloatArray, raw: FloatArray, width: float) -> Iterator[FloatArray]:
    del raw, width
    for c in np.linspace(0.05, 0.95, 37):
        yield np.abs(u - c)


def _root(curve: Callable[[FloatArray], FloatArray]) -> Shape:
    def terms(u: FloatArray, raw: FloatArray, width: float) -> Iterator[FloatArray]:
        del u
        for side in (1.0, -1.0):
            from_zero = side * raw
            if float(from_zero.min()) > 0.0:
                yield curve(from_zero / width)

    return terms


def _quotient(u: FloatArray, raw: FloatArray, width: float) -> Iterator[FloatArray]:
    yield from _root(lambda x: 1.0 / x)(u, raw, width)
    yield from _root(lambda x: 1.0 / np.square(x))(u, raw, width)
    for c in (0.03, 0.1, 0.3, 1.0):
        yield 1.0 / (u + c)
        yield 1.0 / (1.0 - u + c)


SHAPES: Mapping[str, Shape] = {
    "sin": _wave,
    "exp": _exponential,
    "tanh": _step(np.tanh),
    "gate": _step(lambda z: 0.5 * (1.0 + np.tanh(z))),
    "abs": _kink,
    "sqrt": _root(np.sqrt),
    "log": _root(np.log),
    "div": _quotient,
}
"""The curves an operator draws over the unit interval, or over the variable itself."""

FAMILY: Mapping[str, str] = {
    "sin": "wave", "exp": "exponential", "tanh": "step", "gate": "step", "abs": "kink",
    "sqrt": "root", "log": "logarithm", "div": "quotient",
}  # fmt: skip
"""Operators of one family draw curves that rows seldom tell apart."""
