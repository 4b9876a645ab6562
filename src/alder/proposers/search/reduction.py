"""Laws of fewer variables: what symmetries permit is searched, and written back.

Each symmetry takes one variable away: two become a difference, or a power of one divides the
target and the others. Nothing is believed for it. A reduction stays where a witness of the fewer
columns misses no more than that of all, and what is found in it is fitted to the rows themselves
and competes by its description length.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import assert_never, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, Var
from alder.proposers.search.algebra import shortened
from alder.proposers.search.growth import power
from alder.proposers.search.implicit import ratios
from alder.proposers.search.laws import Fitter, Law
from alder.proposers.search.shapes import op
from alder.proposers.search.symmetry import Shift, Stretch, Symmetry, symmetries
from alder.proposers.search.table import Table
from alder.proposers.search.transforms import fitted, glance
from alder.proposers.search.watch import Watch
from alder.proposers.search.witness import Witness, best_witness, plain_witness, variance
from alder.records.proposal import Bounds, Proposal

# How much more of the target a witness of fewer columns may miss, and how much more a law may
# leave than a witness misses and still explain the rows: both are estimates from few rows.
_AS_GOOD = 1.5
# How much more than noise a law may leave that makes all other views needless.
_AS_NOISE = 1.1
# The largest share of noise that reductions do not wait for the other views with.
_SHARP = 1e-5
# What a witness cannot resolve, as a share of the target's variance.
_FINEST = 1e-7
# Symmetries tried at each step, and laws of each reduction that are written back.
_TRIED = 4
_WRITTEN = 6
# Reductions searched, the smallest first, and up to how many ratios either way up.
_DEEPEST = 3
_EITHER = 2
# How many of these tables are searched for more than ratios.
_GLANCES = 4
# Fewer rows than this tell no slopes.
_ENOUGH = 40


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A table of fewer columns: what each stands for, and what its target was divided by.

    `others` are the same with another variable taken away.

    What it leaves is in units of the first target after multiplying by `gauge` squared.
    """

    table: Table
    unit: Mapping[str, object]
    inside: Mapping[str, Expr]
    factor: Expr | None = None
    gauge: float = 1.0
    others: tuple["Reduced", ...] = ()

    def is_ratio(self, name: str) -> bool:
        """Say whether a column is a ratio that may be turned upside down."""
        expr, column = self.inside[name], self.table.columns[name]
        return (
            isinstance(expr, Apply)
            and expr.operator.name == "div"
            and bool(column.min() > 0.0 or column.max() < 0.0)
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What is searched: a table, the units of its columns, and what the grammar allows."""

    table: Table
    unit: Mapping[str, object]
    allowed: set[str]


def early(ground: Ground, laws: list[Law], fitter: Fitter, watch: Watch) -> list[Law]:
    """Search reductions where there is hardly any noise: what is not exact then is wrong."""
    return beyond(ground, laws, fitter, watch, noise=(-1.0, _SHARP))


def late(ground: Ground, laws: list[Law], fitter: Fitter, watch: Watch) -> list[Law]:
    """Search reductions where there is noise: the views may yet explain all but that."""
    return beyond(ground, laws, fitter, watch, noise=(_SHARP, np.inf))


def is_noise(table: Table, laws: Sequence[Law], polynomials: float) -> bool:
    """Say whether a law leaves no more than the noise that a smooth witness sees.

    Few rows may mislead the witness: what polynomials leave is asked as well. Where there is hardly
    any noise, only what is exact is enough.
    """
    least = min((law.rss for law in laws), default=np.inf) / table.n
    if least > _AS_GOOD * polynomials:
        return False
    if table.segments.summed or table.apart.size or table.n < _ENOUGH:
        return False
    if least <= _SHARP * variance(table):
        return False
    witness = plain_witness(table)
    return witness is not None and least <= _AS_NOISE * witness.noise


def beyond(
    ground: Ground,
    laws: list[Law],
    fitter: Fitter,
    watch: Watch,
    noise: tuple[float, float] = (-1.0, np.inf),
) -> list[Law]:
    """Search reductions of the table, unless a law explains it as well as a smooth witness.

    Nothing is done unless what the witness holds for noise, as a share of the target, is above the
    first of `noise` and not above the second.
    """
    table, allowed = ground.table, ground.allowed
    plainly = not (table.segments.summed or table.apart.size) and table.n >= _ENOUGH
    witness = plain_witness(table) if plainly and not watch.is_over() else None
    least = min((law.rss for law in laws), default=np.inf) / table.n
    if witness is None or least <= _AS_GOOD * witness.noise:
        return []
    if not noise[0] < witness.noise / variance(table) <= noise[1]:
        return []
    start = Reduced(table, ground.unit, {name: Var(name) for name in table.columns})
    chain = reductions(start, allowed, watch)
    found = ratios(table, allowed, fitter)
    for seek, ways in ((_ratios, _ways(chain)), (_glanced, islice(_ways(chain), _GLANCES))):
        for reduced in ways:
            if watch.is_over() or any(fitter.is_exact(law.rss) for law in found):
                return found
            found += _searched(
                reduced, partial(seek, allowed=allowed, watch=watch), fitter, allowed
            )
    return found


def _ratios(reduced: Reduced, fitter: Fitter, allowed: set[str], watch: Watch) -> list[Law]:
    del watch
    return ratios(reduced.table, allowed, fitter)


def _glanced(reduced: Reduced, fitter: Fitter, allowed: set[str], watch: Watch) -> list[Law]:
    return glance(reduced.table, reduced.unit, allowed, fitter, watch)


def _ways(chain: list[Reduced]) -> Iterator[Reduced]:
    """Yield the smallest tables first, their ratios either way up."""
    for reduced in chain[::-1][:_DEEPEST]:
        made = [name for name in reduced.table.columns if reduced.is_ratio(name)]
        for turned in product((False, True), repeat=len(made) if len(made) <= _EITHER else 0):
            yield _turned(reduced, [n for n, turn in zip(made, turned, strict=False) if turn])
        yield from reduced.others


def _turned(reduced: Reduced, names: list[str]) -> Reduced:
    """Turn some ratios upside down."""
    columns = {n: 1.0 / c if n in names else c for n, c in reduced.table.columns.items()}
    inside = {n: _upside_down(e) if n in names else e for n, e in reduced.inside.items()}
    table = replace(reduced.table, columns=columns)
    return replace(reduced, table=table, inside=inside, others=())


def _upside_down(expr: Expr) -> Expr:
    match expr:
        case Apply(operator, (above, below)) if operator.name == "div":
            return op("div", below, above)
        case _:
            return op("div", Const(1.0), expr)


def reductions(start: Reduced, allowed: set[str], watch: Watch) -> list[Reduced]:
    """Take variables away one after another as far as symmetries go."""
    found: list[Reduced] = []
    at, witness = start, best_witness(start.table)
    while witness is not None and not watch.is_over():
        step = _step(at, witness, allowed)
        if step is None:
            break
        at, witness = step
        found.append(at)
    return found


def _step(
    at: Reduced, witness: Witness, allowed: set[str]
) -> tuple[Reduced, Witness | None] | None:
    most = _AS_GOOD * witness.rest(at.table) + _FINEST * variance(at.table)
    for symmetry in symmetries(at.table, witness, at.unit)[:_TRIED]:
        fewer = _applied(symmetry, at, allowed)
        if fewer is None:
            continue
        if not fewer.table.columns:
            return fewer, None
        again = best_witness(fewer.table)
        gauge = fewer.gauge / at.gauge
        if again is not None and again.rest(fewer.table) * gauge**2 <= most:
            return fewer, again
    return None


def _applied(symmetry: Symmetry, at: Reduced, allowed: set[str]) -> Reduced | None:
    match symmetry:
        case Shift():
            return _shifted(symmetry, at, allowed)
        case Stretch():
            return _stretched(symmetry, at, allowed)
        case _:
            assert_never(symmetry)


def _shifted(shift: Shift, at: Reduced, allowed: set[str]) -> Reduced | None:
    name = "sub" if shift.sign < 0 else "add"
    if name not in allowed:
        return None
    first, second = shift.first, shift.second
    values = at.table.columns[first] + shift.sign * at.table.columns[second]
    ends = (first, second)
    if shift.sign < 0 and values.mean() < 0.0:
        values, ends = -values, (second, first)
    columns = {n: c for n, c in at.table.columns.items() if n != second}
    inside = {n: e for n, e in at.inside.items() if n != second}
    inside[first] = op(name, at.inside[ends[0]], at.inside[ends[1]])
    table = replace(at.table, columns={**columns, first: values})
    return replace(at, table=table, inside=inside, others=())


def _stretched(stretch: Stretch, at: Reduced, allowed: set[str]) -> Reduced | None:
    columns = at.table.columns
    least = min(abs(weight) for _, weight in stretch.weights)
    pivots = sorted((name for name, weight in stretch.weights
                     if abs(weight) == least and columns[name].min() > 0.0),
                    key=lambda name: _width(columns[name]))  # fmt: skip
    ways = [_without(pivot, stretch, at, allowed) for pivot in pivots]
    first, *others = [way for way in ways if way is not None] or [None]
    return first and replace(first, others=tuple(way for way in others if way is not None))


def _without(pivot: str, stretch: Stretch, at: Reduced, allowed: set[str]) -> Reduced | None:
    columns, weights = at.table.columns, dict(stretch.weights)
    base = columns[pivot]
    inside, values = dict(at.inside), dict(columns)
    for name, weight in stretch.weights:
        if name == pivot:
            continue
        exponent = -weight / weights[pivot]
        expr = times_power(at.inside[name], at.inside[pivot], exponent, allowed)
        if expr is None:
            return None
        inside[name], values[name] = expr, columns[name] * base**exponent
    del inside[pivot], values[pivot]
    exponent = stretch.power / weights[pivot]
    unit = {name: None if name in weights else u for name, u in at.unit.items() if name in values}
    factor = times_power(at.factor, at.inside[pivot], exponent, allowed)
    if factor is None and exponent:
        return None
    table, gauge = _divided(at.table, base**exponent)
    return Reduced(replace(table, columns=values), unit, inside, factor, at.gauge * gauge)


def _divided(table: Table, by: FloatArray) -> tuple[Table, float]:
    """Divide the target, and weigh its rows as before."""
    root = table.root * by
    gauge = float(np.sqrt(np.mean(np.square(root))))
    return replace(table, target=table.target / by, root=root / gauge), gauge


def _width(column: FloatArray) -> float:
    return float(np.std(np.log(column)))


def times_power(expr: Expr | None, base: Expr, exponent: float, allowed: set[str]) -> Expr | None:
    """Write `expr` times a power of `base`, with what the grammar has."""
    if not exponent:
        return expr
    if expr is not None and exponent < 0.0 and "div" in allowed:
        below = power(base, -exponent, allowed)
        return None if below is None else op("div", expr, below)
    above = power(base, exponent, allowed)
    if above is None or (expr is not None and "mul" not in allowed):
        return None
    return above if expr is None else op("mul", expr, above)


def _searched(
    reduced: Reduced,
    seek: Callable[[Reduced, Fitter], list[Law]],
    fitter: Fitter,
    allowed: set[str],
) -> list[Law]:
    """Search a reduction, and return its laws as laws of the table itself."""
    if not reduced.table.columns:
        return fitted([Proposal(_whole(Param("c1"), reduced))], fitter)
    inner = Fitter(reduced.table, fitter.max_nodes)
    laws = sorted(seek(reduced, inner), key=lambda law: law.length)
    fitter.fits += inner.fits
    return fitted([_written(law, reduced, allowed) for law in laws[:_WRITTEN]], fitter)


def _written(law: Law, reduced: Reduced, allowed: set[str]) -> Proposal:
    bounds = dict(law.proposal.bounds)
    for name, value in law.values.items():
        old = bounds.get(name, Bounds())
        bounds[name] = Bounds(old.lower, old.upper, old.clip(value))
    whole = _whole(_placed(law.structure, reduced.inside), reduced)
    return Proposal(shortened(whole, allowed), bounds)


def _whole(law: Expr, reduced: Reduced) -> Expr:
    return law if reduced.factor is None else op("mul", law, reduced.factor)


def _placed(law: Expr, inside: Mapping[str, Expr]) -> Expr:
    """Write what the columns stand for in their place."""
    match law:
        case Var(name):
            return inside[name]
        case Apply(operator, arguments):
            return Apply(operator, tuple(_placed(a, inside) for a in arguments))
        case Const() | Param():
            return law
        case _:
            assert_never(law)
