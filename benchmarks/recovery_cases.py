"""The cases of the peer comparison: 20 laws of NovelLaw with noise, 30 of Feynman without."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final
from zlib import crc32

import feynman
import numpy as np
from numpy.typing import NDArray

from alder.bench.novellaw.cases import GRAMMAR, join_rows, make_case
from alder.bench.novellaw.domains import MAX_NODES, TARGET
from alder.bench.novellaw.domains import OPERATORS as NOVELLAW_OPERATORS
from alder.bench.novellaw.recipes import PLACES

Array = NDArray[np.float64]
Columns = dict[str, Array]

N_FIT, N_TEST = 500, 2000
"""Rows of a Feynman case; those of NovelLaw are as its own benchmark has them."""

# Every recipe of the evaluation once: those of odd number in form set a, the others in b.
_FIRST = [
    name for name, place in PLACES.items() if place.split != "development" and name.endswith("a")
]
NOVELLAW = tuple(f"novellaw-{'ab'[i % 2]}-{name}" for i, name in enumerate(_FIRST))
FEYNMAN = tuple(f"feynman-{equation.name}" for equation in feynman.EQUATIONS)
CASES = (*NOVELLAW, *FEYNMAN)
"""All cases by name."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Rows to fit, fresh rows without noise in a wider domain, and rows beyond the fitted domain.

    `formula` is the truth where it can be compared as a formula: numbers and all, without noise.
    """

    name: str
    names: tuple[str, ...]
    target: str
    operators: tuple[str, ...]
    max_nodes: int
    fit: Mapping[str, Array]
    wider: Mapping[str, Array]
    shift: Mapping[str, Array]
    formula: str | None

    def inputs(self, rows: Mapping[str, Array]) -> Array:
        """Return the variables as columns (n, variables)."""
        return np.column_stack([rows[name] for name in self.names])


def make(name: str, seed: int) -> Case:
    """Return a case; a function of its name and the seed alone."""
    kind, _, rest = name.partition("-")
    return _feynman(name, rest, seed) if kind == "feynman" else _novellaw(name, rest, seed)


def seed_of(name: str, seed: int) -> int:
    """Return a seed for what a method draws, another one for each case."""
    return crc32(f"{seed}/{name}".encode()) % 2**31


def _novellaw(name: str, rest: str, seed: int) -> Case:
    forms, _, case = rest.partition("-")
    draw = make_case(case, forms, seed).draw
    public = join_rows(draw.rows("fit"), draw.rows("validation"))
    return Case(
        name,
        GRAMMAR.variable_names,
        TARGET.name,
        NOVELLAW_OPERATORS,
        MAX_NODES,
        public,
        draw.rows("functional"),
        draw.rows("shift-score"),
        None,
    )


def _feynman(name: str, rest: str, seed: int) -> Case:
    equation = next(one for one in feynman.EQUATIONS if one.name == rest)
    rng = np.random.default_rng([seed, crc32(name.encode())])
    return Case(
        name,
        tuple(equation.ranges),
        equation.target,
        feynman.OPERATORS,
        MAX_NODES,
        feynman.draw(equation, feynman.published, N_FIT, rng),
        feynman.draw(equation, feynman.wider, N_TEST, rng),
        feynman.draw(equation, feynman.beyond, N_TEST, rng),
        equation.formula,
    )
