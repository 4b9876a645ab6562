"""One case: noisy states of a system, without derivatives, and trajectories held for admission."""

from dataclasses import dataclass
from typing import final

import numpy as np

from alder.arrays import FloatArray
from alder.bench.odes.cases import draw_starts, recorded
from alder.bench.odes.systems import OdeSystem
from alder.fitting.samples import Samples

PUBLIC_ROWS, QUERY_ROWS, N_QUERIES, N_HELD = 100, 20, 10, 4
_MOST_DRAWN = 60


@final
@dataclass(frozen=True, slots=True, eq=False)
class StatesCase:
    """Samples every method sees, samples for admission only, and the noise in them."""

    system: OdeSystem
    public: Samples
    held: Samples
    sigma: FloatArray


def make_case(system: OdeSystem, seed: int, noise: float, *, irregular: bool) -> StatesCase:
    """Draw starts, times and noise of a case.

    Public are the file's own first start with 100 samples of t in [0, 1], and ten starts drawn
    inside the box with 20 samples each. Noise of `noise` times the standard deviation of each state
    along the first trajectory is added to every sample.
    """
    starts_rng, times_rng, noise_rng = (np.random.default_rng([seed, 7, k]) for k in range(3))
    first = _trajectory(system, system.starts[0], _times(PUBLIC_ROWS, times_rng, irregular))
    sigma = noise * first[1].std(axis=0)
    others: list[tuple[FloatArray, FloatArray]] = []
    for start in draw_starts(system, _MOST_DRAWN, starts_rng):
        path = _trajectory(system, start, _times(QUERY_ROWS, times_rng, irregular))
        if len(path[0]) == QUERY_ROWS and len(others) < N_QUERIES + N_HELD:
            others.append(path)
    noisy = [(t, x + sigma * noise_rng.normal(size=x.shape)) for t, x in (first, *others)]
    return StatesCase(
        system, Samples.of(noisy[: 1 + N_QUERIES]), Samples.of(noisy[1 + N_QUERIES :]), sigma
    )


def _times(n: int, rng: np.random.Generator, irregular: bool) -> FloatArray:  # noqa: FBT001
    if not irregular:
        return np.linspace(0.0, 1.0, n)
    return np.concatenate([[0.0], np.sort(rng.uniform(0.0, 1.0, n - 2)), [1.0]])


def _trajectory(
    system: OdeSystem, start: tuple[float, ...] | FloatArray, times: FloatArray
) -> tuple[FloatArray, FloatArray]:
    rows = recorded(system, [tuple(float(x) for x in start)], times)
    return rows["t"], np.column_stack([rows[name] for name in system.truth.states])
