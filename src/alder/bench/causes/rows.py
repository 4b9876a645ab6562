"""The rows of a planted world: public, pool and protected ones, with noise and what is hidden."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from alder.arrays import FloatArray
from alder.bench.causes.forms import Ends
from alder.bench.causes.recipe import Hidden, Recipe
from alder.bench.causes.truth import uniform

_START = {"public": 0, "validation": 2_000, "pool": 4_000, "admission": 6_000, "shift": 8_000}
"""When the rows of each role were measured, counted in rows."""

ERRORS, TIME, BATCH = "error_bar", "clock", "batch"
N_BATCHES = 8
# A hidden state forgets over so many rows; a delayed input follows over so many.
_MEMORY, _DELAY = 25.0, 3.0
# Variables that are moved together differ by this share of their range, as settings do.
_PLAY = 0.002
# Rows of a guarded pool that are safe, and rows of a validation table.
_N_FEW, _N_VALIDATION = 6, 40


@final
@dataclass(frozen=True, slots=True, eq=False)
class WorldRows:
    """Rows by role; `safe` says which rows of the pool may be run as the world stands."""

    initial: dict[str, FloatArray]
    validation: dict[str, FloatArray] | None
    pool: dict[str, FloatArray]
    safe: NDArray[np.bool_]
    admission: dict[str, FloatArray]
    shift: dict[str, FloatArray] | None


def draw_rows(recipe: Recipe) -> WorldRows:
    """Measure every row of the world as the recipe has it now; another round, other rows."""
    rng = np.random.default_rng([*recipe.words, recipe.round])
    whole, narrow = recipe.truth.domain, {**recipe.truth.domain, **recipe.narrow}
    sizes = recipe.sizes
    public = _tied(recipe, uniform(rng, narrow, sizes.public), rng)
    pool = _pool(recipe, narrow, rng)
    like_public = recipe.tested == "shift"
    near = _tied(recipe, uniform(rng, narrow, sizes.protected), rng)
    admission = near if like_public else uniform(rng, whole, sizes.protected)
    far, validation = uniform(rng, whole, sizes.protected), None
    if recipe.has_validation:
        held_out = _tied(recipe, uniform(rng, narrow, _N_VALIDATION), rng)
        validation = _measure(recipe, held_out, rng, "validation")
    return WorldRows(
        initial=_measure(recipe, public, rng, "public"),
        validation=validation,
        pool=_measure(recipe, pool, rng, "pool"),
        safe=_safe(recipe, pool, narrow),
        admission=_measure(recipe, admission, rng, "admission"),
        shift=_measure(recipe, far, rng, "shift") if like_public else None,
    )


def _pool(
    recipe: Recipe, narrow: Mapping[str, Ends], rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Return the settings of experiments: as public rows, or everywhere; a few near if guarded."""
    n_rows = recipe.sizes.pool
    if not recipe.wide_pool:
        return _tied(recipe, uniform(rng, narrow, n_rows), rng)
    far = uniform(rng, recipe.truth.domain, n_rows)
    if not recipe.guarded:
        return far
    near = uniform(rng, narrow, _N_FEW)
    return {name: np.concatenate([near[name], far[name]]) for name in far}


def _tied(
    recipe: Recipe, columns: dict[str, FloatArray], rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Move tied variables together: the second follows the first through its own range."""
    if not recipe.tied:
        return columns
    leader, follower = recipe.tied
    ends = {**recipe.truth.domain, **recipe.narrow}
    (low, high), (bottom, top) = ends[leader], ends[follower]
    share = (columns[leader] - low) / (high - low)
    share = np.clip(share + _PLAY * rng.normal(size=len(share)), 0.0, 1.0)
    return {**columns, follower: bottom + share * (top - bottom)}


def _measure(
    recipe: Recipe, columns: dict[str, FloatArray], rng: np.random.Generator, role: str
) -> dict[str, FloatArray]:
    """Add the hidden variable, the target with its noise, and what is known about the rows."""
    n_rows = len(next(iter(columns.values())))
    extra: dict[str, FloatArray] = {}
    if recipe.hidden is not None:
        columns = {**columns, recipe.hidden.name: _hidden(recipe, recipe.hidden, columns, rng)}
        if recipe.hidden.manner in ("drift", "lag"):
            extra[TIME] = _START[role] + np.arange(n_rows, dtype=np.float64)
        if recipe.hidden.manner == "batch":
            extra[BATCH] = _START[role] + _batches(n_rows)
    clean = recipe.truth.outcome(columns)
    sigma = np.full(n_rows, recipe.noise * recipe.truth.spread) / np.sqrt(recipe.repeats)
    if recipe.proportional:
        sigma = sigma * np.abs(clean) / np.median(np.abs(clean))
    if recipe.known == "error bars":
        extra[ERRORS] = np.maximum(sigma, 1e-3 * np.median(sigma))
    y = clean + sigma * rng.normal(size=n_rows)
    return {**columns, recipe.truth.target: y, **extra}


def _batches(n_rows: int) -> FloatArray:
    return np.floor(np.arange(n_rows) * N_BATCHES / n_rows)


def _hidden(
    recipe: Recipe, hidden: Hidden, columns: Mapping[str, FloatArray], rng: np.random.Generator
) -> FloatArray:
    """Return the column of the hidden variable over its own range."""
    low, high = recipe.truth.domain[hidden.name]
    n_rows = len(columns[hidden.name])
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    match hidden.manner:
        case "free":
            return rng.uniform(low, high, n_rows)
        case "switch":
            return np.where(rng.random(n_rows) < 0.5, low, high)
        case "batch":
            values = rng.uniform(low, high, N_BATCHES)
            return values[_batches(n_rows).astype(np.intp)]
        case "drift":
            return middle + half * np.clip(_slow(rng.normal(size=n_rows), _MEMORY), -1.0, 1.0)
        case "lag":
            of_low, of_high = recipe.truth.domain[hidden.of]
            moved = 2.0 * (columns[hidden.of] - of_low) / (of_high - of_low) - 1.0
            return middle + half * np.clip(1.2 * _slow(moved, _DELAY), -1.0, 1.0)


def _slow(values: FloatArray, rows: float) -> FloatArray:
    """Follow values slowly: each row keeps a share of the last; the spread stays about one."""
    keep = np.exp(-1.0 / rows)
    state, slow = 0.0, np.empty_like(values)
    gain = np.sqrt(1.0 - keep**2)
    for i, value in enumerate(values):
        state = keep * state + gain * value
        slow[i] = state
    return slow


def _safe(
    recipe: Recipe, pool: Mapping[str, FloatArray], narrow: Mapping[str, Ends]
) -> NDArray[np.bool_]:
    n_rows = len(next(iter(pool.values())))
    if not recipe.guarded:
        return np.ones(n_rows, dtype=np.bool_)
    safe = _inside(pool, narrow)
    if recipe.permitted is not None:
        safe = safe | _inside(pool, recipe.permitted)
    return safe


def _inside(columns: Mapping[str, FloatArray], box: Mapping[str, Ends]) -> NDArray[np.bool_]:
    inside = [
        (columns[name] >= low) & (columns[name] <= high)
        for name, (low, high) in box.items()
        if name in columns
    ]
    return np.logical_and.reduce(inside) if inside else np.zeros(0, dtype=np.bool_)
