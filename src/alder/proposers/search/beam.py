r"""A beam over sums of terms: fit, keep the best by description length, add a term, repeat."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from alder.expr.nodes import Const, Expr, Param, parameters, size
from alder.fitting.many import Fits, fit_many
from alder.proposers.search.terms import apply, factors, with_fresh_parameters
from alder.records.effort import SCREENED, THOROUGH, Effort
from alder.records.evidence import Evidence
from alder.records.grammar import Grammar

Sum: TypeAlias = frozenset[int]
"""A law as the set of its terms, by number: the order of terms does not matter."""


@final
@dataclass(frozen=True, slots=True)
class Width:
    """How much the search looks at; counted in structures, so machines agree."""

    beam: int = 10
    terms: int = 160
    most_terms: int = 4
    kept: int = 16


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A structure and its description length in nats; smaller is better."""

    structure: Expr
    length: float
    loss: float


def search(evidence: Evidence, width: Width) -> tuple[Scored, ...]:
    """Return the best structures found, best first.

    Nested spaces are searched apart, small ones first, and joined by description length: in one
    large space a beam is caught by products that imitate a sum.
    """
    single = list(factors(evidence.grammar))
    spaces = [single]
    if "mul" in evidence.grammar.operators:
        spaces.append([*single, *_products(single, evidence.grammar)])
    found: dict[Expr, Scored] = {}
    for space in spaces:
        found |= {one.structure: one for one in _beam(space, evidence, width)}
    shortlist = sorted(found.values(), key=lambda one: one.length)[: width.kept]
    if not shortlist:
        return ()
    polished = _fit([one.structure for one in shortlist], evidence, THOROUGH)
    return tuple(sorted(_score(polished, evidence), key=lambda one: one.length))


def _beam(space: Sequence[Expr], evidence: Evidence, width: Width) -> list[Scored]:
    grammar = evidence.grammar
    terms = [Const(1.0), *space]
    usable: Sequence[int] = range(len(terms))
    found: dict[Sum, Scored] = {}
    beam: list[Sum] = [frozenset()]
    most = width.most_terms if "add" in grammar.operators else 1
    for n_terms in range(most):
        grown = dict.fromkeys(law | {t} for law in beam for t in usable if t not in law)
        sums = [law for law in grown if law not in found]
        structures = [structure_of(law, terms) for law in sums]
        small = [i for i, law in enumerate(structures) if size(law) <= grammar.max_nodes]
        if not small:
            break
        scored = _score(_fit([structures[i] for i in small], evidence, SCREENED), evidence)
        found |= {sums[i]: one for i, one in zip(small, scored, strict=True)}
        if n_terms == 0:
            usable = _rank(found, terms)[: width.terms]
        best = sorted(found, key=lambda law: found[law].length)[: width.beam]
        if best == beam:
            break
        beam = best
    return sorted(found.values(), key=lambda one: one.length)[: width.kept]


def structure_of(law: Sum, terms: Sequence[Expr]) -> Expr:
    """Write a sum of terms, each with a coefficient of its own."""
    written: Expr | None = None
    for number, index in enumerate(sorted(law, reverse=True)):
        coefficient = Param(f"c{number + 1}")
        term = terms[index]
        part: Expr = coefficient
        if not isinstance(term, Const):
            part = apply("mul", coefficient, with_fresh_parameters(term, written))
        written = part if written is None else apply("add", written, part)
    assert written is not None
    return written


def _products(single: Sequence[Expr], grammar: Grammar) -> list[Expr]:
    """Return products of two factors, each within half of the node limit."""
    most = max(grammar.max_nodes // 2, 5)
    products = [apply("mul", a, b) for i, a in enumerate(single) for b in single[i + 1 :]]
    return [product for product in products if size(product) <= most]


def _fit(laws: Sequence[Expr], evidence: Evidence, effort: Effort) -> Fits:
    return fit_many(
        laws,
        evidence.rows(),
        target=evidence.grammar.target,
        variables=evidence.grammar.variables,
        sigma=evidence.roles.sigma,
        weight=evidence.roles.weight,
        group=evidence.roles.group,
        effort=effort,
        floors=evidence.grammar.floors,
    )


def _score(fits: Fits, evidence: Evidence) -> list[Scored]:
    r"""Return $\tfrac n2 \ln \mathrm{loss} + \tfrac k2 \ln n$ plus a nat for every node."""
    n_rows = len(evidence.rows()[evidence.grammar.target.name])
    scored: list[Scored] = []
    for index, task in enumerate(fits.tasks):
        law, loss = task.request.structure, float(fits.loss[index])
        if not math.isfinite(loss):
            scored.append(Scored(law, math.inf, math.inf))
            continue
        # Below 1e-24 of the variance a residual is rounding, and smaller is not better.
        least = 1e-24 * loss / max(float(fits.nmse[index]), 1e-300)
        length = 0.5 * n_rows * math.log(max(loss, least, 1e-300))
        length += 0.5 * len(parameters(law)) * math.log(n_rows) + size(law)
        scored.append(Scored(law, length, loss))
    return scored


def _rank(found: dict[Sum, Scored], terms: Sequence[Expr]) -> list[int]:
    """Order terms by how well each explains the target alone; plain shapes come first anyway."""
    loss = {next(iter(law)): one.loss for law, one in found.items()}
    known: Iterable[int] = loss
    plain = [index for index in known if size(terms[index]) <= 3]
    rest = [index for index in known if size(terms[index]) > 3]
    return [*plain, *sorted(rest, key=lambda index: loss[index])]
