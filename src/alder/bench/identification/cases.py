"""A case: a true law of a family, narrow first rows, and a pool fixed before anything is chosen.

A case is a function of its name and the seed alone. No selector and no fit takes part in drawing
it; nothing is drawn again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.identification.families import DRAWN, FAMILIES, TARGET, VARIABLES, Family
from alder.errors import BadStudy
from alder.expr.evaluate import evaluate
from alder.expr.nodes import parameters
from alder.records.proposal import Proposal

Columns: TypeAlias = dict[str, FloatArray]
Box: TypeAlias = Mapping[str, tuple[float, float]]

N_SEEDS, N_GENERATORS = 50, 5
"""Cases of a family, and generator seeds that are pooled where all cases are asked for."""

NOISE = 0.03
"""Standard deviation of the noise; targets are of size one."""

N_INITIAL = 24
NARROW: Box = {"r": (0.98, 1.02), "v": (-0.3, 0.3), "u": (-0.25, 0.25), "m": (0.95, 1.05)}
"""Where the initial rows lie: all four candidates of every family nearly agree there."""

WIDE: Box = {"r": (0.3, 2.5), "v": (-1.5, 1.5), "u": (-2.0, 2.0), "m": (0.25, 4.0)}
"""Where an experiment may go and be of use."""

FAR: Box = {"r": (0.2, 4.0), "v": (-3.0, 3.0), "u": (-2.0, 2.0), "m": (0.1, 8.0)}
"""Where experiments lie that are far from the rows but move nothing decisive."""

N_NEAR, N_USEFUL, N_IRRELEVANT = 16, 24, 24
"""A pool of 64: like the initial rows, anywhere, and geometrically novel but irrelevant."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A family, which of its laws is true, the first rows, and the pool with hidden outcomes."""

    family: Family
    truth: int
    coefficients: Mapping[str, float]
    initial: Columns
    pool: Columns
    number: int

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """The candidates; only their coefficients are fitted."""
        return self.family.proposals()


NAMES: Mapping[str, tuple[int, str, int]] = {
    f"{generator + 1}-{family}-{number:02}": (generator, family, number)
    for generator in range(N_GENERATORS)
    for family in FAMILIES
    for number in range(N_SEEDS)
}
"""Generator, family and number of every case."""


@lru_cache(maxsize=4)
def make_case(name: str, seed: int) -> Case:
    """Draw a case; generator g of seed s is generator 1 of seed s + g - 1."""
    if name not in NAMES:
        raise BadStudy(f"`{name}` is not a case of identification; 1-contact-00 is one.")
    generator, family_name, number = NAMES[name]
    family = FAMILIES[family_name]
    rng = np.random.default_rng([seed + generator, list(FAMILIES).index(family_name), number])
    truth = int(rng.integers(len(family.laws)))
    structure = family.proposals()[truth].structure
    coefficients = {name: float(rng.uniform(*DRAWN[name])) for name in parameters(structure)}
    initial = _draw(NARROW, N_INITIAL, rng)
    irrelevant: Box = {**FAR, family.decisive: NARROW[family.decisive]}
    parts = [
        _draw(NARROW, N_NEAR, rng),
        _draw(WIDE, N_USEFUL, rng),
        _draw(irrelevant, N_IRRELEVANT, rng),
    ]
    order = rng.permutation(N_NEAR + N_USEFUL + N_IRRELEVANT)
    pool = {n: np.concatenate([part[n] for part in parts])[order] for n in initial}
    for rows in (initial, pool):
        clean = evaluate(structure, rows, coefficients)
        rows[TARGET.name] = clean + NOISE * rng.standard_normal(len(clean))
    return Case(family, truth, coefficients, initial, pool, number)


def _draw(box: Box, n: int, rng: np.random.Generator) -> Columns:
    """Draw points; mass ratios evenly in their logarithm, so that 1/4 and 4 are as frequent."""
    drawn: Columns = {}
    for variable in VARIABLES:
        low, high = box[variable.name]
        if variable.name == "m":
            drawn[variable.name] = np.exp(rng.uniform(np.log(low), np.log(high), n))
        else:
            drawn[variable.name] = rng.uniform(low, high, n)
    return drawn
