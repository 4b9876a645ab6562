"""Scenes of bodies in a plane: each row is a pair, and each target a sum over pairs."""

from collections.abc import Callable

import numpy as np

from alder.arrays import FloatArray

Pull = Callable[[FloatArray, FloatArray], FloatArray]
CLOSEST = 0.5


def newton(r: FloatArray, m: FloatArray) -> FloatArray:
    """An attraction that falls with the square of the distance."""
    return 2.0 * m / r**2


def screened(r: FloatArray, m: FloatArray) -> FloatArray:
    """The same, screened over a length of 1.5."""
    return 2.0 * m / r**2 * np.exp(-r / 1.5)


def scenes(
    pull: Pull, n_scenes: int, n_bodies: int, *, noise: float = 0.0, seed: int = 0
) -> dict[str, FloatArray]:
    """Return pairs with distance r, mass m, the observation `o`, and the sum a."""
    rng = np.random.default_rng([seed, n_bodies])
    tables: list[FloatArray] = []
    while len(tables) < n_scenes * n_bodies:
        places = rng.uniform(-3.0, 3.0, (n_bodies, 2))
        mass = rng.uniform(0.5, 3.0, n_bodies)
        apart = np.hypot(*np.moveaxis(places[:, None] - places[None], 2, 0))
        if apart[np.triu_indices(n_bodies, 1)].min() < CLOSEST:
            continue
        for i in range(n_bodies):
            others = np.arange(n_bodies) != i
            r, m = apart[i, others], mass[others]
            total = float(np.sum(pull(r, m))) + noise * float(rng.normal())
            name = np.full(len(r), float(len(tables)))
            tables.append(np.stack([r, m, name, np.full(len(r), total)]))
    r, m, o, a = np.concatenate(tables, axis=1)
    return {"r": r, "m": m, "o": o, "a": a}
