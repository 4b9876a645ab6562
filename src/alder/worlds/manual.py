"""A world whose experiments a person runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.errors import BadWorld
from alder.ports import World
from alder.records.grammar import Grammar
from alder.records.roles import Roles
from alder.worlds.offers import Cost, Experiments, Offers, Safety, make_offers
from alder.worlds.unrunnable import Unrunnable

_REFUSAL = (
    "A person runs the experiments of a ManualWorld: take them from Study.ask and hand their rows "
    "to Study.tell."
)


@final
@dataclass(frozen=True, eq=False)
class ManualWorld:
    """Experiments for `Study.ask` and `Study.tell`: a list of settings, or a box of ranges.

    `experiments` is a sequence of dicts or a mapping of columns. Without it, `ranges` maps each
    setting to its lower and upper end, and `n` experiments are spread evenly over that box: the
    first points of a Halton sequence, always the same ones. `cost` and `is_safe` are functions of
    the settings, or arrays.

    >>> ManualWorld(ranges={"r": (0.0, 4.0)}, n=3).offers.pool.columns["r"]
    array([2., 1., 3.])
    """

    experiments: Experiments = field(default=None, repr=False)
    ranges: Mapping[str, tuple[float, float]] | None = field(default=None, kw_only=True)
    n: int = field(default=256, kw_only=True)
    cost: Cost = field(default=None, kw_only=True, repr=False)
    is_safe: Safety = field(default=None, kw_only=True, repr=False)
    offers: Offers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the experiments, or spread them over the box."""
        if (self.experiments is None) == (self.ranges is None):
            raise BadWorld("A ManualWorld takes either experiments or ranges; give one of the two.")
        experiments = self.experiments if self.ranges is None else spread(self.ranges, self.n)
        offers = make_offers(experiments, cost=self.cost, safe=self.is_safe)
        object.__setattr__(self, "offers", offers)

    def bind(self, grammar: Grammar, roles: Roles | None = None) -> World:
        """Return the world as a study sees it; it cannot be run."""
        del roles  # a person tells rows with whatever columns the study asks for
        self.offers.require_variables(grammar)
        return Unrunnable(self.offers, _REFUSAL)


def spread(ranges: Mapping[str, tuple[float, float]], n: int) -> dict[str, FloatArray]:
    r"""Spread n points evenly over a box.

    $$x_i = a + (b - a)\,\varphi_p(i), \qquad i = 1, \dots, n$$

    $\varphi_p$ is the radical inverse to base $p$, the k-th prime for the k-th setting. (Halton
    1960.) Evenness suffers beyond some ten settings; give `experiments` there.
    """
    if n < 1:
        raise BadWorld(f"A box needs at least one experiment; n is {n}.")
    columns: dict[str, FloatArray] = {}
    for (name, ends), prime in zip(ranges.items(), _primes(len(ranges)), strict=True):
        low, high = (float(end) for end in ends)
        if not (np.isfinite([low, high]).all() and low < high):
            raise BadWorld(
                f"The range of `{name}` must be two finite numbers, the smaller first; got {ends}."
            )
        columns[name] = low + (high - low) * _radical_inverse(np.arange(1, n + 1), prime)
    return columns


def _radical_inverse(numbers: np.ndarray[tuple[int], np.dtype[np.int_]], base: int) -> FloatArray:
    """Mirror the digits of whole numbers at the point."""
    inverse, weight, rest = np.zeros(len(numbers)), 1.0 / base, numbers
    while rest.any():
        inverse = inverse + weight * (rest % base)
        rest, weight = rest // base, weight / base
    return inverse


def _primes(n: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < n:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found
