"""The law a scientist would write: literal exponents, tidy constants, no redundant parameter."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import final

from alder.checking import check
from alder.expr.evaluate import evaluate
from alder.expr.nodes import Apply, Const, Expr, Param, parameters, size, variables, walk
from alder.proposers.search.doubts import doubts
from alder.proposers.search.growth import power
from alder.proposers.search.laws import NEARBY, Fitter, Law
from alder.proposers.search.shapes import op
from alder.proposers.search.table import Table
from alder.records.grammar import Grammar
from alder.records.proposal import Bounds, Proposal

# What a literal costs in nats by how fine it is: whole numbers, halves, tenths, hundredths.
_GRIDS = ((1.0, 0.5), (2.0, 1.0), (10.0, 2.0), (100.0, 4.0))
# Literals that take the place of a parameter lie this close to it.
_CLOSE = 0.1
_PLAIN = (1.0, 2.0, 0.5, -1.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A structure with coefficients, the price of its literals, and its description length."""

    proposal: Proposal
    values: Mapping[str, float]
    price: float
    rss: float
    length: float

    @property
    def structure(self) -> Expr:
        """The law itself."""
        return self.proposal.structure


def tidy(law: Law, fitter: Fitter, grammar: Grammar) -> Written | None:
    """Write a law within the grammar, with as few parameters as the rows allow.

    A literal has no unit: where one takes the place of a length, the grammar may not permit it.
    """
    allowed = set(grammar.operators)
    current: Written | None = Written(law.proposal, law.values, 0.0, law.rss, law.length)
    current = _shortest(fitter, [(law.structure, 0.0)], current)
    if current is None:
        return None
    for name in _exponents(law.structure):
        at = current.values[name]
        rounded = [(_literal(current.structure, name, _round(at, per), allowed), price)
                   for per, price in _GRIDS]  # fmt: skip
        trials = [(tree, current.price + price) for tree, price in rounded if tree is not None]
        best = _shortest(fitter, trials, current)
        if best is not None and ("powp" not in allowed or best.length <= current.length):
            current = best
    for edits in (_plain_constants, _shared_coefficients):
        better = _shortest(fitter, _permitted(edits(current), grammar), current)
        while better is not None and better.length < current.length:
            current = better
            better = _shortest(fitter, _permitted(edits(current), grammar), current)
    if "powp" not in allowed and _exponents(current.structure):
        return None
    doubted = doubts(current.structure, current.values, fitter.table)
    return replace(current, length=current.length + doubted)


def read_off(law: Expr, values: Mapping[str, float], table: Table) -> tuple[float, ...]:
    """Return the literal exponents that the rows have chosen among all numbers.

    Those of powers whose base is positive on every row: where a base has both signs only whole
    numbers can be exponents, and none lies near another.
    """
    chosen: dict[float, bool] = {}
    for node in walk(law):
        match node:
            case Apply(operator, (base, Const(exponent))) if operator.name == "pow":
                above = bool((evaluate(base, table.columns, values, table.floors) > 0.0).all())
                chosen[exponent] = chosen.get(exponent, True) and above
            case _:
                pass
    return tuple(exponent for exponent, by_rows in chosen.items() if by_rows)


def _permitted(trials: Iterable[tuple[Expr, float]], grammar: Grammar) -> list[tuple[Expr, float]]:
    return [(tree, price) for tree, price in trials if not check(Proposal(tree), grammar)]


def _shortest(
    fitter: Fitter, trials: Sequence[tuple[Expr, float]], begun: Written
) -> Written | None:
    """Fit structures from where the parameters were, and return the shortest."""
    if not trials:
        return None
    proposals = [Proposal(tree, _bounds(tree, begun)) for tree, _ in trials]
    fits = fitter.fit(proposals, NEARBY)
    best: Written | None = None
    for k, (tree, price) in enumerate(trials):
        rss = float(fits.loss[k]) * fitter.table.n
        length = fitter.length(rss, len(parameters(tree)), size(tree)) + price
        if math.isfinite(rss) and (best is None or length < best.length):
            best = Written(proposals[k], fits.values(k), price, rss, length)
    return best


def _bounds(tree: Expr, begun: Written) -> dict[str, Bounds]:
    """Keep the bounds of a law's parameters, and begin where they were."""
    open_ = Bounds()
    kept: dict[str, Bounds] = {}
    for name in parameters(tree):
        old = begun.proposal.bounds.get(name, open_)
        kept[name] = Bounds(old.lower, old.upper, old.clip(begun.values[name]))
    return kept


def _exponents(law: Expr) -> tuple[str, ...]:
    """Name the parameters that are exponents."""
    found = (
        node.arguments[1].name
        for node in walk(law)
        if isinstance(node, Apply)
        and node.operator.name == "powp"
        and isinstance(node.arguments[1], Param)
    )
    return tuple(dict.fromkeys(found))


def _round(value: float, per_unit: float) -> float:
    return round(value * per_unit) / per_unit


def _literal(law: Expr, name: str, exponent: float, allowed: set[str]) -> Expr | None:
    """Write a literal for a parameter that is an exponent."""

    def visit(node: Expr) -> Expr:
        if not isinstance(node, Apply):
            return node
        arguments = tuple(map(visit, node.arguments))
        if node.operator.name == "powp" and node.arguments[1] == Param(name):
            made = power(arguments[0], exponent, allowed) if exponent else Const(1.0)
            return made if made is not None else op("pow", arguments[0], Const(exponent))
        return Apply(node.operator, arguments)

    return visit(law)


def _substituted(law: Expr, name: str, new: Expr) -> Expr:
    match law:
        case Param(found) if found == name:
            return new
        case Apply(operator, arguments):
            return Apply(operator, tuple(_substituted(a, name, new) for a in arguments))
        case _:
            return law


def _plain_constants(law: Written) -> Iterator[tuple[Expr, float]]:
    """Put a literal in the place of a parameter that is nearly a plain number."""
    exponents = _exponents(law.structure)
    for name in parameters(law.structure):
        if name in exponents or name.startswith("c"):
            continue
        for number in _PLAIN:
            if abs(law.values[name] - number) <= _CLOSE * abs(number):
                yield _substituted(law.structure, name, Const(number)), law.price + _GRIDS[0][1]


def _shared_coefficients(law: Written) -> Iterator[tuple[Expr, float]]:
    """Write terms whose coefficients are equal, or opposite, with one of them: c*(1 - exp(p*u)).

    Only where the variables of one term are among those of the other: elsewhere it is chance.
    """
    terms = _terms(law.structure)
    named = [(k, name) for k, term in enumerate(terms) if (name := _coefficient(term)) is not None]
    for (i, first), (j, second) in combinations(named, 2):
        ours, theirs = set(variables(terms[i])), set(variables(terms[j]))
        if not (ours <= theirs or theirs <= ours):
            continue
        a, b = law.values[first], law.values[second]
        for sign, name in ((1.0, "add"), (-1.0, "sub")):
            if abs(a - sign * b) <= _CLOSE * abs(a):
                both = op(name, _without(terms[i]), _without(terms[j]))
                rest = [term for k, term in enumerate(terms) if k not in (i, j)]
                yield _sum([op("mul", Param(first), both), *rest]), law.price + _GRIDS[1][1]


def _terms(law: Expr) -> list[Expr]:
    match law:
        case Apply(operator, (left, right)) if operator.name == "add":
            return [*_terms(left), *_terms(right)]
        case _:
            return [law]


def _coefficient(term: Expr) -> str | None:
    match term:
        case Param(name):
            return name
        case Apply(operator, (Param(name), _)) if operator.name == "mul":
            return name
        case _:
            return None


def _without(term: Expr) -> Expr:
    return term.arguments[1] if isinstance(term, Apply) else Const(1.0)


def _sum(terms: Sequence[Expr]) -> Expr:
    law = terms[0]
    for term in terms[1:]:
        law = op("add", law, term)
    return law
