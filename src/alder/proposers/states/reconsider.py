"""Rates chosen again along the solution of a fitted system, one after the other.

What is compared there is right to first order only, so the shortest few are fitted by shooting, and
their descriptions decide. What one rate has, another may have too: it is lent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.proposers.states.constraints import allowed
from alder.proposers.states.model import COARSE, Model, Pick, Problem, named
from alder.proposers.states.paths import along_samples, along_solution
from alder.proposers.states.search import costs_of, polish, tie_cost
from alder.proposers.states.sharing import share
from alder.proposers.summands.along import Along, Settled
from alder.proposers.summands.alternatives import Offer, alternatives
from alder.proposers.summands.modulated import Permitted, modulated
from alder.proposers.summands.terms import Library, Term

_ROUNDS = 4
_LEAST_GAIN = 1e-3
_MAY_SHARE = 30.0  # what rates may save by having numbers in common
_MOVED = 0.2  # of the noise: a solution that moved less is the same
_COMMON = 6  # level of the commonest terms
_TRIED = 8  # sums of one rate that are fitted by shooting


def reconsider(model: Model, problem: Problem, library: Library, level: int) -> Model:
    """Return the model, or a shorter one whose terms need have nothing in common with it.

    The commonest terms are compared first, all afterwards: among more, the best are easier missed.
    """
    best = _Best(model, share(model, problem, library).length)
    if model.shot is None or not model.shot.sound:
        return model
    for top in sorted({min(level, _COMMON), level}):
        best = _compared(best, problem, library, library.finer(top))
    return best.model


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    """A model, and how long it is when rates share what they have in common."""

    model: Model
    length: float


def _compared(best: _Best, problem: Problem, library: Library, usable: Library) -> _Best:
    tried = {named(best.model.picks)}
    seen: dict[int, FloatArray] = {}
    for _ in range(_ROUNDS):
        before = best
        for state in range(len(problem.states)):
            if state not in problem.known and _has_moved(best, seen.get(state), problem):
                seen[state] = _path(best)
                best = _of_one(best, problem, library, (state, usable, tried))
        if best is before:
            break
    return best


def _path(best: _Best) -> FloatArray:
    return best.model.shot.solution.states if best.model.shot is not None else np.zeros((0, 0))


def _has_moved(best: _Best, seen: FloatArray | None, problem: Problem) -> bool:
    """Say whether the solution is another than when a rate was last chosen."""
    path = _path(best)
    if seen is None or seen.shape != path.shape:
        return True
    return bool((np.sqrt(np.mean(np.square(path - seen), axis=0)) > _MOVED * problem.sigma).any())


def _of_one(
    best: _Best,
    problem: Problem,
    library: Library,
    asked: tuple[int, Library, set[frozenset[object]]],
) -> _Best:
    """Choose the terms of one rate again."""
    state, usable, tried = asked
    shot = best.model.shot
    assert shot is not None
    along = along_solution(best.model, shot, problem)
    others = tuple(pick for pick in best.model.picks if pick.state != state)
    for found in _sums(along, state, problem, usable, others):
        picks = (*others, *_picks(found, state))
        if named(picks) in tried:
            continue
        tried.add(named(picks))
        fitted = polish(picks, problem, library, shot, best.length + _MAY_SHARE)
        if fitted.length > best.length + _MAY_SHARE:
            continue
        length = share(fitted, problem, library).length
        if length < best.length - _LEAST_GAIN:
            best = _Best(fitted, length)
    return best


def read(problem: Problem, library: Library, level: int) -> tuple[Pick, ...]:
    """Choose the terms of every rate along the smoothed samples, where no model follows them."""
    along, usable = along_samples(problem), library.finer(level)
    picks: tuple[Pick, ...] = ()
    for state in range(len(problem.states)):
        if state not in problem.known:
            found = _sums(along, state, problem, usable, picks)
            picks = (*picks, *(_picks(found[0], state) if found else ()))
    return picks


def _sums(
    along: Along, state: int, problem: Problem, usable: Library, others: Sequence[Pick]
) -> list[Settled]:
    """Return sums of terms for one rate, the shortest first; others lend what they have."""
    offer = Offer(usable.terms, along.blocks(usable.terms), costs_of(problem, usable)[state])
    offer = offer.with_lent(along, _lent(others), tie_cost(len(others))).tamed()
    sigma = float(problem.sigma[state])
    coarse = COARSE * float(problem.samples.states[:, state].std())
    found = [
        *alternatives(along, state, (sigma, coarse), offer),
        *modulated(along, along.sides[:, state], sigma, usable, _permitted(problem, state)),
    ]
    n_rows = problem.samples.states.size
    return sorted(
        found, key=lambda one: one.rest + sum(usable.price(term, n_rows) for term in one.terms)
    )[:_TRIED]


def _permitted(problem: Problem, state: int) -> Permitted:
    def permitted(terms: Sequence[Term]) -> NDArray[np.bool_]:
        return allowed(problem, Library(problem.columns, tuple(terms)))[state]

    return permitted


def _picks(found: Settled, state: int) -> tuple[Pick, ...]:
    pairs = zip(found.terms, found.coefficients.tolist(), strict=True)
    return tuple(Pick(state, term, c) for term, c in pairs)


def _lent(others: Sequence[Pick]) -> tuple[Term, ...]:
    """Return the terms of other rates that have numbers inside, with these numbers."""
    return tuple(dict.fromkeys(pick.term for pick in others if pick.term.values))
