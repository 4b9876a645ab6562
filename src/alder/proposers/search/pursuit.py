"""From options for each set of variables to whole laws: combine, exchange, add, drop."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, zip_longest
from itertools import product as every
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import size, variables
from alder.proposers.search.gains import frame
from alder.proposers.search.interactions import Structure, coordinate, design, monomials
from alder.proposers.search.laws import CONSTANT, SURE, Fitter, Law
from alder.proposers.search.shelf import Shelf
from alder.proposers.search.terms import Option, Term, options, split
from alder.proposers.search.watch import Watch

Cover: TypeAlias = tuple[tuple[str, ...], ...]
"""A split of a law into parts, each of variables that act together."""

# Sums fitted for the first laws of a cover, laws kept within the node limit and beyond it, and
# how often they are improved.
_COMBINED = 400
_BEAM = 2
_BEYOND = 1
_ROUNDS = 6
_LARGEST_SET = 3
_REFINED = 14
# Covers searched whatever the first of them brought, at most, and below which chance that two
# variables act apart a cover that joins them is one of these.
_SURELY = 3
_DOUBTFUL = 0.01
_MOST_POLYNOMIALS = 40


def pursue(shelf: Shelf, fitter: Fitter, structure: Structure, watch: Watch) -> list[Law]:
    """Search cover after cover until a law does as well as polynomials; the shortest come first.

    A polynomial with many coefficients leaves the noise and what it cannot bend to; a law that
    leaves more has missed something, and so has every law of its cover.
    """
    found: dict[object, Law] = {}
    ordered, n_sure = covers(structure)
    for number, cover in enumerate(ordered):
        done = any(law.rss / shelf.table.n <= structure.noise for law in found.values())
        exact = any(fitter.is_exact(law.rss) for law in found.values())
        if watch.is_over() or exact or (done and number >= n_sure):
            break
        begun = _beam(_first(cover, shelf, fitter), fitter)
        for law in refine(begun, shelf, fitter, structure, watch):
            if law.key not in found or law.length < found[law.key].length:
                found[law.key] = law
    return sorted(found.values(), key=lambda law: law.length)


def _beam(laws: Iterable[Law], fitter: Fitter) -> list[Law]:
    """Keep the best within the node limit, and the best a little beyond it."""
    ordered = sorted(laws, key=lambda law: law.length)
    within = [law for law in ordered if size(law.structure) <= fitter.max_nodes]
    kept = {law.key: law for law in [*within[:_BEAM], *ordered[:_BEYOND]]}
    return sorted(kept.values(), key=lambda law: law.length)


def covers(structure: Structure) -> tuple[list[Cover], int]:
    """Return ways to split the law into parts: interacting sets, then two of them joined.

    Over narrow ranges a share of two masses hardly differs from a sum, so that a test which finds
    nothing says little. Joined sets come first where the test is in doubt, then those whose law
    names its variables the fewest times: r, m1 and m2 in one part instead of r and m1 beside r and
    m2. Also returned is how many are worth a search whatever the first brings: a few, and none
    that names variables more often than the first.
    """
    base = _with_even_parts(structure.cliques(), structure)
    joined = sorted(
        (chance > _DOUBTFUL, _mentions(cover), chance, cover)
        for chance, cover in _joined(structure)
    )
    sure = {
        cover for clear, mentions, _, cover in joined if not clear or mentions <= _mentions(base)
    }
    ordered = list(dict.fromkeys([base, *(cover for *_, cover in joined)]))
    return ordered, min(1 + len(sure - {base}), _SURELY)


def _joined(structure: Structure) -> Iterator[tuple[float, Cover]]:
    """Yield covers with two sets joined, and the chance that no two variables of them interact."""
    base = structure.cliques()
    for i, a in enumerate(base):
        for b in base[i + 1 :]:
            both = tuple(name for name in structure.relevant if name in {*a, *b})
            if len(both) > _LARGEST_SET:
                continue
            apart = [
                structure.pairs.get((x, y), structure.pairs.get((y, x), 1.0))
                for x in a
                for y in b
                if x not in b and y not in a
            ]
            rest = [part for part in base if not set(part) <= set(both)]
            yield min(apart), _with_even_parts((both, *rest), structure)


def _mentions(cover: Cover) -> int:
    """Count how often a cover names variables."""
    return sum(map(len, cover))


def _with_even_parts(cover: Cover, structure: Structure) -> Cover:
    """Give what does not depend on an odd variable a part of its own: no odd term has it."""
    odd = {name for name, parity in structure.parity.items() if parity == "odd"}
    parts = list(cover)
    for part in cover:
        even = tuple(name for name in part if name not in odd)
        plain = [set(other) for other in parts if not odd & set(other)]
        if even and even != part and not any(set(even) <= other for other in plain):
            parts.append(even)
    return tuple(parts)


def nuisance(cover: Cover, part: tuple[str, ...], shelf: Shelf, *, shared: bool) -> FloatArray:
    """Return polynomials for the other parts.

    Monomials of variables that the part has too are left out unless `shared`: the part may as
    well explain them.
    """
    columns: dict[tuple[tuple[str, int], ...], FloatArray] = {}
    for other in cover:
        if other == part:
            continue
        odd = {name for name in part if shelf.parity.get(name) == "odd"} - set(other)
        coordinates = [coordinate(shelf.table.columns[name]) for name in other]
        degree = 4 if len(other) <= 2 else 3
        exponents = [
            m
            for m in monomials(len(other), degree, 3)
            if any(m)
            and (
                shared
                or odd
                or any(k and name not in part for name, k in zip(other, m, strict=True))
            )
            and _keeps_parity(m, other, shelf)
        ]
        made = design(coordinates, exponents).T if exponents else np.empty((0, shelf.table.n_rows))
        for m, column in zip(exponents, made, strict=True):
            columns[tuple((n, k) for n, k in zip(other, m, strict=True) if k)] = column
    simple = sorted(columns, key=lambda one: sum(k for _, k in one))[:_MOST_POLYNOMIALS]
    return np.array([columns[one] for one in simple]).reshape(len(simple), shelf.table.n_rows)


def _keeps_parity(m: tuple[int, ...], names: tuple[str, ...], shelf: Shelf) -> bool:
    for name, k in zip(names, m, strict=True):
        parity = shelf.parity.get(name, "any")
        if k and ((parity == "odd" and k % 2 == 0) or (parity == "even" and k % 2 == 1)):
            return False
    return True


def _first(cover: Cover, shelf: Shelf, fitter: Fitter) -> list[Law]:
    """Find options for each part with the others left flexible, and fit the best together."""
    listed: list[list[Option]] = []
    for part in cover:
        found: list[Option] = []
        for shared in (False, True):
            polynomials = nuisance(cover, part, shelf, shared=shared)
            beside = np.vstack([np.ones((1, shelf.table.n_rows)), polynomials])
            found = _mixed(found, _options(part, shelf, fitter, beside, 20))
        listed.append(found)
    known = [one for one in listed if one]
    return fitter.laws(list(_combined(known)) if known else [[CONSTANT]])


def _combined(listed: list[list[Option]]) -> Iterator[list[Term]]:
    """Yield sums of one option for each part, and of the first options of some parts only.

    Tests err: a part that is not there would take the nodes of those that are.
    """
    most = max(2, int(_COMBINED ** (1 / max(len(listed), 1))))
    for combo in every(*(_varied(one, most) for one in listed)):
        terms = [option.term for option in combo]
        yield terms
        yield [CONSTANT, *terms]
    for count in range(1, len(listed)):
        for some in combinations(listed, count):
            terms = [one[0].term for one in some]
            yield terms
            yield [CONSTANT, *terms]


def _mixed(one: list[Option], other: list[Option]) -> list[Option]:
    """Put two rankings together, turn by turn, equal options once."""
    turns = [option for pair in zip_longest(one, other) for option in pair if option is not None]
    return list({option.term.key: option for option in reversed(turns)}.values())[::-1]


def _varied(found: list[Option], most: int) -> list[Option]:
    """Keep the best, and the best of each number of parameters, up to so many."""
    first: dict[int, Option] = {}
    for option in found:
        first.setdefault(option.term.n_parameters, option)
    small = [first[tier] for tier in sorted(first)][: max(most // 2, 1)]
    rest = [option for option in found if option not in small]
    return [*small, *rest][:most]


def refine(
    laws: Sequence[Law], shelf: Shelf, fitter: Fitter, structure: Structure, watch: Watch
) -> list[Law]:
    """Exchange, add and drop terms until nothing gets shorter."""
    beam = list(laws)
    best: dict[object, Law] = {law.key: law for law in beam}
    tried: set[object] = set()
    for _ in range(_ROUNDS):
        fresh = [law for law in beam if law.key not in tried]
        if not fresh or watch.is_over() or fitter.is_exact(beam[0].rss):
            break
        tried.update(law.key for law in fresh)
        sums = [
            terms for law in fresh for terms in _exchanged(law, shelf, fitter, best=law is beam[0])
        ]
        if fresh[0] is beam[0]:
            sums += _grown(beam[0], shelf, fitter, structure)
        for law in fitter.laws(sums):
            if law.key not in best or law.length < best[law.key].length:
                best[law.key] = law
        beam = _beam(best.values(), fitter)
    within = [law for law in best.values() if size(law.structure) <= fitter.max_nodes]
    short = sorted(within, key=lambda law: law.length)[:_REFINED]
    return fitter.laws([law.terms for law in short], SURE)


def _exchanged(law: Law, shelf: Shelf, fitter: Fitter, *, best: bool) -> Iterator[list[Term]]:
    """Leave each term out, and put others in its place, for the best law of fewer variables too."""
    terms = list(law.terms)
    columns = fitter.columns(terms)
    for i, term in enumerate(terms):
        others = terms[:i] + terms[i + 1 :]
        if others:
            yield others
        names = {name for factor in term.key for name in variables(factor)}
        members = tuple(name for name in shelf.table.columns if name in names)
        beside = np.delete(columns, i, axis=0)
        for fewer in _fewer(members) if best else [members] if members else []:
            most = 10 if fewer == members else 2
            for option in _options(fewer, shelf, fitter, beside, most):
                yield [*others, option.term]
        for parts in split(term):
            yield [*others, *parts]


def _fewer(members: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the variables of a term, then all but one of them."""
    if members:
        yield members
    if len(members) > 1:
        yield from (tuple(n for n in members if n != name) for name in members)


def _grown(law: Law, shelf: Shelf, fitter: Fitter, structure: Structure) -> Iterator[list[Term]]:
    """Add a constant, or a term of any interacting set or single variable."""
    terms = list(law.terms)
    columns = fitter.columns(terms)
    if CONSTANT.key not in law.key:
        yield [*terms, CONSTANT]
    sets = [*structure.cliques(), *((name,) for name in structure.relevant)]
    for members in dict.fromkeys(sets):
        for option in _options(members, shelf, fitter, columns, 3):
            yield [*terms, option.term]


def _options(
    members: tuple[str, ...], shelf: Shelf, fitter: Fitter, beside: FloatArray, most: int
) -> list[Option]:
    """Return the best terms of some variables beside fixed columns, each fitted alone."""
    ranked = options(members, shelf, frame(shelf.table, beside))
    return fitter.polish([option.term for option in ranked], beside, most)
