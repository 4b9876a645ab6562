"""A system as sums of chosen terms, and as structure trees that can be fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.expr.nodes import Apply, Const, Expr, Param, parameters
from alder.expr.operators import operator
from alder.fitting.flows import Flow
from alder.fitting.samples import Samples
from alder.fitting.shooting import Shot
from alder.proposers.summands.terms import Library, Term

COARSE = 1e-3
"""Share of a state's spread that is assumed as noise at first, until residuals show less."""


@final
@dataclass(frozen=True, slots=True)
class Pick:
    """One summand of the rate of one state, with its coefficient.

    A summand may share its numbers with that of another rate, the `tied`-th, times `factor`.
    """

    state: int
    term: Term
    coefficient: float
    tied: int | None = None
    factor: float = 1.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is to be explained: samples of named columns, states first, and the noise of each.

    `known` holds rates that are given, by the number of the state. `conserved` are quantities
    that no motion changes; when the signs of the `mirrored` columns turn, the system stays.
    """

    samples: Samples
    columns: tuple[str, ...]
    sigma: FloatArray
    near: FloatArray
    known: Mapping[int, Expr] = field(default_factory=dict[int, Expr])
    discrete: bool = False
    conserved: tuple[Expr, ...] = ()
    mirrored: tuple[str, ...] = ()

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        return self.columns[: self.samples.n_states]

    def with_noise(self, sigma: FloatArray) -> "Problem":
        """Return the problem with other standard deviations."""
        return replace(self, sigma=sigma)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Chosen summands with fitted numbers, and how they were fitted."""

    picks: tuple[Pick, ...]
    shot: Shot | None = None
    length: float = np.inf


def named(picks: Sequence[Pick]) -> frozenset[object]:
    """Return the terms of a model without their numbers; repeated shapes are counted."""
    names = [(pick.state, pick.term.expr) for pick in picks]
    return frozenset((name, names.count(name)) for name in names)


def structures(picks: Sequence[Pick], problem: Problem) -> tuple[list[Expr], dict[str, float]]:
    """Return the rate of every state as a tree, and the values of all parameters."""
    parts: list[list[Expr]] = [[] for _ in problem.states]
    values: dict[str, float] = {}
    for number, pick in enumerate(picks, start=1):
        owner = pick.tied or number
        inside, own = pick.term.named(str(owner))
        name = f"c{owner}"
        if pick.tied is None:
            values |= {name: pick.coefficient, **own}
        is_one = isinstance(inside, Const)
        part = Param(name) if is_one else Apply(operator("mul"), (Param(name), inside))
        parts[pick.state].append(part if pick.factor > 0 else Apply(operator("neg"), (part,)))
    rates = [problem.known[i] if i in problem.known else _sum(each) for i, each in enumerate(parts)]
    return rates, values


def make_flow(picks: Sequence[Pick], problem: Problem) -> tuple[Flow, FloatArray]:
    """Return the system of the chosen summands, and its parameters in their order."""
    rates, values = structures(picks, problem)
    flow = Flow.of(rates, problem.columns, discrete=problem.discrete)
    return flow, np.array([values[name] for name in flow.parameters])


def with_fitted(picks: Sequence[Pick], flow: Flow, fitted: FloatArray) -> tuple[Pick, ...]:
    """Put fitted numbers into the summands."""
    value_of = dict(zip(flow.parameters, fitted.tolist(), strict=True))
    found: list[Pick] = []
    for number, pick in enumerate(picks, start=1):
        owner = pick.tied or number
        inside = parameters(pick.term.expr)
        values = tuple(value_of[f"{name}{owner}"] for name in inside)
        term = replace(pick.term, values=values)
        found.append(replace(pick, term=term, coefficient=pick.factor * value_of[f"c{owner}"]))
    return tuple(found)


def mixture(picks: Sequence[Pick], library: Library, n_states: int) -> tuple[Library, FloatArray]:
    """Return the library with the model's own shapes in it, and the coefficients over it."""
    terms = list(library.terms)
    places: list[int] = []
    for pick in picks:
        if pick.term not in terms:
            terms.append(pick.term)
        places.append(terms.index(pick.term))
    mix = np.zeros((n_states, len(terms)))
    for pick, place in zip(picks, places, strict=True):
        mix[pick.state, place] += pick.coefficient
    return Library(library.columns, tuple(terms)), mix


def _sum(parts: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: Apply(operator("add"), (a, b)), parts) if parts else Const(0.0)
