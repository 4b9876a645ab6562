"""Draw planted worlds: kinds take turns, and a draw is kept only if its cause is the cause.

That is: with the planted remedy the true law would be admitted; and where public rows fill a
corner of the domain, a plane explains them as well as the law does and fails outside. No proposer,
selector or diagnosis has a say in it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from alder.arrays import FloatArray
from alder.bench.causes import lacking, means, unsaid
from alder.bench.causes.follow import follow
from alder.bench.causes.recipe import Recipe
from alder.bench.causes.studies import is_sound
from alder.bench.causes.truth import uniform
from alder.errors import BadStudy
from alder.records.outcome import Cause

N_EACH = 30
"""Worlds of each cause."""

Plant: TypeAlias = Callable[[str, tuple[int, ...], np.random.Generator], Recipe]

PLANTS: Mapping[Cause, tuple[tuple[str, ...], Plant]] = MappingProxyType(
    {
        "noise": (lacking.NOISE, lacking.plant_noise),
        "missing-operator": (unsaid.OPERATOR, unsaid.plant_operator),
        "missing-variable": (lacking.VARIABLE, lacking.plant_variable),
        "excitation": (lacking.EXCITATION, lacking.plant_excitation),
        "no-safe-experiment": (means.SAFETY, means.plant_safety),
        "budget": (means.BUDGET, means.plant_budget),
        "no-valid-proposal": (unsaid.PROPOSAL, unsaid.plant_proposal),
    }
)
"""The kinds of worlds of each cause, and how one is planted."""

_MOST_DRAWS = 60
# In the corner a plane may miss the law by this much of the noise; outside it must by so much.
_NEAR, _FAR = 0.5, 4.0
_N_ROWS = 512


def planted(case: str, seed: int) -> tuple[Recipe, int]:
    """Draw the world of a case, such as "noise-07", and count how many draws it took."""
    cause, number = parts_of(case)
    kinds, plant = PLANTS[cause]
    for draw in range(_MOST_DRAWS):
        words = (seed, list(PLANTS).index(cause), number, draw)
        recipe = plant(kinds[number % len(kinds)], words, np.random.default_rng(words))
        if _is_ambiguous(recipe) and is_sound(follow(recipe, recipe.remedy)):
            return recipe, draw + 1
    raise BadStudy(f"No draw of {case} with seed {seed} could be kept; choose another seed.")


def parts_of(case: str) -> tuple[Cause, int]:
    """Return the cause and the number that the name of a case holds."""
    name, _, number = case.rpartition("-")
    for cause in PLANTS:
        if cause == name:
            return cause, int(number)
    raise BadStudy(f"`{case}` is no case of the planted causes; noise-00 is one.")


def _is_ambiguous(recipe: Recipe) -> bool:
    """Say whether rows of the corner leave open what the law is outside; true without a corner."""
    corner = {name: ends for name, ends in recipe.narrow.items() if ends[1] > ends[0]}
    if not corner:
        return True
    truth = recipe.truth
    rng = np.random.default_rng([*recipe.words, _N_ROWS])
    near = uniform(rng, {**truth.domain, **recipe.narrow}, _N_ROWS)
    far = uniform(rng, truth.domain, _N_ROWS)
    noise = recipe.noise * truth.spread
    # What depends on the other variables is the same near and far; it is taken away.
    near_y, far_y = (_of_corner(recipe, columns) for columns in (near, far))
    J = _line(near, tuple(corner))
    line, *_ = np.linalg.lstsq(J, near_y, rcond=None)
    miss_near = float(np.sqrt(np.mean(np.square(near_y - J @ line))))
    miss_far = float(np.sqrt(np.mean(np.square(far_y - _line(far, tuple(corner)) @ line))))
    return miss_near < _NEAR * noise and miss_far > _FAR * noise


def _of_corner(recipe: Recipe, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Return the target with all variables but those of the corner at the middle."""
    truth = recipe.truth
    middle = {
        name: np.full_like(columns[name], (low + high) / 2.0)
        for name, (low, high) in truth.domain.items()
        if name not in recipe.narrow
    }
    return truth.outcome({**columns, **middle})


def _line(columns: Mapping[str, FloatArray], names: tuple[str, ...]) -> FloatArray:
    return np.stack([np.ones(_N_ROWS), *(columns[name] for name in names)], axis=1)
