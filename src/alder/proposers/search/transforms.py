r"""Laws that are no sum: a root of one, the inverse of one, an arcsine, or a product of powers.

Where the target of a function is a sum, the function's inverse of the target is: $y^2$ for a root,
$1/y$ for an inverse, $\sin y$ for an arcsine. A product is a sum of logarithms. The same search
then finds the sum, with weights for what the change of scale does to the noise, and the law is
written back and fitted to the target itself.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, parameters, size
from alder.proposers.search.growth import power
from alder.proposers.search.interactions import Structure, find_structure
from alder.proposers.search.laws import SURE, Fitter, Law
from alder.proposers.search.pursuit import pursue
from alder.proposers.search.shapes import op
from alder.proposers.search.shelf import Shelf
from alder.proposers.search.table import Table
from alder.proposers.search.terms import written
from alder.proposers.search.watch import Watch
from alder.records.proposal import Bounds, Proposal

# Laws of each transform that are written back, transforms that are followed, and by how much a
# polynomial must describe the transformed target better for it to be.
_WRITTEN = 8
_FOLLOWED = 3
# A view that polynomials describe so many times worse comes after all others.
_FAR_WORSE = 10.0
_BLURRED = 1000.0
_BETTER = 0.6
# Covers and rounds of a brief search: an exact law is found in the first of them or not at all.
_TURNS = 3
# Slopes this many times below the largest count as that: else single rows would decide.
_FLATTEST = 1e3
# Pairs counted as interacting: where chance explains them less often than this.
_INTERACTS = 1e-4


@final
@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """An inverse to apply to the target: its values, its slope, and how a law is written back."""

    needs: frozenset[str]
    applies: Callable[[FloatArray], bool]
    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    back: Callable[[Expr, set[str]], Expr | None] | None


def _one_sign(y: FloatArray) -> bool:
    return bool((y > 0.0).all() or (y < 0.0).all())


def _wrapped(name: str) -> Callable[[Expr, set[str]], Expr | None]:
    return lambda law, allowed: op(name, law)


def _powered(exponent: float) -> Callable[[Expr, set[str]], Expr | None]:
    return lambda law, allowed: power(law, exponent, allowed)


PRODUCT = Transform(
    frozenset({"mul"}),
    lambda y: bool(np.abs(y).min() > 1e-15 * np.abs(y).max()),
    lambda y: np.log(np.abs(y)),
    lambda y: 1.0 / np.abs(y),
    None,
)
"""A product of powers and exponentials: the logarithm of the target is a sum."""

TRANSFORMS = (
    PRODUCT,
    Transform(frozenset(), lambda y: bool((y >= 0.0).all()), np.square, lambda y: 2.0 * y,
              _powered(0.5)),
    Transform(frozenset(), _one_sign, lambda y: 1.0 / y, lambda y: 1.0 / np.square(y),
              _powered(-1.0)),
    Transform(frozenset(), lambda y: bool((y > 0.0).all()), lambda y: 1.0 / np.square(y),
              lambda y: 2.0 / y**3, _powered(-0.5)),
    Transform(frozenset({"asin"}), lambda y: bool((np.abs(y) <= np.pi / 2).all()), np.sin, np.cos,
              _wrapped("asin")),
    Transform(frozenset({"acos"}), lambda y: bool(((y >= 0.0) & (y <= np.pi)).all()), np.cos,
              np.sin, _wrapped("acos")),
    Transform(frozenset({"atan"}), lambda y: bool((np.abs(y) < 1.57).all()), np.tan,
              lambda y: 1.0 / np.square(np.cos(y)), _wrapped("atan")),
    Transform(frozenset({"tanh"}), lambda y: bool((np.abs(y) < 1.0).all()), np.arctanh,
              lambda y: 1.0 / (1.0 - np.square(y)), _wrapped("tanh")),
    Transform(frozenset({"log"}), lambda y: bool(np.ptp(y) < 30.0), lambda y: np.exp(y - y.max()),
              lambda y: np.exp(y - y.max()), _wrapped("log")),
)  # fmt: skip


View: TypeAlias = tuple[Transform | None, Table, Structure]
"""A table as it is, or with its target transformed, and what its rows say."""


def views(table: Table, plain: Structure, allowed: set[str]) -> list[View]:
    """Return the table as it is, and under the transforms that make it simpler, simplest first.

    Simpler means that fewer variables interact, or that polynomials describe the target better.
    Where they describe it far worse, interactions are merely not seen: such a view comes last.
    """
    y = table.target
    own = _unexplained(table, plain)
    found: list[tuple[float, Transform | None, Table, Structure]] = [
        (_interacting(plain) + own, None, table, plain)
    ]
    plainly = not (table.segments.summed or table.apart.size)
    for transform in TRANSFORMS if plainly else ():
        if not transform.needs <= allowed or not transform.applies(y):
            continue
        moved = _moved(table, transform)
        if moved is None:
            continue
        structure = find_structure(moved)
        unexplained = _unexplained(moved, structure)
        if _interacting(structure) < _interacting(plain) or unexplained < _BETTER * own:
            blurred = _BLURRED if unexplained > _FAR_WORSE * own else 0.0
            simple = _interacting(structure) + unexplained
            found.append((blurred + simple, transform, moved, structure))
    ordered = sorted(found, key=lambda one: one[0])
    first = ordered[: _FOLLOWED + 1]
    kept = first if any(one[1] is None for one in first) else [*first[:-1], found[0]]
    return [(transform, moved, structure) for _, transform, moved, structure in kept]


def _moved(table: Table, transform: Transform) -> Table | None:
    with np.errstate(all="ignore"):
        target = transform.value(table.target)
        slope = np.abs(transform.slope(table.target))
    if not (np.isfinite(target).all() and np.isfinite(slope).all()) or np.ptp(target) == 0.0:
        return None
    root = table.root / np.maximum(slope, float(slope.max()) / _FLATTEST)
    return replace(table, target=target, root=root / float(np.sqrt(np.mean(np.square(root)))))


def _interacting(structure: Structure) -> int:
    return sum(chance < _INTERACTS for chance in structure.pairs.values())


def _unexplained(table: Table, structure: Structure) -> float:
    z = table.root * (table.target - np.average(table.target, weights=np.square(table.root)))
    total = float(np.mean(np.square(z)))
    return structure.noise / total if total > 0.0 else 0.0


def follow(
    transform: Transform, shelf: Shelf, structure: Structure, fitter: Fitter, watch: Watch
) -> list[Law]:
    """Search the transformed target, and return laws of the target itself, the shortest first.

    `shelf` holds the transformed table, `fitter` the original one.
    """
    allowed = shelf.allowed
    known = allowed | {"log"} if transform is PRODUCT else allowed
    inner = Fitter(shelf.table, fitter.max_nodes)
    moved = Shelf(shelf.table, known, structure.parity, shelf.unit)
    laws = pursue(moved, inner, structure, watch)[:_WRITTEN]
    fitter.fits += inner.fits
    back = [_product(law, allowed) if transform.back is None else _back(law, transform, allowed)
            for law in laws]  # fmt: skip
    return fitted([one for one in back if one is not None], fitter)


def _back(law: Law, transform: Transform, allowed: set[str]) -> Proposal | None:
    assert transform.back is not None
    tree = transform.back(law.structure, allowed)
    if tree is None:
        return None
    bounds = dict(law.proposal.bounds)
    for name, value in law.values.items():
        old = bounds.get(name, Bounds())
        bounds[name] = Bounds(old.lower, old.upper, old.clip(value))
    return Proposal(tree, bounds)


def _product(law: Law, allowed: set[str]) -> Proposal | None:
    """Write exp of a sum of logarithms as a product of powers."""
    whole: Expr = Param("c1")
    bounds: dict[str, Bounds] = {}
    done = 0
    for number, term in enumerate(law.terms):
        names = [f"p{done + k + 1}" for k in range(term.n_parameters)]
        done += len(names)
        expr = written(term, names)
        if expr is None:
            continue
        coefficient = law.values[f"c{number + 1}"]
        part = _power_of(expr, f"e{number}", coefficient, bounds)
        if part is None:
            if "exp" not in allowed:
                return None
            bounds[f"e{number}"] = Bounds(start=coefficient)
            part = op("exp", op("mul", Param(f"e{number}"), expr))
        for name in names:
            old = law.proposal.bounds[name]
            bounds[name] = Bounds(old.lower, old.upper, old.clip(law.values[name]))
        whole = op("mul", whole, part)
    return Proposal(whole, bounds)


def _power_of(expr: Expr, name: str, exponent: float, bounds: dict[str, Bounds]) -> Expr | None:
    """Write exp(c log g) as a power of g; whole exponents at once, since g may be negative."""
    match expr:
        case Apply(operator, (inner,)) if operator.name == "log":
            if isinstance(inner, Apply) and inner.operator.name == "abs":
                whole = float(round(exponent))
                return op("pow", inner.arguments[0], Const(whole)) if whole else None
            bounds[name] = Bounds(-12.0, 12.0, min(max(exponent, -12.0), 12.0))
            return op("powp", inner, Param(name))
        case _:
            return None


def glance(
    table: Table, unit: Mapping[str, object], allowed: set[str], fitter: Fitter, watch: Watch
) -> list[Law]:
    """Search a table as it is and under the transforms that make it simpler, briefly."""
    structure = find_structure(table)
    laws: list[Law] = []
    for view in views(table, structure, allowed):
        laws += look_at(view, unit, allowed, fitter, watch.briefly(_TURNS))
        if watch.is_over() or any(fitter.is_exact(law.rss) for law in laws):
            break
    return laws


def look_at(
    view: View, unit: Mapping[str, object], allowed: set[str], fitter: Fitter, watch: Watch
) -> list[Law]:
    """Search one view of a table."""
    transform, table, structure = view
    shelf = Shelf(table, allowed, structure.parity, unit)
    if transform is None:
        return pursue(shelf, fitter, structure, watch)
    return follow(transform, shelf, structure, fitter, watch)


def fitted(proposals: Sequence[Proposal], fitter: Fitter) -> list[Law]:
    """Fit whole laws within the node limit to the target itself; the shortest come first."""
    small = [one for one in proposals if size(one.structure) <= fitter.max_nodes]
    return sorted(_laws(small, fitter), key=lambda law: law.length)


def _laws(proposals: Sequence[Proposal], fitter: Fitter) -> Iterator[Law]:
    if not proposals:
        return
    fits = fitter.fit(proposals, SURE)
    for k, proposal in enumerate(proposals):
        rss = float(fits.loss[k]) * fitter.table.n
        if np.isfinite(rss):
            tree = proposal.structure
            length = fitter.length(rss, len(parameters(tree)), size(tree))
            yield Law((), proposal, fits.values(k), rss, length)
