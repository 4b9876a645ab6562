"""The laws that may be true: a fitted law, and where its coefficients may still lie."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from alder.records.dynamics import Dynamics
from alder.records.law import Law
from alder.records.moves import moves

Motive: TypeAlias = Law | Dynamics
"""A law of one target, or of the rates of several states."""

SIGMAS = 2.0


def credible_set(law: Motive, sigmas: float = SIGMAS) -> tuple[Motive, ...]:
    """Return a law and its neighbours: moved by so many standard deviations along each axis.

    The axes are those of the correlation of the coefficients, both ways; exponents that were read
    off the rows move too. In equations of motion one law moves at a time. With `sigmas` zero the
    coefficients count as exact.
    """
    if sigmas <= 0.0:
        return (law,)
    return (law, *_moved(law, sigmas))


def _moved(law: Motive, sigmas: float) -> Iterator[Motive]:
    if isinstance(law, Law):
        for up, down in moves(law, sigmas):
            yield up
            yield down
        return
    for state, one in law.laws.items():
        for moved in _moved(one, sigmas):
            assert isinstance(moved, Law)
            yield replace(law, laws={**law.laws, state: moved})
