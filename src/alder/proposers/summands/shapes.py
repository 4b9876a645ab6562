"""Which terms there are, in levels: the simplest first.

What a term costs in a description grows with the number of terms as simple as it, so a larger
library never hides a law that a smaller one can say. Numbers inside begin on a grid that spans the
column, whatever its unit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.expr.operators import operator
from alder.proposers.summands.terms import Library, Term

_MOST_MONOMIALS = 56  # of one degree: beyond it the degree is left out
_HIGHEST = 5
_SCALED, _SWITCHING, _RARE = 5, 6, 7  # levels of shapes with numbers inside
SUMMED = 8
"""The level of functions of a sum of two columns, of which there are too many to compare all."""
_N_SCALES = 14  # inside a shape, from a column's smallest numbers to beyond its largest
_SMALLEST, _BEYOND = 0.02, 4.0  # times the largest numbers
_FEW = slice(2, None, 3)  # of the scales, where a comparison costs more
_STEEPER, _STEEPEST_HILLS = (3, 4, 5), (6, 8, 10)  # powers of a saturation that waits
_MIDDLES = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles at which a switch may be half way
_WIDTHS = (0.1, 0.3, 1.0, 3.0)  # of a switch, in standard deviations
_TURNS = (0.15, 5.0)  # of a wave over the span of a column: fewer are a polynomial, more are noise
_EXPONENTS = (-2.5, -1.5, -0.5, 0.3, 0.5, 0.7, 1.3, 1.5, 1.7, 2.5, 3.5)
_STEEPNESSES = (0.7, 1.5, 3.0, 6.0)  # of a function of a sum, over the spread of the columns
_DIRECTIONS = tuple(np.pi * turn for turn in (0.1, 0.25, 0.4, 0.6, 0.75, 0.9))
_MOST_TURNING = 4  # columns beyond which there would be too many of these
_MOST = 1e12  # of a term on the rows
_STEEPEST = 10.0  # of an exponential over the span of a column

_Rows: TypeAlias = Mapping[str, FloatArray]


def make_library(columns: Sequence[str], operators: Sequence[str], rows: _Rows) -> Library:
    """Return all terms that the operators allow, over states and inputs.

    `rows` are the smoothed columns: a term that is not finite on them is left out.
    """
    allowed = set(operators)
    terms = [
        *_polynomials(columns, range(3), 0),
        *_polynomials(columns, range(3, 4), 1),
        *_bounded(columns, allowed, 2),
        *_polynomials(columns, range(4, _HIGHEST + 1), 3),
        *_steep(columns, allowed, rows, 3),
        *_products(columns, allowed, 4),
    ]
    scaled = list(_saturating(columns, allowed, rows))
    between = [
        *(term for few, term in scaled if not few),
        *_switching(columns, allowed, rows),
        *_curved(columns, allowed, rows),
        *_mixed(columns, allowed, rows),
        *_turning(columns, allowed),
        *_summed(columns, allowed, rows),
    ]
    every = [*terms, *(term for few, term in scaled if few)]
    there = (_usable(columns, found, rows) for found in (every, between))
    return Library(tuple(columns), *there)


def _usable(columns: Sequence[str], terms: Iterable[Term], rows: _Rows) -> tuple[Term, ...]:
    """Return the terms that are finite on the rows, without those that say the same there."""
    every = tuple(dict.fromkeys(terms))
    values = Library(tuple(columns), every).values(np.column_stack([rows[n] for n in columns]))
    found: dict[object, Term] = {}
    for place, term in enumerate(every):
        column = values[:, place]
        if (np.abs(column) < _MOST).all():
            found.setdefault(term if term.values else _shape_of(column), term)
    return tuple(found.values())


def _shape_of(values: FloatArray) -> bytes:
    """Return what proportional columns have in common."""
    largest = values[int(np.argmax(np.abs(values)))] or 1.0
    return (np.round(values / largest, 9) + 0.0).tobytes()


def _polynomials(columns: Sequence[str], degrees: range, level: int) -> Iterator[Term]:
    for degree in degrees:
        found = list(combinations_with_replacement(columns, degree))
        if len(found) <= _MOST_MONOMIALS and (degree <= 3 or len(columns) <= 3):
            yield from (Term(_monomial(one), level) for one in found)


def _bounded(columns: Sequence[str], allowed: set[str], level: int) -> Iterator[Term]:
    """Yield sines, cosines, x|x| and signs."""
    for name in columns:
        for function in ("sin", "cos"):
            if function in allowed:
                yield Term(_of(function, Var(name)), level)
        if "abs" in allowed:
            yield Term(_times(Var(name), _of("abs", Var(name))), level)


def _steep(columns: Sequence[str], allowed: set[str], rows: _Rows, level: int) -> Iterator[Term]:
    """Yield exponentials of either sign, logarithms, and powers that are not whole or negative."""
    for name in columns:
        x, column = Var(name), rows[name]
        if "exp" in allowed:
            yield Term(_of("exp", x), level)
            yield Term(_of("exp", _of("neg", x)), level)
        if (column > 0.0).all():
            if "log" in allowed:
                yield Term(_of("log", x), level)
                yield Term(_times(x, _of("log", x)), level)
            if "div" in allowed:
                yield Term(_over(Const(1.0), x), level)
                yield from (
                    Term(_over(Const(1.0), _of("pow", x, Const(n))), level) for n in (2.0, 3.0)
                )
            if "sqrt" in allowed:
                yield Term(_of("sqrt", x), level)
                yield Term(_times(x, _of("sqrt", x)), level)


def _products(columns: Sequence[str], allowed: set[str], level: int) -> Iterator[Term]:
    """Yield products of two trigonometric functions, or of one and a column; and of differences."""
    waves = [_of(f, Var(n)) for f in ("sin", "cos") if f in allowed for n in columns]
    yield from (Term(_times(a, b), level) for a, b in combinations_with_replacement(waves, 2))
    for name in columns:
        yield from (Term(_times(Var(name), wave), level) for wave in waves)
    for a, b in combinations(columns, 2):
        for function in ("sin", "cos"):
            if function in allowed:
                yield Term(_of(function, _of("sub", Var(a), Var(b))), level)
    if "div" in allowed:
        for name in columns:
            x = Var(name)
            yield from (Term(_over(w, x), level) for w in waves if x not in w.arguments)
            yield from (Term(_over(Var(n), x), level) for n in columns if n != name)


def _saturating(
    columns: Sequence[str], allowed: set[str], rows: _Rows
) -> Iterator[tuple[bool, Term]]:
    """Yield Hill's saturations and decays, alone and times a column; say which are the few."""
    k = Param("k")
    for name in columns:
        x, scales = Var(name), _scales(rows[name])
        shapes: list[tuple[Expr, float]] = []
        # A decay or a saturation of a quantity that changes its sign would be a spike somewhere.
        if "div" in allowed:
            if _is_positive(rows[name]):
                shapes.append((_over(x, _plus(k, x)), 1.0))
            shapes.append((_over(Const(1.0), _plus(k, _square(x))), 2.0))
        if "exp" in allowed and _is_positive(rows[name]):
            shapes.append((_of("exp", _of("neg", _times(k, x))), -1.0))
        few = set(scales[_FEW])
        for shape, power in shapes:
            for scale in scales:
                for one in (shape, *(_times(Var(factor), shape) for factor in columns)):
                    yield scale in few, Term(one, _SCALED, (scale**power,))


def _switching(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield what rises from one plateau to another, and what a quantity inhibits itself by."""
    for name in columns:
        if "div" in allowed:
            others = [Var(other) for other in columns if other != name]
            yield from _hills(Var(name), rows[name], others)
        if {"div", "exp"} <= allowed:
            yield from _steps(Var(name), rows[name], columns)


def _hills(x: Var, column: FloatArray, others: Sequence[Var]) -> Iterator[Term]:
    k, scales = Param("k"), _scales(column)
    inhibited = _over(x, _plus(k, _square(x)))
    for y in others:
        yield from (Term(_times(y, inhibited), _SWITCHING, (s**2,)) for s in scales)
    for power in (*_STEEPER, *_STEEPEST_HILLS) if (column > 0.0).all() else ():
        hill = _over(Const(1.0), _plus(k, _of("pow", x, Const(float(power)))))
        level = _SWITCHING if power in _STEEPER else _RARE
        yield from (Term(hill, level, (s**power,)) for s in scales)


def _steps(x: Var, column: FloatArray, columns: Sequence[str]) -> Iterator[Term]:
    logistic = _over(Const(1.0), _plus(Param("k"), _of("exp", _times(Param("w"), x))))
    for middle, share in product(np.quantile(column, _MIDDLES).tolist(), _WIDTHS):
        numbers = _step(middle, share * float(np.std(column)))
        yield Term(logistic, _SWITCHING, numbers)
        for factor in columns:
            yield Term(_times(Var(factor), logistic), _RARE, numbers)


def _step(middle: float, width: float) -> tuple[float, float]:
    """Return the numbers of 1/(k + exp(w*x)), half way in the middle."""
    width = width or 1.0
    return float(np.exp(np.clip(middle / width, -30.0, 30.0))), 1.0 / width


def _curved(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield waves of any length, exponentials and steps of any width, and broken powers."""
    for name in columns:
        x, column = Var(name), rows[name]
        factors = (None, *(Var(factor) for factor in columns))
        for shape, scales in _curves(x, column, allowed):
            for factor, scale in product(factors, scales):
                if factor is None or not _is_wave(shape):
                    yield Term(_maybe(factor, shape), _RARE, (scale,))


def _curves(x: Var, column: FloatArray, allowed: set[str]) -> Iterator[tuple[Apply, list[float]]]:
    k, span = Param("k"), float(np.ptp(column)) or 1.0
    for function in sorted({"sin", "cos"} & allowed):
        turns = 2.0 * np.pi * np.geomspace(*_TURNS, _N_SCALES) / span
        yield _of(function, _times(k, x)), turns.tolist()
    if "exp" in allowed:
        rates = np.geomspace(1.0 / (_BEYOND * span), _STEEPEST / span, _N_SCALES).tolist()
        yield _of("exp", _times(k, x)), rates
        if not _is_positive(column):
            yield _of("exp", _of("neg", _times(k, x))), rates
        yield _of("exp", _of("neg", _times(k, _square(x)))), [1.0 / s**2 for s in _scales(column)]
    if "tanh" in allowed and not _is_positive(column):
        yield _of("tanh", _times(k, x)), [1.0 / scale for scale in _scales(column)]
    if "powp" in allowed and (column > 0.0).all():
        yield _of("powp", x, k), list(_EXPONENTS)


def _is_wave(shape: Apply) -> bool:
    return shape.operator.name in ("sin", "cos")


def _mixed(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield what saturates in two quantities at once, or in one and then sinks."""
    if "div" not in allowed:
        return
    k, w = Param("k"), Param("w")
    positive = [name for name in columns if _is_positive(rows[name])]
    for name in positive:
        x, few = Var(name), _scales(rows[name])[_FEW]
        sinking = _over(x, _plus(_plus(k, x), _over(_square(x), w)))
        for factor in (None, *(Var(other) for other in columns if other != name)):
            yield from (Term(_maybe(factor, sinking), _RARE, (a, b)) for a in few for b in few)
    for one, other in permutations(positive, 2):
        x, y = Var(one), Var(other)
        ratios = [s / _largest(rows[other]) for s in _scales(rows[one])]
        shared = _over(_times(x, y), _plus(x, _times(k, y)))
        yield from (Term(shared, _RARE, (ratio,)) for ratio in ratios)
        crowded = _over(_times(x, y), _plus(_plus(k, x), _times(w, y)))
        few = _scales(rows[one])[_FEW]
        yield from (Term(crowded, _RARE, (a, b)) for a in few for b in ratios[_FEW])


def _turning(columns: Sequence[str], allowed: set[str]) -> Iterator[Term]:
    """Yield what turns: squares times waves, three waves, and sines over cosines."""
    if len(columns) > _MOST_TURNING:
        return
    waves = {f: [_of(f, Var(n)) for n in columns] for f in ("sin", "cos") if f in allowed}
    every = [wave for each in waves.values() for wave in each]
    for pair in combinations_with_replacement(columns, 2):
        yield from (Term(_times(_monomial(pair), wave), _RARE) for wave in every)
    for a, b, c in combinations_with_replacement(every, 3):
        yield Term(_times(_times(a, b), c), _RARE)
    if len(waves) == 2 and "div" in allowed:
        for sine, cosine in zip(waves["sin"], waves["cos"], strict=True):
            for slope in (_over(sine, cosine), _over(cosine, sine)):
                yield Term(slope, _RARE)
                yield from (Term(_times(Var(name), slope), _RARE) for name in columns)
                others = [wave for wave in every if wave.arguments != sine.arguments]
                yield from (Term(_times(wave, slope), _RARE) for wave in others)


def _summed(columns: Sequence[str], allowed: set[str], rows: _Rows) -> Iterator[Term]:
    """Yield functions of a sum of two columns, in several directions and at several scales."""
    k, w, v = Param("k"), Param("w"), Param("v")
    for one, other in combinations(columns, 2):
        x, y = rows[one], rows[other]
        unit, its = float(np.std(x)) or 1.0, float(np.std(y)) or 1.0
        inside = _plus(_times(w, Var(one)), _times(v, Var(other)))
        functions = [f for f in ("exp", "tanh", "sin", "cos") if f in allowed]
        for steep, turn, sign in product(_STEEPNESSES, _DIRECTIONS, (1.0, -1.0)):
            a, b = steep * np.cos(turn) / unit, steep * np.sin(turn) / its
            if "exp" in functions and sign < 0.0:
                yield Term(_of("exp", inside), SUMMED, (-a, -b))
                continue
            yield from (Term(_of(f, inside), SUMMED, (a, b)) for f in functions)
            if {"div", "exp"} <= allowed:
                step = _over(Const(1.0), _plus(k, _of("exp", inside)))
                for middle in np.quantile(a * x + b * y, (0.2, 0.5, 0.8)).tolist():
                    yield Term(step, SUMMED, (float(np.exp(np.clip(middle, -30.0, 30.0))), a, b))


def _scales(column: FloatArray) -> list[float]:
    """Return sizes from a column's small numbers to beyond its large ones."""
    largest = _largest(column)
    return np.geomspace(_SMALLEST * largest, _BEYOND * largest, _N_SCALES).tolist()


def _largest(column: FloatArray) -> float:
    return float(np.quantile(np.abs(column), 0.95)) or 1.0


def _is_positive(column: FloatArray) -> bool:
    return bool((column > -1e-9 * _largest(column)).all())


def _monomial(names: Sequence[str]) -> Expr:
    found: Expr = Const(1.0)
    for name in dict.fromkeys(names):
        count = names.count(name)
        factor: Expr = Var(name) if count == 1 else _of("pow", Var(name), Const(float(count)))
        found = factor if isinstance(found, Const) else _times(found, factor)
    return found


def _of(name: str, *arguments: Expr) -> Apply:
    return Apply(operator(name), arguments)


def _times(left: Expr, right: Expr) -> Expr:
    return _of("mul", left, right)


def _maybe(factor: Expr | None, shape: Expr) -> Expr:
    return shape if factor is None else _times(factor, shape)


def _square(x: Expr) -> Expr:
    return _of("pow", x, Const(2.0))


def _plus(left: Expr, right: Expr) -> Expr:
    return _of("add", left, right)


def _over(left: Expr, right: Expr) -> Expr:
    return _of("div", left, right)
