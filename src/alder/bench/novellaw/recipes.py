"""Recipes and splits: which components meet, frozen before any number is drawn.

Four range-context pairs and four velocity-action pairs are reserved: development never shows them.
A compositional recipe holds exactly one reserved pair, a stress recipe two.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

Split: TypeAlias = Literal["iid", "compositional", "stress", "development"]

RESERVED_CONTEXTS = frozenset(
    {
        ("power", "mass-contrast"),
        ("screened", "radius-fraction"),
        ("gated", "mass-fraction"),
        ("rational", "identity"),
    }
)
"""Range-context pairs that development never shows."""

RESERVED_ACTIONS = frozenset(
    {
        ("linear", "range-modulated"),
        ("range-modulated", "saturating"),
        ("gated", "absent"),
        ("mass-weighted", "additive"),
    }
)
"""Velocity-action pairs that development never shows."""


@final
@dataclass(frozen=True, slots=True)
class Recipe:
    """Names of the four components of a target."""

    range: str
    context: str
    velocity: str
    action: str

    @property
    def n_reserved(self) -> int:
        """How many reserved pairs the recipe holds."""
        return ((self.range, self.context) in RESERVED_CONTEXTS) + (
            (self.velocity, self.action) in RESERVED_ACTIONS
        )

    def __str__(self) -> str:
        """Name the components in order."""
        return f"{self.range}/{self.context}/{self.velocity}/{self.action}"


_DEVELOPMENT = (
    Recipe("power", "identity", "linear", "additive"),
    Recipe("power", "mass-fraction", "range-modulated", "absent"),
    Recipe("screened", "identity", "gated", "additive"),
    Recipe("screened", "mass-contrast", "mass-weighted", "absent"),
    Recipe("gated", "identity", "range-modulated", "range-modulated"),
    Recipe("gated", "mass-contrast", "linear", "saturating"),
    Recipe("rational", "radius-fraction", "linear", "saturating"),
    Recipe("rational", "mass-fraction", "range-modulated", "additive"),
)

RECIPES: dict[Split, tuple[Recipe, ...]] = {
    "iid": tuple(_DEVELOPMENT[i] for i in (1, 2, 5, 7)),
    "compositional": (
        Recipe("power", "mass-contrast", "linear", "absent"),
        Recipe("power", "mass-contrast", "mass-weighted", "absent"),
        Recipe("screened", "radius-fraction", "linear", "additive"),
        Recipe("gated", "mass-fraction", "linear", "additive"),
        Recipe("rational", "identity", "gated", "additive"),
        Recipe("rational", "identity", "range-modulated", "range-modulated"),
        Recipe("power", "identity", "linear", "range-modulated"),
        Recipe("screened", "identity", "linear", "range-modulated"),
        Recipe("power", "identity", "range-modulated", "saturating"),
        Recipe("rational", "mass-fraction", "gated", "absent"),
        Recipe("gated", "identity", "gated", "absent"),
        Recipe("gated", "radius-fraction", "mass-weighted", "additive"),
    ),
    "stress": (
        Recipe("power", "mass-contrast", "linear", "range-modulated"),
        Recipe("screened", "radius-fraction", "mass-weighted", "additive"),
        Recipe("gated", "mass-fraction", "gated", "absent"),
        Recipe("rational", "identity", "range-modulated", "saturating"),
    ),
    "development": _DEVELOPMENT,
}
"""The recipes of each split, evaluation first. Each fits into 31 nodes in every form set."""

INSTANCES: dict[Split, int] = {"iid": 3, "compositional": 3, "stress": 3, "development": 2}
"""How many cases are drawn of each recipe."""


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where a case stands: its split, recipe and instance, and a number that seeds it."""

    name: str
    split: Split
    recipe: Recipe
    number: int


def _places() -> Iterator[Place]:
    number = 0
    for split, recipes in RECIPES.items():
        for i, recipe in enumerate(recipes, start=1):
            for instance in range(INSTANCES[split]):
                yield Place(f"{split}-{i:02}{'abc'[instance]}", split, recipe, number)
                number += 1


PLACES: dict[str, Place] = {place.name: place for place in _places()}
"""All 76 cases by name: 60 of the evaluation, then 16 of development."""
